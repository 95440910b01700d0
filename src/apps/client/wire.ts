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
  /** The most that it and its descendants may use together, within what its parent has left. */
  readonly max_tokens?: number
  readonly max_turns?: number
  /** Without the time in which people are asked. */
  readonly max_seconds?: number
  readonly max_children?: number
  /** Money by `model.price` of the server. */
  readonly max_cost?: number
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
  /** Its own for ever, and no other agent's. */
  readonly key: string
  readonly session_id: string
  readonly depth: number
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
  readonly preset: string
  /** The directory that it is confined to, else the workspace of the server. */
  readonly cwd: string
  /** The only places that it may write to; null: no limit of its own, []: none. */
  readonly write_paths: readonly string[] | null
  readonly state: string
  /** Ids of its ancestors and its own. */
  readonly path: string
  /** ISO 8601. Present for one that ended. */
  readonly ended_at?: string
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

/** Answers of a model and tokens. */
export type Use = {
  readonly steps: number
  readonly input_tokens: number
  readonly output_tokens: number
  readonly total_tokens: number
  /** How many of them are an estimate, because the provider reported none. */
  readonly estimated_tokens?: number
  /** How many of the input the provider read from its cache. */
  readonly cached_tokens?: number
  /** Money by `model.price`. */
  readonly cost?: number
  readonly active_ms?: number
}

/** `max_tokens`, `max_turns`, `max_time_ms`, `max_children`, `max_depth`, `max_cost`; what is absent has no limit. */
export type Limits = Readonly<Record<string, number>>

export type AgentStatusListing = {
  readonly agent: AgentListing
  /** Its own, and with its descendants. */
  readonly used: { readonly own: Use; readonly subtree: Use; readonly turns: number; readonly children: number }
  /** Its own limits; `left` also has those of its ancestors. */
  readonly budget: Limits
  readonly left: Limits
  readonly context: { readonly message_count: number; readonly system_prompt: boolean }
  /** Open questions of it and its descendants. */
  readonly questions: readonly QuestionListing[]
}

export type QuestionListing = {
  readonly approval_id: string
  readonly agent_path: string
  readonly tool: string
  readonly command: string
}

/** A message and its turn. */
export type TurnListing = {
  readonly turn_id: string
  readonly session_id: string
  readonly request_id: string | null
  /** `queued`, `running`, `waiting`; over: `done`, `cancelled`, `dropped`, `interrupted`. */
  readonly state: string
  /** Present when it is over: `done`, `cancelled`, `max-iterations`, `stopped`, `failed`. */
  readonly end?: string
  readonly content?: string
  readonly error?: { readonly code: string; readonly message: string; readonly fix?: string }
  readonly used: Use
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
  /** Why it is asked, where the policy of the agent alone does not ask. */
  readonly why: string | null
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
  list_agents: { params: { readonly ended?: boolean }; result: { readonly agents: readonly AgentListing[] } }
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
      /** The name of the program that sends, for the log and the trace. */
      readonly source?: string
      /** The agent that sends, which then reaches no more than it does. */
      readonly source_agent_id?: string
    }
    result: MessageResult
  }
  resume: { params: None; result: { readonly turns: readonly TurnListing[] } }
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
  get_status: { params: None; result: AgentStatusListing }
  get_turn: { params: { readonly request_id: string | number }; result: TurnListing }
  get_tokens: { params: None; result: AgentTokens }
  get_context: { params: None; result: { readonly message_count: number; readonly system_prompt: boolean } }
  get_messages: {
    params: { readonly offset?: number; readonly limit?: number; readonly after?: number }
    result: MessagesPart
  }
  get_call: { params: { readonly call_id: string }; result: CallListing }
}
