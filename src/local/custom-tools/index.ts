/** custom-tools: the tools of `skills.custom`. A broken module is a finding and stops no other one. */
import { dirname, isAbsolute } from 'node:path'
import { explainConfig, type LoadedConfig, nameOf } from '../../config/index.ts'
import { type Diagnostic, type Services, type Tool, toSafeLine } from '../../kernel/index.ts'
import { BUILTIN_TOOLS, type Registry } from '../../tools/index.ts'
import { CUSTOM, type Message } from '../messages.ts'
import { loadModule, type ModuleName, readModuleName, shortReason } from './load-module.ts'
import { type MakeTools, ModuleFault } from './tools-of-export.ts'
import { watchImports } from './watch-imports.ts'

export interface CustomTools {
  /** Adds the tools to an agent's registry. Never throws: what cannot be added is a finding. */
  register(registry: Registry): void
  /** Findings about modules and registering; it grows. */
  readonly diagnostics: readonly Diagnostic[]
  /** Absolute: what decides which code the modules run. */
  readonly places: readonly string[]
}

interface Loaded {
  readonly module: ModuleName
  readonly make: MakeTools
  readonly report: (message: Message) => void
}

/** Imports every module that trusted configuration names. What an untrusted workspace names was left out when it was read. */
export async function loadCustomTools(loaded: LoadedConfig): Promise<CustomTools> {
  const { custom } = loaded.config.skills
  const { originOf } = await explainConfig(loaded)
  const found = new Map<string, Diagnostic>()
  const modules: Loaded[] = []
  const { places } = await watchImports(async () => {
    for (const [index, text] of custom.entries()) {
      const keys = ['skills', 'custom', index]
      const { path = 'nexus.yaml', line, column } = originOf(keys) ?? {}
      const place = { path, line, column, subject: nameOf(keys) }
      const report = (message: Message): void =>
        void found.set(`${text} ${message.message}`, { severity: 'error', ...place, ...message })
      const module = readModuleName(text)
      try {
        const from = isAbsolute(path) ? dirname(path) : loaded.nexusHome
        modules.push({ module, make: await loadModule(module, { from }), report })
      } catch (error) {
        report(CUSTOM.broken({ module: shown(module), why: reasonOf(error) }))
      }
    }
  })
  return {
    places,
    register: (registry) => {
      for (const each of modules) registerAll(each, registry)
    },
    get diagnostics() {
      return [...found.values()]
    },
  }
}

function registerAll({ module, make, report }: Loaded, registry: Registry): void {
  for (const tool of made(make, registry.services, (error) =>
    report(CUSTOM.broken({ module: shown(module), why: reasonOf(error) })),
  )) {
    const problem = nameProblem(tool.name, registry)
    if (problem === undefined) registry.register(tool.name, () => tool, { owner: shown(module) })
    else report(CUSTOM.taken({ module: shown(module), tool: toSafeLine(tool.name), why: problem }))
  }
}

function made(make: MakeTools, services: Services, onError: (error: unknown) => void): readonly Tool[] {
  try {
    return make(services)
  } catch (error) {
    onError(error)
    return []
  }
}

/** Names that mean something to policies, whether the tool is there now or not. */
const SHIPPED: ReadonlySet<string> = new Set([...BUILTIN_TOOLS.map(({ name }) => name.toLowerCase()), 'echo'])

/** Completes "because …". */
function nameProblem(name: string, registry: Registry): string | undefined {
  if (SHIPPED.has(name.toLowerCase())) return 'Nexus ships a tool of that name'
  if (/^(?:mcp:|skills\.|nexus_)/i.test(name)) return 'names that begin so belong to Nexus'
  const owner = registry.ownerOf(name)
  return registry.has(name) ? `${owner ?? 'the program'} has a tool of that name` : undefined
}

function shown({ module, exported }: ModuleName): string {
  return toSafeLine(exported === 'default' ? module : `${module}#${exported}`)
}

function reasonOf(error: unknown): string {
  return error instanceof ModuleFault ? error.message : `it failed: ${shortReason(error)}`
}
