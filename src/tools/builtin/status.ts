import { type JsonObject, type Services, serviceKey, succeeded, type Tool } from '../../kernel/index.ts'
import { defineTool } from '../define.ts'

export interface AgentStatus extends JsonObject {
  readonly agent: string
  /** Null outside a session. */
  readonly session: string | null
  /** Names of the tools that it may call now. */
  readonly tools: readonly string[]
  /** Names of the tools that ask a person first. */
  readonly asks: readonly string[]
  readonly skills: { readonly ready: number; readonly held: number }
  /** Null when it has none. */
  readonly workspace: string | null
}

/** Read at each call. */
export const AGENT_STATUS = serviceKey<() => AgentStatus>('agentStatus')

/** `status{}`: the agent itself: who it is, which tools and skills it has. Source: decisions, "status". */
export function createStatusTool(services: Services): Tool {
  return defineTool({
    name: 'status',
    description:
      'Show the facts about this agent: its id and session, the tools that it may call, and how many skills it has.',
    parameters: { type: 'object', properties: {} },
    execute: () => {
      const status = services.require(AGENT_STATUS)()
      const { agent, session, tools, asks, skills, workspace } = status
      const lines = [
        `Agent ${agent}${session === null ? '' : ` in session ${session}`}.`,
        `Tools: ${tools.join(', ') || 'none'}.`,
        ...(asks.length > 0 ? [`A person is asked before: ${asks.join(', ')}.`] : []),
        `Skills: ${skills.ready} ready, ${skills.held} held.`,
        ...(workspace === null ? [] : [`Workspace: ${workspace}`]),
      ]
      return succeeded(lines.join('\n'), status)
    },
  })
}
