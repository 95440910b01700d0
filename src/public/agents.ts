/** The entry `nexus-skills/agents`: an agent with a model, a history and the tools of a runtime. */
export {
  type Agent,
  type AgentEvent,
  type AgentOptions,
  createAgent,
  type MessageAuthor,
  resolveModel,
  type SendOptions,
  type TurnHooks,
  type TurnResult,
  type TurnSpent,
  type TurnStop,
} from '../agents/turns/index.ts'
