import { type Diagnostic, errorMessage, isJsonObject, type Services, type Tool, toSafeLine } from '../kernel/index.ts'
import { type DefinitionForms, toDefinition } from './definitions.ts'
import { toolNameProblem, createWireNames, type WireNames } from './names.ts'
import { type Message, TOOLS } from './messages.ts'

/** Makes a tool from an agent's services. Called at most once per registration. */
export type ToolFactory = (services: Services) => Tool

export interface RegisterOptions {
  /** Whose tool it is, for people. */
  readonly owner?: string
}

/** The tools of one agent: made when first asked for, then kept. Source: seed 000, "SkillRegistry". */
export interface Registry {
  readonly services: Services
  /** Names in the order of their first registration, without those that are left out. */
  readonly names: readonly string[]
  /** The tools that are left out, and why: a bad name or schema, a clash of names, a factory that fails. */
  readonly diagnostics: readonly Diagnostic[]
  /** Adds or replaces a tool; the one made before is dropped. Never throws: a tool that cannot be used is left out with a diagnostic. */
  register(name: string, factory: ToolFactory, options?: RegisterOptions): void
  /** The tool, or undefined when nothing has that name or the tool is left out. */
  get(name: string): Tool | undefined
  has(name: string): boolean
  /** The owner that registered the tool: `nexus` for what ships, the module for a custom tool; undefined when it was not given. Source: seed 002, "get_skill_for_tool". */
  ownerOf(name: string): string | undefined
  unregister(name: string): boolean
  /** Leaves a tool out because its parameters turned out to be no valid JSON Schema. */
  rejectSchema(name: string, reason: string): void
  /** The tools in one of the forms, those that `filter` keeps. */
  definitions<F extends keyof DefinitionForms>(
    form: F,
    options?: { readonly filter?: (tool: Tool) => boolean },
  ): readonly DefinitionForms[F][]
  /** The map of the names on the wire, over all names of the registry. */
  wireNames(): WireNames
}

/** An empty registry over an agent's services. */
export function createRegistry(services: Services): Registry {
  const factories = new Map<string, ToolFactory>()
  const made = new Map<string, Tool>()
  const owners = new Map<string, string | undefined>()
  const faults = new Map<string, Diagnostic>()

  function leaveOut(name: string, fault: Message): undefined {
    factories.delete(name)
    made.delete(name)
    const path = `tool ${toSafeLine(name)}`
    faults.set(name, { code: 'tool-left-out', severity: 'error', subject: name, path, ...fault })
  }

  function get(name: string): Tool | undefined {
    const kept = made.get(name)
    const factory = factories.get(name)
    if (kept || !factory) return kept
    const { tool, fault } = make(name, factory, services)
    if (fault) return leaveOut(name, fault)
    made.set(name, tool)
    return tool
  }

  return {
    services,
    get names() {
      return [...factories.keys()]
    },
    get diagnostics() {
      return [...faults.values()]
    },
    register: (name, factory, { owner } = {}) => {
      const fault = nameFault(name, factories.keys())
      if (fault) {
        leaveOut(name, fault)
        return
      }
      faults.delete(name)
      factories.set(name, factory)
      owners.set(name, owner)
      made.delete(name)
    },
    get,
    has: (name) => factories.has(name),
    ownerOf: (name) => (factories.has(name) ? owners.get(name) : undefined),
    unregister: (name) => {
      made.delete(name)
      faults.delete(name)
      return factories.delete(name)
    },
    rejectSchema: (name, reason) => leaveOut(name, TOOLS.leftOutSchema(name, reason)),
    definitions: (form, { filter = () => true } = {}) => {
      const tools = [...factories.keys()].map(get).filter((tool) => tool !== undefined)
      const wire = createWireNames(factories.keys())
      return tools.filter(filter).map((tool) => toDefinition(tool, form, wire))
    },
    wireNames: () => createWireNames(factories.keys()),
  }
}

function nameFault(name: string, taken: Iterable<string>): Message | undefined {
  const problem = toolNameProblem(name)
  if (problem !== undefined) return TOOLS.leftOutName(name, problem)
  const other = [...taken].find((known) => known !== name && known.toLowerCase() === name.toLowerCase())
  return other === undefined ? undefined : TOOLS.leftOutClash(name, other)
}

function make(
  name: string,
  factory: ToolFactory,
  services: Services,
): { tool: Tool; fault?: undefined } | { tool?: undefined; fault: Message } {
  try {
    const tool = factory(services)
    if (tool.name !== name) return { fault: TOOLS.leftOutOtherName(name, tool.name) }
    const reason = schemaProblem(tool)
    return reason === undefined ? { tool } : { fault: TOOLS.leftOutSchema(name, reason) }
  } catch (error) {
    return { fault: TOOLS.leftOutFactory(name, errorMessage(error)) }
  }
}

/** Faults of the parameters that are seen at a glance; a whole check of the schema is done at the tool's first call. */
function schemaProblem({ parameters }: Tool): string | undefined {
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
