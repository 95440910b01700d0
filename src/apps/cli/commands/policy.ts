import { errorOf, many } from '../failure.ts'
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
  const problem = argumentFault(opened, tool, args)
  if (problem !== undefined) throw errorOf('INVALID_ARGUMENT', problem.message, problem.fix)
  const explanation = await explainCall(opened, { tool, args })
  const lines = await linesOf(local.loaded, { agent, tool: serverTool(tool)?.name ?? tool }, explanation)
  const { decision, steps, deniedCapabilities: withoutCapabilities, overMcp } = explanation
  const { limits, type, rule } = decision
  noteAbsentServer(opened, tool, terminal)
  return {
    data: { agent, tool, decision: type, rule, limits, steps, lines, withoutCapabilities, overMcp },
    show: () => {
      printExplanation({ ...explanation, lines }, terminal)
      if (type !== 'deny' && isFileTool(tool) && typeof args['path'] !== 'string')
        terminal.line(
          `The tool compares its path with these limits. To see a path decided, give it: --args '{"path":"notes.txt"}'`,
        )
      if (overMcp !== type)
        terminal.line(
          'Over MCP Nexus does not ask about this call: the agent has neither preset nor permissions, and the client asks its own user.',
        )
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
    if (fault) throw await errorAt(['tests', index], fault)
    const opened = openAgent(local, agent)
    noteAbsentServer(opened, tool, terminal)
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

export function unknownAgent(id: string, known: readonly string[]): NexusError {
  const guess = nearest(id, known)
  const fix =
    guess === undefined ? `Name one of: ${known.map(toSafeLine).join(', ')}.` : `Did you mean ${toSafeLine(guess)}?`
  return errorOf('INVALID_ARGUMENT', `No agent is called '${toSafeLine(id)}'.`, fix)
}

/** Throws INVALID_ARGUMENT for an agent that does not exist. */
export function openAgent({ runtime, config }: Pick<Local, 'runtime' | 'config'>, id: string): AgentHandle {
  const ids = config.agents.map((agent) => agent.id)
  if (ids.includes(id)) return runtime.openAgent({ id })
  throw unknownAgent(id, ids)
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
  const decided = { ...decision, rule: PATH }
  if (type === 'deny') return { ...explained, decision: { ...decided, type, reason: text }, overMcp: type }
  return { ...explained, decision: { ...decided, type, question: text }, overMcp: overMcp === 'deny' ? 'deny' : 'ask' }
}

function noteAbsentServer({ registry }: AgentHandle, tool: string, terminal: Terminal): void {
  if (registry.has(tool) || serverTool(tool) === undefined) return
  const absent = `No MCP server with ${toSafeLine(tool)} is connected, so a call of it fails as an unknown tool.`
  terminal.note(`${absent} This is what the rules say of it.`)
}

/** The tool would not see an argument with a wrong name, and the decision would be about another call. */
function argumentFault({ registry }: AgentHandle, tool: string, args: JsonObject): Fault | undefined {
  const known = registry.get(tool)
  const [problem] = known ? unknownArguments(known, args) : []
  if (problem === undefined) return undefined
  const fix = 'Correct the name: the tool does not see such an argument.'
  return { key: 'args', message: `args has an ${toSafeLine(problem)}.`, fix }
}

function limitText(value: unknown): string {
  if (!Array.isArray(value)) return String(value)
  return value.length === 0 ? 'none' : value.map((item) => toSafeLine(String(item))).join(', ')
}

function argumentsOf(text: string | undefined): JsonObject {
  if (text === undefined) return {}
  let why = 'it is another value'
  try {
    const value = JSON.parse(text) as JsonValue
    if (isJsonObject(value)) return value
  } catch (error) {
    why = (error as Error).message
  }
  const fix = `Write an object, such as: --args '{"command":"ls"}'`
  throw errorOf('INVALID_ARGUMENT', `--args is not a JSON object: ${toSafeLine(why)}`, fix)
}

/** Why an expectation cannot be tested, and which of its keys is wrong. */
interface Fault {
  readonly key: string
  readonly message: string
  readonly fix: string
}

function didYouMean(guess: string | undefined, otherwise: string): string {
  return guess === undefined ? otherwise : `Did you mean '${toSafeLine(guess)}'?`
}

/** Why no decision can be tested by an expectation; undefined when one can. */
function faultOf(local: Local, { agent: id, tool, args }: Expectation): Fault | undefined {
  const ids = local.config.agents.map((agent) => agent.id)
  if (!ids.includes(id)) {
    const { message, fix = '' } = unknownAgent(id, ids)
    return { key: 'agent', message, fix }
  }
  const agent = openAgent(local, id)
  const { registry, diagnostics } = agent
  if (registry.has(tool) || serverTool(tool) !== undefined) return argumentFault(agent, tool, args)
  const why = diagnostics.find(({ subject }) => subject === tool)?.message ?? ''
  const message = `${toSafeLine(id)} has no tool '${toSafeLine(tool)}', so no rule decides about it. ${toSafeLine(why)}`
  const fix = `Name one of: ${registry.names.map(toSafeLine).join(', ')}.`
  const guess = ALIASES.get(tool) ?? nearest(tool, registry.names)
  return { key: 'tool', message: message.trimEnd(), fix: didYouMean(guess, fix) }
}

/** The first fault in the form of an expectation. */
function formFault(test: JsonValue, number: number): Fault | undefined {
  const example = 'Write it as: - { agent: main, tool: run_command, expect: ask }'
  if (!isJsonObject(test)) return { key: '', message: `Item ${number} is not a map.`, fix: example }
  const unknown = unknownKey(test, KEYS)
  if (unknown) return unknown
  const { agent = '', tool, args = {}, expect } = test
  if (typeof agent !== 'string') return { key: 'agent', message: 'A test needs agent as a text.', fix: example }
  if (typeof tool !== 'string') return { key: 'tool', message: 'A test needs tool as a text.', fix: example }
  if (!isJsonObject(args))
    return { key: 'args', message: 'args is not a map.', fix: 'Write it as: args: { command: ls }' }
  if (ANSWERS.some((answer) => answer === expect)) return undefined
  const guess = typeof expect === 'string' ? nearest(expect, ANSWERS) : undefined
  const is = `expect is ${toSafeLine(JSON.stringify(expect ?? null))}, which no decision is.`
  return {
    key: 'expect',
    message: expect === undefined ? 'A test needs expect.' : is,
    fix: didYouMean(guess, `Write expect: with one of ${ANSWERS.join(', ')}.`),
  }
}

function unknownKey(map: JsonObject, known: readonly string[]): Fault | undefined {
  const key = Object.keys(map).find((name) => !known.includes(name))
  if (key === undefined) return undefined
  const fix = didYouMean(nearest(key, known), `Remove it, or write one of: ${known.join(', ')}.`)
  return { key, message: `The key '${toSafeLine(key)}' is unknown.`, fix }
}

/** `tests:` of a YAML or JSON file: agent (default main), tool, args, expect. Throws INVALID_ARGUMENT for anything else. */
async function readTests(name: string, path: string) {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    const why = (error as NodeJS.ErrnoException).code === 'ENOENT' ? 'does not exist' : 'cannot be read'
    const message = `${toSafeLine(name)} ${why}, so nothing was tested.`
    throw errorOf('INVALID_ARGUMENT', message, 'Name a YAML or JSON file with a list under tests:.')
  }
  const notTested = (place: string, message: string, fix: string): NexusError =>
    errorOf('INVALID_ARGUMENT', `Nothing was tested. ${toSafeLine(place)}: ${toSafeLine(message)}`, fix)
  /** The error about a key below these keys of the file, with its line and column. */
  const errorAt = async (keys: readonly (string | number)[], { key, message, fix }: Fault): Promise<NexusError> => {
    const { line, column } = (await settingsPlaces(text))([...keys, key])
    return notTested(`${name}:${line}:${column}`, message, fix)
  }
  const { value, diagnostics } = await parseSettings(text, path)
  const problem = diagnostics.find(({ severity }) => severity === 'error')
  const fix = 'Write a list under tests:, such as: tests: [{ agent: main, tool: run_command, expect: ask }]'
  if (problem) throw notTested(`${name}:${problem.line ?? 1}`, problem.message, problem.fix ?? fix)
  const unknown = unknownKey(value, ['tests'])
  if (unknown) throw await errorAt([], unknown)
  const { tests: given } = value
  if (!Array.isArray(given) || given.length === 0)
    throw await errorAt([], { key: 'tests', message: 'The file has no list tests:.', fix })
  const tests: Expectation[] = []
  for (const [index, test] of given.entries()) {
    const fault = formFault(test, index + 1)
    if (fault) throw await errorAt(['tests', index], fault)
    tests.push({ agent: 'main', args: {}, ...(test as object as Pick<Expectation, 'tool' | 'expect'>) })
  }
  return { tests, errorAt }
}
