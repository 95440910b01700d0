/** rpc: the methods of a Nexus server over JSON-RPC 2.0: envelope, checks, and one row for each method. */
export { failureText, prepare, type Prepared, type Route } from './dispatch.ts'
export { type Read, readRequest, type Request } from './envelope.ts'
export { RPC, type RpcFailure, shown } from './failures.ts'
export type { AgentContext, Caller, MethodContext, Served, ServerControls } from './method.ts'
export { createTable, type MethodTable } from './table.ts'
