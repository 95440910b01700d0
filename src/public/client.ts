/** The entry `nexus-skills/client`: speaks with a server that `nexus serve` started. */
export {
  type AgentRequest,
  type Client,
  ClientError,
  type ClientErrorKind,
  type ClientOptions,
  createClient,
  detectServer,
  discoverKey,
  type EventOptions,
  type ServerEvent,
  waitForServer,
} from '../apps/client/index.ts'
