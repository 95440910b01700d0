import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import * as v from 'valibot'
import { ALIASES } from '../../../authorize/index.ts'
import { parseSettings, settingsPlaces } from '../../../config/index.ts'
import { type Decision, isNexusError, type JsonObject, nearest, toSafeLine } from '../../../kernel/index.ts'
import type { AgentHandle } from '../../../runtime/index.ts'
import { serverTool } from '../../../tools/index.ts'
import { type Answer, argument, type Invocation } from '../command.ts'
import { errorOf, many } from '../failure.ts'
import { openFor } from '../open.ts'
import type { Terminal } from '../terminal.ts'
import { didYouMean, explainCall, openAgent } from './policy.ts'

const ANSWERS = ['allow', 'ask', 'deny'] as const

const EXPECTATION = v.strictObject({
  agent: v.optional(v.string(), 'main'),
  tool: v.string(),
  args: v.optional(v.record(v.string(), v.any()), {}),
  expect: v.picklist(ANSWERS),
})
const FILE = v.strictObject({ tests: v.pipe(v.array(EXPECTATION), v.nonEmpty()) })

/** `nexus policy test <file>`: exit code 1 when a decision is not the expected one. */
export async function testPolicy(invocation: Invocation): Promise<Answer> {
  const { terminal, cwd } = invocation
  const file = argument(invocation, 'a file', ['policy-tests.yaml'])
  const { tests, errorAt } = await readTests(file, resolve(cwd, file))
  await using local = await openFor(invocation, { record: 'memory' })
  const results: Result[] = []
  for (const [index, test] of tests.entries()) {
    const { agent: id, tool, expect } = test
    try {
      const agent = openAgent(local, id)
      checkTool(agent, id, tool)
      const { decision } = await explainCall(agent, test, terminal)
      const { type: got, rule } = decision
      const reason = decision.type === 'deny' ? decision.reason : ''
      results.push({ ...test, got, rule, reason, passed: got === expect })
    } catch (error) {
      throw isNexusError(error) ? await errorAt(['tests', index], error.message, error.fix) : error
    }
  }
  const failed = results.filter(({ passed }) => !passed)
  return {
    data: { results },
    exit: failed.length === 0 ? 0 : 1,
    show: () => {
      for (const result of results) printResult(result, terminal)
      terminal.line(`${many(results.length, 'expectation')}, ${failed.length} not met`)
    },
  }
}

/** An expectation with its decision; `reason` is empty where nothing is denied. */
interface Result extends v.InferOutput<typeof EXPECTATION> {
  readonly args: JsonObject
  readonly got: Decision['type']
  readonly rule: string
  readonly reason: string
  readonly passed: boolean
}

function printResult({ agent, tool, args, expect, got, rule, reason, passed }: Result, terminal: Terminal): void {
  const mark = passed ? terminal.paint('green', '✓') : terminal.paint('red', '✗')
  const found = passed ? '' : `, not ${expect}`
  const call = Object.keys(args).length === 0 ? tool : `${tool} ${JSON.stringify(args)}`
  terminal.line(`${mark} ${toSafeLine(agent)} ${toSafeLine(call)}: ${got}${found} (${toSafeLine(rule)})`)
  if (!passed && reason !== '') terminal.line(`  ${toSafeLine(reason)}`)
}

/** Throws INVALID_ARGUMENT for a tool that the agent does not have: a typo would look like a denial. */
function checkTool({ registry, diagnostics }: AgentHandle, id: string, tool: string): void {
  if (registry.has(tool) || serverTool(tool) !== undefined) return
  const why = diagnostics.find(({ subject }) => subject === tool)?.message ?? ''
  const message = `${toSafeLine(id)} has no tool '${toSafeLine(tool)}', so no rule decides about it. ${toSafeLine(why)}`
  const guess = ALIASES.get(tool) ?? nearest(tool, registry.names)
  throw errorOf('INVALID_ARGUMENT', message.trimEnd(), didYouMean(guess, registry.names))
}

const EXAMPLE = 'Write it as: tests: [{ agent: main, tool: run_command, expect: ask }]'
/** `tests:` of a YAML or JSON file. Throws INVALID_ARGUMENT for anything else. */
async function readTests(name: string, path: string) {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'does not exist' : 'cannot be read'
    throw errorOf('INVALID_ARGUMENT', `${toSafeLine(name)} ${why}, so nothing was tested.`, EXAMPLE)
  }
  /** The error about the value at these keys of the file, with its line and column. */
  const errorAt = async (keys: readonly (string | number)[], message: string, fix = EXAMPLE): Promise<Error> => {
    const { line, column } = (await settingsPlaces(text))(keys)
    const place = toSafeLine(`${name}:${line}:${column}`)
    return errorOf('INVALID_ARGUMENT', `Nothing was tested. ${place}: ${toSafeLine(message)}`, fix)
  }
  const { value, diagnostics } = await parseSettings(text, path)
  const problem = diagnostics.find(({ severity }) => severity === 'error')
  if (problem) {
    const { line = 1, message, fix } = problem
    throw errorOf('INVALID_ARGUMENT', `Nothing was tested. ${toSafeLine(`${name}:${line}: ${message}`)}`, fix)
  }
  const { success, output, issues } = v.safeParse(FILE, value)
  if (success) return { tests: output.tests, errorAt }
  const issue = issues.find(({ expected }) => expected === 'never') ?? issues[0]
  throw await errorAt(
    (issue.path ?? []).map(({ key }) => key as string | number),
    `${v.getDotPath(issue) ?? 'tests'}: ${issue.message}`,
  )
}
