import { errorOf } from '../failure.ts'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createAgent, type ModelChoice, resolveModel, type TurnResult } from '../../../agents/turns/index.ts'
import {
  CODES,
  errorMessage,
  isJsonObject,
  type JsonObject,
  type LedgerEntry,
  makeDirectory,
  newId,
  type Skill,
  toSafeLine,
} from '../../../kernel/index.ts'
import { type Local, packageRoot } from '../../../local/index.ts'
import { type Answer, type Invocation, stringFlag } from '../command.ts'
import { findModel } from '../model/choose-model.ts'
import { diagnosticsOf, openFor, warnUnconfined } from '../open.ts'
import { createTurnDisplay, formatTrace } from '../show/turn.ts'
import { formatTable, wrap } from '../show/columns.ts'
import { reasonsText } from '../show/skills.ts'
import type { Terminal } from '../terminal.ts'
import { type ModelRequest, type ModelServer, type Reply, startModelServer } from '../../../testing/index.ts'

/** `nexus demo`: a real agent turn in a fresh workspace, from a folder of skills to a file on disk. */
export async function runDemo(invocation: Invocation): Promise<Answer> {
  const { terminal } = invocation
  const workspace = makeWorkspace(stringFlag(invocation, 'keep'))
  await using local = await openFor(invocation, { cwd: workspace, trusted: true })
  await using cleanup = new AsyncDisposableStack()
  warnUnconfined(local, invocation)
  terminal.line(`${terminal.paint('bold', 'Nexus')}  discover → gate → catalog → load → authorize → execute → record\n`)
  terminal.line(`Workspace  ${workspace}  (fresh, with data/sales.csv)`)
  terminal.line(`Target     ${local.runtime.facts.target}\n`)
  showSkills(local, invocation)
  const model = await demoModel(local, invocation, cleanup)
  terminal.line(`${terminal.paint('bold', 'Task')}  ${RECORDED_TASK}\n`)
  const result = await takeTurn(local, model, invocation)
  const entries = await local.store.ledger.list({ turnId: result.turnId })
  const exit = report(result, entries, workspace, terminal)
  const { sessionId: session, turnId: turn, end, text, usage } = result
  const answer = { target: local.runtime.facts.target, task: RECORDED_TASK, session, turn, end, text, usage }
  return {
    data: { ...answer, ledger: entries, workspace, model: model.describe, artifacts: artifactsIn(workspace) },
    diagnostics: diagnosticsOf(local),
    exit,
  }
}

function artifactsIn(workspace: string): { file: string; bytes: number }[] {
  return ['report/summary.md', 'report/chart.svg']
    .map((path) => join(workspace, path))
    .filter((path) => existsSync(path))
    .map((file) => ({ file, bytes: statSync(file).size }))
}

/** An empty directory with the input file: the one named by `--keep`, else a new one below the temporary directory. */
function makeWorkspace(keep: string | undefined): string {
  try {
    const directory = keep === undefined ? mkdtempSync(resolve(tmpdir(), 'nexus-demo-')) : resolve(keep)
    makeDirectory(directory, { mkdirSync, statSync })
    if (readdirSync(directory).length > 0) throw new Error(`${directory} is not empty`)
    mkdirSync(join(directory, 'data'))
    mkdirSync(join(directory, '.nexus'))
    const input = join(packageRoot(), 'skills', 'csv-report', 'assets', 'sales.csv')
    copyFileSync(input, join(directory, 'data', 'sales.csv'))
    return realpathSync(directory)
  } catch (cause) {
    const message = `The demo did not start: ${toSafeLine(errorMessage(cause))}.`
    throw errorOf('INVALID_ARGUMENT', message, 'Name an empty or a new directory with --keep.', cause)
  }
}

/** Longer lines are hard to read, wherever they go. */
const WIDEST = 110

