import { errorMessage, type JsonSchema, NexusError, type Services, type Tool } from '../kernel/index.ts'
import { toolNameProblem } from './names.ts'
import { createWireNames, type WireNames } from './wire-names.ts'

/** Makes a tool from an agent's services. Called at most once per registration. */
export type ToolFactory = (services: Services) => Tool

/** The forms in which tools are told to others. `openai` and `anthropic` carry wire names, `json` policy names. */
export interface DefinitionForms {
  readonly openai: {
    readonly type: 'function'
    readonly function: { readonly name: string; readonly description: string; readonly parameters: JsonSchema }
  }
  readonly anthropic: { readonly name: string; readonly description: string; readonly input_schema: JsonSchema }
  readonly mcp: { readonly name: string; readonly description: string; readonly inputSchema: JsonSchema }
  readonly json: { readonly name: string; readonly description: string; readonly parameters: JsonSchema }
}

/** The tools of one agent: made when first asked for, then kept. Source: seed 000, "SkillRegistry". */
export interface Registry {
  readonly services: Services
  /** Names in the order of their first registration. */
  readonly names: readonly string[]
  /** Adds or replaces a tool; the one made before is dropped. Throws INVALID_ARGUMENT for a bad name, CONFLICT for one that differs only in case. */
  register(name: string, factory: ToolFactory): void
  /** The tool, or undefined when nothing has that name. Throws INTERNAL when its factory fails. */
  get(name: string): Tool | undefined
  has(name: string): boolean
  unregister(name: string): boolean
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

  function get(name: string): Tool | undefined {
    const kept = made.get(name)
    const factory = factories.get(name)
    if (kept || !factory) return kept
    const tool = make(name, factory, services)
    made.set(name, tool)
    return tool
  }

  return {
    services,
    get names() {
      return [...factories.keys()]
    },
    register: (name, factory) => {
      checkName(name, factories.keys())
      factories.set(name, factory)
      made.delete(name)
    },
    get,
    has: (name) => factories.has(name),
    unregister: (name) => {
      made.delete(name)
      return factories.delete(name)
    },
    definitions: (form, { filter = () => true } = {}) => {
      const wire = createWireNames(factories.keys())
      const tools = [...factories.keys()].map((name) => get(name)).filter((tool) => tool !== undefined)
      return tools.filter(filter).map((tool) => toDefinition(tool, form, wire))
    },
    wireNames: () => createWireNames(factories.keys()),
  }
}

function checkName(name: string, taken: Iterable<string>): void {
  const problem = toolNameProblem(name)
  if (problem !== undefined) throw new NexusError('INVALID_ARGUMENT', `The tool name '${name}' ${problem}.`)
  const rival = [...taken].find((other) => other !== name && other.toLowerCase() === name.toLowerCase())
  if (rival === undefined) return
  throw new NexusError('CONFLICT', `The tool name '${name}' differs from '${rival}' only in case.`, {
    fix: 'Policies compare names in lower case: choose another name.',
  })
}

function make(name: string, factory: ToolFactory, services: Services): Tool {
  let tool: Tool
  try {
    tool = factory(services)
  } catch (cause) {
    const why = errorMessage(cause)
    throw new NexusError('INTERNAL', `The factory of tool '${name}' failed: ${why}`, { cause })
  }
  if (tool.name === name) return tool
  throw new NexusError('INTERNAL', `The factory registered as '${name}' makes a tool named '${tool.name}'.`, {
    fix: `Register it as '${tool.name}', or give the tool that name: policy goes by the name.`,
  })
}

/** Names that MCP clients accept. */
const MCP_NAME = /^[A-Za-z0-9_.-]{1,128}$/

function toDefinition<F extends keyof DefinitionForms>(tool: Tool, form: F, wire: WireNames): DefinitionForms[F] {
  const { name, description, parameters } = tool
  const forms: { [K in keyof DefinitionForms]: () => DefinitionForms[K] } = {
    openai: () => ({ type: 'function', function: { name: wire.toWire(name), description, parameters } }),
    anthropic: () => ({ name: wire.toWire(name), description, input_schema: parameters }),
    mcp: () => ({ name: MCP_NAME.test(name) ? name : wire.toWire(name), description, inputSchema: parameters }),
    json: () => ({ name, description, parameters }),
  }
  return forms[form]()
}
