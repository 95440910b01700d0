import type { JsonObject } from '../../kernel/index.ts'

/** The settings without any file, written by `npm run schema`: the schema is not loaded for them. */
// oxfmt-ignore
export const NO_FILE: JsonObject = {
  "skills": {"load":{"extraDirs":[],"watch":false,"watchDebounceMs":250},"skill_dirs":[],"disabled_skills":[],"custom":[],"sources":[],"install":{"httpHosts":[]},"entries":{},"surface":["load_skill","read_skill_file"],"prompt":{"budgetChars":12000,"style":"markdown"},"refreshOnCall":true},
  "agents": [{"id":"main","tools":{"profile":"full","allow":[],"ask":[],"deny":[]}}],
  "permissions": {"presets":{},"destructiveTools":[]},
  "tools": {"groups":{}},
  "execution": {"sandbox":"local","timeoutMs":30000,"maxOutputBytes":204800,"limits":{},"programs":[],"workspace":{"protected":[],"writable":[]},"changes":{"keepDays":14,"maxBytes":67108864},"network":{"allowedDomains":[],"deniedDomains":[]}},
  "limits": {"maxIterations":50,"toolTimeoutMs":30000,"maxConcurrentTools":10,"maxRunning":8},
  "approvals": {"expiresMs":600000,"waitingExpiresMs":604800000},
  "search": {"maxResults":5},
  "server": {"port":8765,"host":"127.0.0.1","allowPlainHttp":false,"ceiling":"trusted","idleTimeoutMs":0,"shutdownTimeoutMs":10000,"requestTimeoutMs":30000,"maxBodyBytes":1048576,"maxConnections":32,"maxWaiting":1000,"maxStreams":1000,"allowedHosts":[],"allowedOrigins":[],"console":true},
  "telemetry": {"content":false},
  "store": {"type":"sqlite","synchronous":"full","events":{"maxAgeMs":2592000000,"maxRows":100000},"retention":{"sessions":{},"ledger":{}},"pool":{}},
  "mcp": {"tools":[]}
}

/** Maps whose keys are names that a person chooses. Variables and headers are not among them: their values are secrets. */
// oxfmt-ignore
export const NAMED_MAPS: readonly string[] = [
  "skills.entries",
  "agents.*.permissions.toolOverrides",
  "agents.*.ceiling.permissions.toolOverrides",
  "permissions.presets",
  "permissions.presets.*.tools",
  "tools.groups",
  "secrets.providers",
  "mcp.servers"
]

/** Settings of which the schema knows nothing, at any depth. */
// oxfmt-ignore
export const FREE_MAPS: readonly string[] = [
  "skills.entries.*.config",
  "tools"
]
