/** quarantine: why a registered tool is left out, as diagnostics. The agent goes on with its other tools. */
import { type Diagnostic, isJsonObject, toSafeLine, type Tool } from '../kernel/index.ts'

/** Why a tool cannot be offered. `factory-failed`: what was thrown. `other-name`: the name that the made tool has. */
export type ToolFault =
  | { readonly why: 'name'; readonly problem: string }
  | { readonly why: 'clash'; readonly other: string }
  | { readonly why: 'factory'; readonly reason: string }
  | { readonly why: 'other-name'; readonly made: string }
  | { readonly why: 'schema'; readonly reason: string }

/** The finding about a tool that is left out. */
export function quarantined(name: string, fault: ToolFault): Diagnostic {
  const { message, fix } = wordsOf(toSafeLine(name), fault)
  return { code: 'tool-left-out', severity: 'error', subject: name, path: `tool ${toSafeLine(name)}`, message, fix }
}

function wordsOf(name: string, fault: ToolFault): { readonly message: string; readonly fix: string } {
  switch (fault.why) {
    case 'name':
      return { message: `The tool '${name}' is left out: its name ${fault.problem}.`, fix: 'Give it another name.' }
    case 'clash':
      return {
        message: `The tool '${name}' is left out: its name differs from '${toSafeLine(fault.other)}' only in case.`,
        fix: 'Policies compare names in lower case: choose another name.',
      }
    case 'factory':
      return {
        message: `The tool '${name}' is left out: its factory failed: ${toSafeLine(fault.reason)}`,
        fix: 'Correct the factory, then register the tool again.',
      }
    case 'other-name':
      return {
        message: `The tool '${name}' is left out: its factory makes a tool named '${toSafeLine(fault.made)}'.`,
        fix: `Register it as '${toSafeLine(fault.made)}', or give the tool that name: policy goes by the name.`,
      }
    case 'schema':
      return {
        message: `The tool '${name}' is left out: its parameters are not a valid JSON Schema: ${toSafeLine(fault.reason)}`,
        fix: `Use { type: 'object', properties: … } at the top.`,
      }
  }
}

/** What is wrong with the parameters at a glance; a whole check of the schema is done at the tool's first call. */
export function schemaProblem({ parameters }: Tool): string | undefined {
  if (!isJsonObject(parameters)) return 'they are not an object'
  if (parameters.type !== 'object') return `"type" is not "object"`
  if (parameters.properties !== undefined && !isJsonObject(parameters.properties))
    return '"properties" is not an object'
  if (parameters.required !== undefined && !Array.isArray(parameters.required)) return '"required" is not a list'
  try {
    JSON.stringify(parameters)
    return undefined
  } catch {
    return 'they cannot be written as JSON'
  }
}