function showSkills(local: Local, { terminal }: Invocation): void {
  const agent = local.runtime.openAgent()
  const catalog = agent.catalog()
  const index = agent.index()
  terminal.line(terminal.paint('bold', 'Skills'))
  const row = (state: string, { name }: Skill, text: string) => [`  ${state}`, toSafeLine(name), toSafeLine(text)]
  const [ready, held] = [terminal.paint('green', '✓ ready'), terminal.paint('yellow', '◌ held')]
  const rows = [
    ...catalog.skills.map((skill) => row(ready, skill, skill.description)),
    ...catalog.held.map(({ skill, reasons }) => row(held, skill, reasonsText(reasons))),
  ]
  terminal.line(`${formatTable(rows, { columns: Math.min(terminal.columns, WIDEST) })}\n`)
  terminal.line(
    `${terminal.paint('bold', 'In the prompt of the model')}  ${index.characters} characters, about ${index.tokens} tokens`,
  )
  const prompt = index.text.split('\n').flatMap((line) => wrap(line, terminal.columns - 4))
  terminal.line(prompt.map((line) => terminal.paint('dim', '  │ ') + line).join('\n'))
  terminal.line()
}

/** The user's own model when one is named and usable, else the recorded one, announced as such. */
async function demoModel(local: Local, invocation: Invocation, cleanup: AsyncDisposableStack): Promise<ModelChoice> {
  const { terminal } = invocation
  const own = stringFlag(invocation, 'model') === 'recorded' ? undefined : await findModel(local, invocation)
  if (own) {
    terminal.line(`${terminal.paint('bold', 'Model')}  ${own.describe}\n`)
    return own
  }
  const server = await startRecordedModel()
  cleanup.defer(() => server.close())
  const recorded = await resolveModel({ spec: 'openai-compatible/recorded', baseUrl: server.url, environment: {} })
  if (!recorded) throw errorOf('INTERNAL', 'The recorded model could not be started.')
  terminal.line(
    `${terminal.paint('bold', 'Model')}  ${terminal.paint('yellow', 'recorded')}: no model is configured, so a recording answers, over real HTTP from ${server.url}.`,
  )
  terminal.line('       Everything else is real: skills, decisions, sandbox, files, ledger.\n')
  return recorded
}

function takeTurn(local: Local, model: ModelChoice, invocation: Invocation): Promise<TurnResult> {
  const { terminal } = invocation
  const agent = createAgent({
    agent: local.runtime.openAgent({ id: 'main', sessionId: newId() }),
    model,
    store: local.store,
    limits: { maxIterations: local.config.limits.maxIterations },
  })
  const onEvent = createTurnDisplay(terminal, { say: terminal.write, note: (text) => terminal.line(text) })
  return agent.send(RECORDED_TASK, { signal: invocation.signal, onEvent })
}

function report(result: TurnResult, entries: readonly LedgerEntry[], workspace: string, terminal: Terminal): number {
  terminal.line(`\n${terminal.paint('bold', 'Ledger')}  session ${result.sessionId}`)
  terminal.line(formatTrace(entries, terminal).replace(/^/gm, '  '))
  if (result.end === 'cancelled') return CODES.CANCELLED.exit
  if (result.end === 'failed') throw result.error ?? errorOf('MODEL_FAILED', 'The turn failed.')
  const artifacts = artifactsIn(workspace)
  if (artifacts.length === 0) {
    terminal.note('The demo wrote no file. The ledger above shows what happened.')
    return 1
  }
  terminal.line(`\n${terminal.paint('bold', 'Artifacts')}  ${terminal.paint('dim', uidLine(entries))}`)
  for (const { file, bytes } of artifacts) terminal.line(`  ${file}  ${terminal.paint('dim', `${bytes} bytes`)}`)
  terminal.line(`\n${terminal.paint('bold', 'Next')}\n${nextSteps(result.sessionId, terminal).replace(/^/gm, '  ')}`)
  return 0
}

/** Which user the script ran as, in the script's own words. */
function uidLine(entries: readonly LedgerEntry[]): string {
  const stdout = entries
    .map((entry) => (entry.outcome && entry.outcome.type !== 'failed' ? entry.outcome.data['stdout'] : undefined))
    .findLast((text) => typeof text === 'string')
  const uid = typeof stdout === 'string' ? /"uid":(\d+)/.exec(stdout)?.[1] : undefined
  return uid === undefined ? '' : `the script ran as uid ${uid}, Nexus runs as uid ${process.getuid?.() ?? '?'}`
}

