import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { ALIASES, type Explanation } from '../../../authorize/index.ts'
import { parseSettings, settingsPlaces } from '../../../config/index.ts'
import {
  type Decision,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  nearest,
  type NexusError,
  toSafeLine,
} from '../../../kernel/index.ts'
import type { Local } from '../../../local/index.ts'
import type { AgentHandle } from '../../../runtime/index.ts'
import { decidePath, isFileTool, serverTool, unknownArguments } from '../../../tools/index.ts'
import { type Answer, argument, type Invocation, stringFlag } from '../command.ts'
import { errorOf, many, type Message, MESSAGES, NOTES, TEST_FAULTS } from '../messages/index.ts'
import { openFor } from '../open.ts'
import { linesOf, type RuleLine } from '../show/policy-lines.ts'
import type { Terminal } from '../terminal.ts'

const KEYS = ['agent', 'tool', 'args', 'expect'] as const
const COLORS = { allow: 'green', ask: 'yellow', deny: 'red' } as const
const ANSWERS = ['allow', 'ask', 'deny'] as const

/** `nexus policy explain <agent> <tool>`: every layer that has a part in the decision, and the lines that it comes from. Nothing runs. */
export async function explainPolicy(invocation: Invocation): Promise<Answer> {
  const { terminal } = invocation
  const agent = argument(invocation, 'an agent and a tool', ['main', 'run_command'])
  const tool = argument(invocation, 'an agent and a tool', ['main', 'run_command'], 1)
  const args = argumentsOf(stringFlag(invocation, 'args'))
  await using local = await openFor(invocation, { record: 'memory' })
  const opened = openAgent(local, agent)
  const [problem] = argumentProblems(opened, tool, args)
  if (problem !== undefined) throw errorOf('INVALID_ARGUMENT', TEST_FAULTS.argument(problem))
  const explanation = await explainCall(opened, { tool, args })
  const lines = await linesOf(local.loaded, { agent, tool: serverTool(tool)?.name ?? tool }, explanation)
  const { decision, steps, deniedCapabilities: withoutCapabilities, overMcp } = explanation
  const { limits, type, rule } = decision
  if (isAbsentServer(opened, tool)) terminal.note(NOTES.serverAbsent(tool))
  return {
    data: { agent, tool, decision: type, rule, limits, steps, lines, withoutCapabilities, overMcp },
    show: () => {
      printExplanation({ ...explanation, lines }, terminal)
      if (type !== 'deny' && isFileTool(tool) && typeof args['path'] !== 'string') terminal.line(NOTES.pathsAtCall())
      if (overMcp !== type) terminal.line(NOTES.overMcp())
      terminal.line(`${terminal.paint(COLORS[type], type)} by ${toSafeLine(rule)}`)
    },
  }
}

function printExplanation(
  { steps, lines, decision: { limits } }: Explained & { readonly lines: readonly RuleLine[] },
  terminal: Terminal,
): void {
  for (const { layer, says, text } of steps) if (says !== 'silent') terminal.line(`${layer}: ${toSafeLine(text)}`)
  for (const { rule, place } of lines)
    terminal.line(`  ${toSafeLine(rule)}${place === '' ? '' : `  ${toSafeLine(place)}`}`)
  for (const [name, value] of Object.entries(limits)) terminal.line(`limit: ${name} ${limitText(value)}`)
}

