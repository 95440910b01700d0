/** client: speaks with a Nexus server: typed methods over fetch, its events, where its key is, and what listens on a port. */
export { type Client, type ClientOptions, createClient } from './client.ts'
export { ClientError, type ClientErrorKind } from './client-error.ts'
export { type Detected, detectServer, waitForServer } from './detect.ts'
export { discoverKey, type KeyPlaces } from './discover-key.ts'
export type { EventOptions, ServerEvent } from './events.ts'
export type {
  AgentListing,
  AgentRequest,
  AgentStatusListing,
  AgentTokens,
  ApprovalAnswer,
  ApprovalListing,
  CallListing,
  CreatedAgent,
  GlobalMethods,
  AgentMethods,
  MessageResult,
  MessagesPart,
  QuestionListing,
  SkillListing,
  TurnListing,
  Use,
} from './wire.ts'
