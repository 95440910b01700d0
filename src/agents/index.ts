// agents: one agent and its turns on the AI SDK: ask the model, work off its calls through the runtime, keep the history.
export { currentOwner as processOwner, isOwnerAlive } from '../store/index.ts'
export { type Agent, type AgentOptions, createAgent, type SendOptions } from './agent.ts'
export type { AgentEvent, AgentListener, NoticeCode, StepUsage, TurnResult, TurnUsage } from './events.ts'
export { type AgentLimits, DEFAULT_LIMITS } from './limits.ts'
export {
  type ConfiguredModel,
  type ModelEnvironment,
  type ModelRequestOptions,
  resolveModel,
} from './model/resolve-model.ts'
export { type ModelChoice, type ProviderName, PROVIDERS } from './model/open-model.ts'
export type { AgentRuntime } from './turn-context.ts'