/** `nexus policy test <file>`: exit code 1 when a decision is not the expected one. */
export async function testPolicy(invocation: Invocation): Promise<Answer> {
  const { terminal, cwd } = invocation
  const file = argument(invocation, 'a file', ['policy-tests.yaml'])
  const { tests, errorAt } = await readTests(file, resolve(cwd, file))
  await using local = await openFor(invocation, { record: 'memory' })
  const results: Result[] = []
  for (const [index, test] of tests.entries()) {
    const { agent, tool, args, expect } = test
    const fault = faultOf(local, test)
    if (fault) throw await errorAt(['tests', index, fault.key], fault.message)
    const opened = openAgent(local, agent)
    if (isAbsentServer(opened, tool)) terminal.note(NOTES.serverAbsent(tool))
    const { decision } = await explainCall(opened, { tool, args })
    const { type: got, rule } = decision
    const reason = decision.type === 'deny' ? decision.reason : ''
    results.push({ ...test, got, rule, reason, passed: got === expect })
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
interface Result extends Expectation {
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

interface Expectation {
  readonly agent: string
  readonly tool: string
  readonly args: JsonObject
  readonly expect: (typeof ANSWERS)[number]
}

/** Throws INVALID_ARGUMENT for an agent that does not exist. */
export function openAgent({ runtime, config }: Pick<Local, 'runtime' | 'config'>, id: string): AgentHandle {
  const ids = config.agents.map((agent) => agent.id)
  if (!ids.includes(id)) throw errorOf('INVALID_ARGUMENT', MESSAGES.noAgent(id, ids, nearest(id, ids)))
  return runtime.openAgent({ id })
}

/** The name of the step about the path in the arguments, and of its rule. */
const PATH = 'path'

interface Explained extends Explanation {
  /** The decision about the same call of an MCP client. */
  readonly overMcp: Decision['type']
}

/** The explanation of a call of the model, with what the tool itself would say of a path. */
export async function explainCall(
  agent: AgentHandle,
  { tool, args }: Pick<Expectation, 'tool' | 'args'>,
): Promise<Explained> {
  const call = { tool, arguments: args }
  const explanation = agent.explain({ ...call, origin: 'model' })
  const { decision, steps } = explanation
  const overMcp = agent.explain({ ...call, origin: 'mcp' }).decision.type
  const path =
    decision.type === 'deny' ? undefined : await decidePath(agent.services, { ...call, limits: decision.limits })
  if (path === undefined) return { ...explanation, overMcp }
  const { type, text } = path
  const step = { layer: PATH, says: type, rule: PATH, text: `${type} by ${PATH}: ${text}` }
  const explained = { ...explanation, steps: [...steps, step] }
  if (type === 'allow') return { ...explained, overMcp }
  return { ...explained, decision: { ...decision, type, rule: PATH, reason: text }, overMcp: type }
}

function isAbsentServer({ registry }: AgentHandle, tool: string): boolean {
  return !registry.has(tool) && serverTool(tool) !== undefined
}

/** What is wrong with names of arguments: the tool would not see such an argument, and the decision would be about another call. */
function argumentProblems({ registry }: AgentHandle, tool: string, args: JsonObject): readonly string[] {
  const known = registry.get(tool)
  return known ? unknownArguments(known, args) : []
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

/** What is wrong with an expectation, and with which of its keys. */
interface Fault {
  readonly key: string
  readonly message: Message
}

/** Why no decision can be tested by an expectation; undefined when one can. */
function faultOf(local: Local, { agent: id, tool, args }: Expectation): Fault | undefined {
  const ids = local.config.agents.map((agent) => agent.id)
  if (!ids.includes(id)) return { key: 'agent', message: MESSAGES.noAgent(id, ids, nearest(id, ids)) }
  const agent = openAgent(local, id)
  const { registry, diagnostics } = agent
  if (!registry.get(tool) && serverTool(tool) === undefined) {
    const why = diagnostics.find(({ subject }) => subject === tool)?.message
    const guess = ALIASES.get(tool) ?? nearest(tool, registry.names)
    return { key: 'tool', message: TEST_FAULTS.noTool({ agent: id, tool, why }, registry.names, guess) }
  }
  const [problem] = argumentProblems(agent, tool, args)
  return problem === undefined ? undefined : { key: 'args', message: TEST_FAULTS.argument(problem) }
}

/** What is wrong with the form of an expectation. */
function misfitOf(test: JsonValue, number: number): Fault | undefined {
  if (!isJsonObject(test)) return { key: '', message: TEST_FAULTS.item(number) }
  const key = Object.keys(test).find((name) => !KEYS.some((known) => known === name))
  if (key !== undefined) return { key, message: TEST_FAULTS.key(key, KEYS, nearest(key, KEYS)) }
  const { agent = '', tool, args = {}, expect } = test
  if (typeof agent !== 'string') return { key: 'agent', message: TEST_FAULTS.text('agent') }
  if (typeof tool !== 'string') return { key: 'tool', message: TEST_FAULTS.text('tool') }
  if (!isJsonObject(args)) return { key: 'args', message: TEST_FAULTS.args() }
  if (ANSWERS.some((answer) => answer === expect)) return undefined
  const guess = typeof expect === 'string' ? nearest(expect, ANSWERS) : undefined
  return { key: 'expect', message: TEST_FAULTS.expect(expect, ANSWERS, guess) }
}

interface Tests {
  readonly tests: readonly Expectation[]
  /** The error about what is at these keys of the file, with its line and column. */
  readonly errorAt: (keys: readonly (string | number)[], message: Message) => Promise<NexusError>
}

/** `tests:` of a YAML or JSON file: agent (default main), tool, args, expect. Throws INVALID_ARGUMENT for anything else. */
async function readTests(name: string, path: string): Promise<Tests> {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT'
    throw errorOf('INVALID_ARGUMENT', MESSAGES.expectationsUnreadable(name, isMissing))
  }
  const { value, diagnostics } = await parseSettings(text, path)
  const problem = diagnostics.find(({ severity }) => severity === 'error')
  if (problem) throw errorOf('INVALID_ARGUMENT', MESSAGES.badTests(`${name}:${problem.line ?? 1}`, problem))
  const errorAt: Tests['errorAt'] = async (keys, message) => {
    const { line, column } = (await settingsPlaces(text))(keys)
    return errorOf('INVALID_ARGUMENT', MESSAGES.badTests(`${name}:${line}:${column}`, message))
  }
  const other = Object.keys(value).find((key) => key !== 'tests')
  if (other !== undefined) throw await errorAt([other], TEST_FAULTS.key(other, ['tests'], nearest(other, ['tests'])))
  const given = value['tests']
  if (!Array.isArray(given) || given.length === 0) throw await errorAt(['tests'], TEST_FAULTS.none())
  const tests: Expectation[] = []
  for (const [index, test] of given.entries()) {
    const fault = misfitOf(test, index + 1)
    if (fault) throw await errorAt(['tests', index, fault.key], fault.message)
    tests.push({ agent: 'main', args: {}, ...(test as object as Pick<Expectation, 'tool' | 'expect'>) })
  }
  return { tests, errorAt }
}