/** Commands that work where the demo was started. */
function nextSteps(sessionId: string, { columns, commandLine }: Terminal): string {
  const steps: readonly (readonly [readonly string[], string])[] = [
    [['skills', 'list', '--all'], 'what an agent would see here, and what is held'],
    [['skills', 'check', 'github'], 'every reason, and its fix'],
    [['run', 'Chart data/sales.csv by region'], 'your own task, with your skills and your model'],
    [['sessions', 'show', sessionId.slice(0, 13)], 'what was said and done in this turn'],
    [['doctor'], 'what works on this machine'],
  ]
  const rows = steps.map(([args, what]) => [commandLine(args), what])
  return formatTable(rows, { columns: columns - 2, long: 'wrap' })
}

const RECORDED_TASK = 'Summarise data/sales.csv by region and draw a chart of the revenue.'

/**
 * A recorded model behind our own OpenAI-compatible HTTP server. It plays back one conversation with the `csv-report` skill;
 * only what the tools really answered (the skill's directory, the totals) is filled in from the request.
 */
function startRecordedModel(): Promise<ModelServer> {
  return startModelServer({ script: (request) => replyTo(request), models: ['recorded'] })
}

function replyTo(request: ModelRequest): Reply {
  const results = request.messages.filter((message) => message.role === 'tool').map((message) => message.text)
  const usage = { inputTokens: Math.ceil(JSON.stringify(request.body).length / 4), outputTokens: 40 }
  switch (results.length) {
    case 0:
      return {
        type: 'tool-calls',
        text: 'There is a skill for CSV reports. I load its instructions first.',
        calls: [{ name: 'load_skill', arguments: { skill_name: 'csv-report' } }],
        usage,
      }
    case 1:
      return {
        type: 'tool-calls',
        text: 'Before I run the script I check its options.',
        calls: [
          { name: 'read_skill_file', arguments: { skill_name: 'csv-report', file_path: 'references/options.md' } },
        ],
        usage,
      }
    case 2: {
      const script = /node "([^"]+\/scripts\/report\.mjs)"/.exec(results[0] ?? '')?.[1]
      if (script === undefined) return giveUp('the instructions did not say where the script is', usage)
      const command = `node "${script}" data/sales.csv --group region --value revenue --out report`
      return {
        type: 'tool-calls',
        text: 'The defaults fit. I run the script on the file.',
        calls: [{ name: 'run_command', arguments: { command } }],
        usage,
      }
    }
    default: {
      const report = lastReport(results.at(-1) ?? '')
      if (!report) return giveUp(`the script did not report a result: ${(results.at(-1) ?? '').slice(0, 300)}`, usage)
      return { type: 'text', text: finalText(report).match(/\S+\s*/g) ?? [], delayMs: 12, usage }
    }
  }
}

function giveUp(why: string, usage: { inputTokens: number; outputTokens: number }): Reply {
  return { type: 'text', text: `I could not finish: ${why}.`, usage }
}

/** The line of JSON that the script printed, anywhere in the tool's answer. */
function lastReport(text: string): JsonObject | undefined {
  const start = text.indexOf('{"rows"')
  const end = text.indexOf('}', text.indexOf('"uid"', start))
  if (start === -1 || end === -1) return undefined
  try {
    const value: unknown = JSON.parse(text.slice(start, end + 1).replaceAll('\\"', '"'))
    return isJsonObject(value) ? value : undefined
  } catch {
    return undefined // not the script's line; the caller says so
  }
}

function finalText(report: JsonObject): string {
  const top = isJsonObject(report['top']) ? report['top'] : {}
  const total = Number(report['total'])
  const share = total === 0 ? 0 : (Number(top['total']) / total) * 100
  return [
    `The file has ${String(report['rows'])} sales in ${String(report['groups'])} regions, ${total.toLocaleString('en-US')} in revenue. `,
    `${String(top['name'])} leads with ${Number(top['total']).toLocaleString('en-US')} (${share.toFixed(1)} %). `,
    `The table is in ${String(report['summary'])}, the chart in ${String(report['chart'])}.`,
  ].join('')
}
