/** The methods of a server as they are on the wire: names, params and results. Source: contracts §1.3 and §1.4. */
import type { JsonObject, JsonValue } from '../../kernel/index.ts'

/** An agent that is to be made. */
export type AgentRequest = {
  /** Default: 8 hex digits. */
  readonly agent_id?: string
  readonly system_prompt?: string
  /** Default: sandboxed. */
  readonly preset?: string
  readonly disable_tools?: readonly string[]
  readonly parent_agent_id?: string
  /** The directory that it is confined to, inside the workspace of the server. */
  readonly cwd?: string
  /** The only places that it may write to. */
  readonly allowed_write_paths?: readonly string[]
  /** `provider/name`. */
  readonly model?: string
  readonly skills?: readonly string[]
  readonly initial_message?: string
  /** Default false: the answer names the request, whose result `send` with the same id gives. */
  readonly wait_for_initial_response?: boolean
}

export type CreatedAgent = {
  readonly agent_id: string
  readonly url: string
  /** Parts of the preset that its parent does not have. */
  readonly clipped?: readonly string[]
  readonly initial_request_id?: string
  readonly initial_status?: 'queued' | 'completed' | 'cancelled' | 'failed'
  readonly response?: string
}

export type AgentListing = {
  readonly agent_id: string
  readonly is_temp: boolean
  /** ISO 8601. */
  readonly created_at: string
  readonly last_action_at: string
  readonly message_count: number
  readonly should_shutdown: boolean
  readonly parent_agent_id: string | null
  readonly child_count: number
  readonly halted_at_iteration_limit: boolean
  readonly model: string
  readonly permission_level: string
  readonly state: string
  /** Ids of its ancestors and its own. */
  readonly path: string
}

export type MessageResult = {
  readonly request_id: string
  readonly content?: string
  readonly cancelled?: true
  /** Present when the turn ended at the limit of iterations. */
  readonly halted_at_iteration_limit?: true
  /** A message to a parent, which is not waited for. */
  readonly status?: 'delivered' | 'queued'
}

export type AgentTokens = {
  readonly system: number
  readonly tools: number
  readonly messages: number
  readonly total: number
  readonly budget: number
  readonly available: number
}

export type MessagesPart = {
  readonly messages: readonly JsonObject[]
  readonly total: number
  readonly offset: number
}

export type CallListing = {
  readonly call_id: string
  readonly tool: string
  readonly state: string
  readonly arguments: JsonObject
  readonly decision: JsonObject
  readonly outcome: JsonValue
  readonly created_at: string
}

export type ApprovalListing = {
  readonly approval_id: string
  readonly agent_path: string
  readonly call_id: string
  readonly tool: string
  readonly command: string
  readonly prefix: string | null
  readonly can_remember: boolean
  readonly created_at: string
  readonly expires_at: string
}

export type ApprovalAnswer = {
  /** False: it came second or too late, and changed nothing. */
  readonly applied: boolean
  readonly state: string
}

export type SkillListing = {
  readonly name: string
  readonly address: string
  readonly description: string
  readonly status: 'ready' | 'held'
  readonly reasons: readonly string[]
}

type None = Record<never, never>

/** Methods of `POST /` and `POST /rpc`. */
export type GlobalMethods = {
  create_agent: { params: AgentRequest; result: CreatedAgent }
  destroy_agent: {
    params: { readonly agent_id: string }
    result: { readonly success: boolean; readonly agent_id: string }
  }
  list_agents: { params: None; result: { readonly agents: readonly AgentListing[] } }
  shutdown_server: { params: None; result: { readonly success: true; readonly message: string } }
  issue_token: {
    params: { readonly agent_id: string; readonly scopes?: readonly string[]; readonly expires_s?: number }
    result: { readonly token: string; readonly expires_at: string; readonly scopes: readonly string[] }
  }
  'approvals.list': { params: None; result: { readonly approvals: readonly ApprovalListing[] } }
  'approvals.respond': {
    params: {
      readonly approval_id: string
      readonly allow: boolean
      readonly remember?: 'exact' | 'prefix'
      readonly by?: string
    }
    result: ApprovalAnswer
  }
  'skills.list': { params: { readonly all?: boolean }; result: { readonly skills: readonly SkillListing[] } }
  'skills.get': { params: { readonly name: string }; result: SkillListing }
  'rpc.discover': { params: None; result: JsonObject }
}

/** Methods of `POST /agent/{id}`. */
export type AgentMethods = {
  send: {
    params: {
      readonly content: string
      readonly request_id?: string | number
      readonly source_agent_id?: string
    }
    result: MessageResult
  }
  cancel: {
    params: { readonly request_id: string | number }
    result: {
      readonly cancelled: boolean
      readonly request_id: string
      readonly reason?: 'not_found_or_completed'
    }
  }
  shutdown: { params: None; result: { readonly success: true } }
  compact: {
    params: { readonly force?: boolean; readonly request_id?: string | number }
    result: MessageResult & { readonly tokens: AgentTokens }
  }
  get_tokens: { params: None; result: AgentTokens }
  get_context: { params: None; result: { readonly message_count: number; readonly system_prompt: boolean } }
  get_messages: {
    params: { readonly offset?: number; readonly limit?: number; readonly after?: number }
    result: MessagesPart
  }
  get_call: { params: { readonly call_id: string }; result: CallListing }
}
