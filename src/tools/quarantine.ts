/** quarantine: why a registered tool is left out, as diagnostics. The agent goes on with its other tools. */
import { type Diagnostic, isJsonObject, toSafeLine, type Tool } from '../kernel/index.ts'
import { type Message, TOOLS } from './messages.ts'

/** Why a tool cannot be offered. `factory-failed`: what was thrown. `other-name`: the name that the made tool has. */
export type ToolFault =
  | { readonly why: 'name'; readonly problem: string }
  | { readonly why: 'clash'; readonly other: string }
  | { readonly why: 'factory'; readonly reason: string }
  | { readonly why: 'other-name'; readonly made: string }
  | { readonly why: 'schema'; readonly reason: string }

/** The finding about a tool that is left out. */
export function quarantined(name: string, fault: ToolFault): Diagnostic {
  const { message, fix } = messageOf(toSafeLine(name), fault)
  return {
    code: 'tool-left-out',
    severity: 'error',
    subject: name,
    path: `tool ${toSafeLine(name)}`,
    message,
    ...(fix !== undefined && { fix }),
  }
}

function messageOf(name: string, fault: ToolFault): Message {
  switch (fault.why) {
    case 'name':
      return TOOLS.leftOutName(name, fault.problem)
    case 'clash':
      return TOOLS.leftOutClash(name, fault.other)
    case 'factory':
      return TOOLS.leftOutFactory(name, fault.reason)
    case 'other-name':
      return TOOLS.leftOutOtherName(name, fault.made)
    case 'schema':
      return TOOLS.leftOutSchema(name, fault.reason)
  }
}

/** Faults of the parameters that are seen at a glance; a whole check of the schema is done at the tool's first call. */
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
