import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Explanation } from '../../../authorize/index.ts'
import { parseSettings } from '../../../config/index.ts'
import { isJsonObject, type JsonObject, type JsonValue, nearest, toSafeLine } from '../../../kernel/index.ts'
import type { Local } from '../../../local/index.ts'
import { type Invocation, stringFlag } from '../command.ts'
import { envelope } from '../envelope.ts'
import { errorOf, many, MESSAGES, NOTES } from '../messages/index.ts'
import { openFor } from '../open.ts'
import { linesOf } from '../show/policy-lines.ts'

const ANSWERS = ['allow', 'ask', 'deny'] as const
const PATH_LIMITS = ['readPaths', 'writePaths', 'blockedPaths'] as const

/** `nexus policy explain <agent> <tool>`: every layer that has a part in the decision, and the lines that it comes from. Nothing runs. */
export async function explainPolicy(invocation: Invocation): Promise<number> {
  const { terminal, positionals, flags } = invocation
  const [agent, tool] = positionals
  if (agent === undefined || tool === undefined)
    throw errorOf(
      'INVALID_ARGUMENT',
      MESSAGES.argumentMissing('policy explain', 'an agent and a tool', ['main', 'run_command']),
    )
  const args = argumentsOf(stringFlag(invocation, 'args'))
  return withLocal(invocation, async (local) => {
    const explanation = explainCall(local, { agent, tool, args })
    const lines = await linesOf(local.loaded, { agent, tool }, explanation)
    const { decision, steps, deniedCapabilities } = explanation
    if (flags['json'] === true) {
      const { limits, type, rule } = decision
      const data = {
        agent,
        tool,
        decision: type,
        rule,
        limits: { ...limits },
        steps: steps.map((step) => ({ ...step })),
        lines: lines.map((line) => ({ ...line })),
        withoutCapabilities: [...deniedCapabilities],
      }
      terminal.json(envelope('policy explain', data))
      return 0
    }
    for (const { layer, says, text } of steps) if (says !== 'silent') terminal.line(`${layer}: ${toSafeLine(text)}`)
    for (const { rule, place } of lines)
      terminal.line(`  ${toSafeLine(rule)}${place === '' ? '' : `  ${toSafeLine(place)}`}`)
    for (const [name, value] of Object.entries(decision.limits)) terminal.line(`limit: ${name} ${limitText(value)}`)
    if (decision.type !== 'deny' && PATH_LIMITS.some((name) => name in decision.limits))
      terminal.line(NOTES.pathsAtCall())
    const color = decision.type === 'deny' ? 'red' : decision.type === 'ask' ? 'yellow' : 'green'
    terminal.line(`${terminal.paint(color, decision.type)} by ${toSafeLine(decision.rule)}`)
    return 0
  })
}

/** `nexus policy test <file>`: exit code 1 when a decision is not the expected one. */
export async function testPolicy(invocation: Invocation): Promise<number> {
  const { terminal, positionals, flags, cwd } = invocation
  const [file] = positionals
  if (file === undefined)
    throw errorOf('INVALID_ARGUMENT', MESSAGES.argumentMissing('policy test', 'a file', ['policy-tests.yaml']))
  const tests = await readTests(file, resolve(cwd, file))
  return withLocal(invocation, async (local) => {
    const results = tests.map((test) => {
      const { decision } = explainCall(local, test)
      return { ...test, got: decision.type, rule: decision.rule, passed: decision.type === test.expect }
    })
    const failed = results.filter(({ passed }) => !passed)
    const exit = failed.length === 0 ? 0 : 1
    if (flags['json'] === true) {
      terminal.json(envelope('policy test', { results: results.map((each) => ({ ...each })) }, { exit }))
      return exit
    }
    for (const { agent, tool, expect, got, rule, passed } of results) {
      const mark = passed ? terminal.paint('green', '✓') : terminal.paint('red', '✗')
      const found = passed ? '' : `, not ${expect}`
      terminal.line(`${mark} ${toSafeLine(agent)} ${toSafeLine(tool)}: ${got}${found} (${toSafeLine(rule)})`)
    }
    terminal.line(`${many(results.length, 'expectation')}, ${failed.length} not met`)
    return exit
  })
}

interface Expectation {
  readonly agent: string
  readonly tool: string
  readonly args: JsonObject
  readonly expect: (typeof ANSWERS)[number]
}

async function withLocal(invocation: Invocation, use: (local: Local) => Promise<number>): Promise<number> {
  const local = await openFor(invocation, { record: 'memory' })
  try {
    return await use(local)
  } finally {
    await local.close()
  }
}

/** The explanation of a call of the model. Throws INVALID_ARGUMENT for an agent that does not exist. */
export function explainCall(
  { runtime, config }: Pick<Local, 'runtime' | 'config'>,
  { agent, tool, args }: Pick<Expectation, 'agent' | 'tool' | 'args'>,
): Explanation {
  const ids = config.agents.map(({ id }) => id)
  if (!ids.includes(agent)) throw errorOf('INVALID_ARGUMENT', MESSAGES.noAgent(agent, ids, nearest(agent, ids)))
  return runtime.openAgent({ id: agent }).explain({ tool, arguments: args, origin: 'model' })
}

function limitText(value: unknown): string {
  if (!Array.isArray(value)) return String(value)
  return value.length === 0 ? 'none' : value.map((item) => toSafeLine(String(item))).join(', ')
}

function argumentsOf(text: string | undefined): JsonObject {
  if (text === undefined) return {}
  try {
    const value = JSON.parse(text) as JsonValue
    if (isJsonObject(value)) return value
  } catch (error) {
    throw errorOf('INVALID_ARGUMENT', MESSAGES.badArguments((error as Error).message))
  }
  throw errorOf('INVALID_ARGUMENT', MESSAGES.badArguments('it is another value'))
}

/** `tests:` of a YAML or JSON file: agent (default main), tool, args, expect. Throws INVALID_ARGUMENT for anything else. */
async function readTests(name: string, path: string): Promise<Expectation[]> {
  const bad = (why: string): Error => errorOf('INVALID_ARGUMENT', MESSAGES.badExpectations(name, why))
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    throw errorOf(
      'INVALID_ARGUMENT',
      MESSAGES.expectationsUnreadable(name, (error as NodeJS.ErrnoException).code === 'ENOENT'),
    )
  }
  const { value, diagnostics } = await parseSettings(text, path)
  const problem = diagnostics.find(({ severity }) => severity === 'error')
  if (problem) throw bad(`line ${problem.line ?? 1}: ${problem.message}`)
  const tests = value['tests']
  if (!Array.isArray(tests) || tests.length === 0) throw bad('it has no list tests:')
  return tests.map((test, index) => {
    const { agent = 'main', tool, args = {}, expect } = isJsonObject(test) ? test : {}
    const wanted = ANSWERS.find((answer) => answer === expect)
    if (typeof agent !== 'string' || typeof tool !== 'string' || !isJsonObject(args) || wanted === undefined)
      throw bad(`item ${index + 1} needs tool, expect (allow, ask or deny), and may have agent and args`)
    return { agent, tool, args, expect: wanted }
  })
}
