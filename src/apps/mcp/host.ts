/** All connections of one `nexus mcp` share the runtime of the workspace, opened when it is first needed, and one agent. */
import { commandFix, newId, toSafeLine } from '../../kernel/index.ts'
import type { Local } from '../../local/index.ts'
import type { ReloadEvent } from '../../runtime/index.ts'
import { type Calls, createCalls, type Opened } from './calls.ts'
import { LOG } from './messages.ts'
import { chooseWorkspace, dependsOnRoots, refuseWide, type WorkspaceSources } from './workspace.ts'

export interface McpOptions {
  /** Clients show it. */
  readonly version: string
  /** The agent whose policy applies; default the first. */
  readonly agentId?: string | undefined
  readonly workspace: WorkspaceSources
  /** The workspace that a directory belongs to. */
  readonly workspaceOf: (directory: string) => string
  /** Opens the runtime for a directory. */
  readonly open: (directory: string) => Promise<Local>
  /** One line for people. */
  readonly log: (line: string) => void
}

export interface Host {
  readonly version: string
  readonly log: McpOptions['log']
  readonly calls: Calls
  /**
   * Opens the runtime, once; after a failure the next call tries again. `listRoots` asks the client, where it can.
   * Throws INVALID_ARGUMENT or FILE_NOT_FOUND for a workspace that cannot be served, and what `open` throws.
   */
  opened(listRoots?: () => Promise<readonly string[]>): Promise<Opened>
  /** Calls back when the skills that the agent sees have changed. Returns what ends it. */
  onSkillsChanged(listener: () => void): () => void
  close(): Promise<void>
}

const NEAREST = 'the nearest directory above with nexus.yaml, .nexus or .git'

export function createHost(options: McpOptions): Host {
  const { workspace, log } = options
  const calls = createCalls()
  const listeners = new Set<() => void>()
  let opening: Promise<Opened> | undefined
  let isClosed = false

  function onReload(event: ReloadEvent, agentId: string): void {
    if (event.type === 'failed') log(LOG.failed(event.error))
    if (event.type === 'notice') log(LOG.failed(event.diagnostic))
    if (event.type !== 'reloaded') return
    const own = event.agents.find((agent) => agent.agentId === agentId)
    if (!own) return
    log(LOG.reloaded([...own.added, ...own.removed, ...own.changed]))
    for (const listener of listeners) listener()
  }

  /** Skills are followed whatever `skills.load.watch` says: clients keep what they were sent. It is not awaited. */
  function follow({ runtime, config }: Local, agentId: string): void {
    const debounceMs = config.skills.load.watchDebounceMs
    runtime.watch({ debounceMs, onReload: (event) => onReload(event, agentId) }).catch((error: unknown) => {
      if (!isClosed) log(LOG.failed(error))
    })
  }

  async function open(listRoots: () => Promise<readonly string[]>): Promise<Opened> {
    const roots = dependsOnRoots(workspace) ? await listRoots() : []
    const directory = chooseWorkspace(workspace, roots)
    // Before anything of it is read.
    refuseWide(options.workspaceOf(directory), NEAREST, workspace)
    const local = await options.open(directory)
    try {
      await local.store.reclaim()
      const agent = local.runtime.openAgent({ id: options.agentId, sessionId: newId() })
      log(LOG.serving(local.workspace.directory, agent.id, agent.catalog().skills.length))
      follow(local, agent.id)
      let notice = local.waitsForTrust ? untrusted(local.workspace.directory) : undefined
      if (notice !== undefined) log(notice)
      return {
        local,
        agent,
        takeNotice: () => {
          const taken = notice
          notice = undefined
          return taken
        },
      }
    } catch (error) {
      await local.close()
      throw error
    }
  }

  return {
    version: options.version,
    log,
    calls,
    opened(listRoots = async () => []) {
      if (isClosed) return Promise.reject(new Error('The server is closed.'))
      opening ??= open(listRoots).catch((error: unknown) => {
        opening = undefined
        log(LOG.failed(error))
        throw error
      })
      return opening
    },
    onSkillsChanged(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    async close() {
      isClosed = true
      listeners.clear()
      await calls.close()
      const last = await opening?.catch(() => undefined)
      await last?.local.close()
    },
  }
}

/** A note for the model or the person, once. */
function untrusted(directory: string): string {
  const { fix } = commandFix('Run in a terminal:', 'trust', directory)
  return `The workspace ${toSafeLine(directory)} is not trusted: nothing of it runs, and its skills get no secrets. The user can trust it. ${fix}`
}
