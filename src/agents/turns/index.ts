// agents: one agent and its turns on the AI SDK: ask the model, work off its calls through the agent, keep the history.
export { createAgent } from './agent.ts'
export type { Agent, AgentOptions, SendOptions } from './api.ts'
export { type Cut, type CutBy, cutOf } from './context/cuts.ts'
export type { AgentContext, AgentTokens } from './context/read-context.ts'
export type { ContextSettings } from './context/settings.ts'
export { authorOf, hasMessage, type MessageAuthor } from './agent-messages.ts'
export type { AgentEvent, TurnResult } from './events.ts'
export type { TurnHooks, TurnSpent, TurnStop } from './hooks.ts'
export { DEFAULT_LIMITS } from './limits.ts'
export {
  type ConfiguredModel,
  type ModelEnvironment,
  type ModelRequestOptions,
  resolveModel,
} from './model/resolve-model.ts'
export { betweenTags } from './stored-message.ts'
export { resultOf } from './stored-result.ts'
export { type ModelChoice, type ModelPrice, PROVIDERS } from './model/open-model.ts'
export type { TurnAgent } from './turn-context.ts'
