/** clients: the files in which other programs list their MCP servers: what Nexus would write there, and whether it starts from there. */
export { checkServer, type ServerCheck } from './check.ts'
export { type Change, planInstall, planUninstall, readEntry, writeChange } from './plan.ts'
export { type Client, CLIENTS, findClient, type Scope, type Server, type Where } from './table.ts'
