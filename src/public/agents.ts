/** The entry `nexus-skills/agents`: an agent with a model, a history and the tools of a runtime. */
export {
  type Agent,
  type AgentEvent,
  type AgentOptions,
  createAgent,
  resolveModel,
  type TurnResult,
} from '../agents/turns/index.ts'
