/** tools-of-export: the four forms in which a module may give tools, as one: a function of an agent's services. */
import { type JsonSchema, type Services, type Tool } from '../../kernel/index.ts'
import { defineTool, toOutcome } from '../../tools/index.ts'

/** Gives the tools of one agent. Throws when they cannot be used. */
export type MakeTools = (services: Services) => readonly Tool[]

/** The fault of a module: completes "the module … cannot be used: …". */
export class ModuleFault extends Error {}

/** One tool, several, a factory of services, or a class with `getTools()` and `execute(tool, args)`. Source: seed 002, "Custom Skills". */
export function toolsOfExport(exported: unknown): MakeTools {
  if (isToolClass(exported)) return (services) => toolsOfObject(new exported(services))
  if (typeof exported === 'function')
    return (services) => toolsOf((exported as (services: Services) => unknown)(services))
  const tools = toolsOf(exported)
  return () => tools
}

function toolsOf(given: unknown): readonly Tool[] {
  if (given instanceof Promise) {
    // Its caller gets the time limit as an error; a later failure must not end the process.
    given.catch(() => undefined)
    throw new ModuleFault('its factory returns a promise; use await at the top of the module instead')
  }
  if (isToolObject(given)) return toolsOfObject(given)
  return (Array.isArray(given) ? given : [given]).map(toTool)
}

function toTool(given: unknown): Tool {
  const { execute } = Object(given) as Partial<Tool>
  if (typeof execute !== 'function')
    throw new ModuleFault('it gives no tool: { name, description, parameters, execute }')
  return defineTool(withParameters(given as Tool))
}

interface Described {
  readonly name: string
  readonly description: string
  readonly parameters: JsonSchema
}

/** Checked here, so that what is missing is named in words. */
function withParameters<Given extends Described>(given: Given): Given {
  for (const key of ['name', 'description'] as const)
    if (typeof given[key] !== 'string') throw new ModuleFault(`a tool of it has no ${key}`)
  if (typeof given.parameters !== 'object') throw new ModuleFault(`its tool '${given.name}' has no parameters`)
  return given
}

interface ToolObject {
  getTools(): readonly Described[]
  execute(tool: string, args: unknown, context: unknown): unknown
}

function isToolObject(given: unknown): given is ToolObject {
  const { getTools, execute } = Object(given) as Partial<ToolObject>
  return typeof getTools === 'function' && typeof execute === 'function'
}

function isToolClass(given: unknown): given is new (services: Services) => ToolObject {
  return typeof given === 'function' && isToolObject(given.prototype)
}

function toolsOfObject(owner: ToolObject): readonly Tool[] {
  const described = owner.getTools()
  if (!Array.isArray(described)) throw new ModuleFault('its getTools() returns no list')
  return (described as readonly Described[]).map((each) => {
    const { name, description, parameters } = withParameters(each)
    return defineTool({
      name,
      description,
      parameters,
      execute: async (args, context) => toOutcome(name, await owner.execute(name, args, context)),
    })
  })
}
