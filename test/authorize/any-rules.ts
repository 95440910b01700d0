import fc from 'fast-check'
import { type PolicyRules, PROFILE_NAMES } from '../../src/authorize/index.ts'
import type { Decision, PermissionDelta } from '../../src/kernel/index.ts'

export const TOOLS = [
  'read_file',
  'write_file',
  'run_command',
  'web_fetch',
  'nexus_create',
  'nexus_send',
  'sleep',
  'mcp:a.b',
]
export const PATHS = ['/', '/w', '/w/a', '/w/a/b', '/x']
/** With a capability, only the sandbox of a command is narrowed. */
export const OPTIONS = { capabilities: ['network', 'secrets'] }
export const GROUP_NAMES = ['group:fs', 'group:web', 'group:skills', 'group:nexus', 'group:team']
export const entry = fc.constantFrom(...TOOLS, ...GROUP_NAMES, '*', '*_file', 'mcp:a')
export const capability = fc.constantFrom(
  'sandbox.network',
  'sandbox.*',
  'run_command.secrets',
  'exec.network',
  '*.secrets',
)
export const line = fc.oneof(entry, capability)
export const lines = fc.array(line, { maxLength: 2 })
/** Any policy: also one that replaces shipped groups, with capabilities in them. */
export const policy: fc.Arbitrary<PolicyRules> = fc.record({
  profile: fc.oneof({ weight: 3, arbitrary: fc.constant('full' as const) }, fc.constantFrom(...PROFILE_NAMES)),
  allow: lines,
  ask: lines,
  deny: lines,
  groups: fc
    .dictionary(fc.constantFrom(...GROUP_NAMES), fc.array(line, { maxLength: 3 }), { maxKeys: 2 })
    .map((groups) => new Map(Object.entries(groups))),
})
export const paths = fc.option(fc.array(fc.constantFrom(...PATHS), { maxLength: 2 }), { nil: null })
export const toolPermission = fc.record(
  {
    enabled: fc.boolean(),
    allowedPaths: paths,
    timeoutMs: fc.nat(3),
    requiresConfirmation: fc.boolean(),
  },
  { requiredKeys: [] },
)
export const delta: fc.Arbitrary<PermissionDelta> = fc.record(
  {
    disableTools: fc.array(entry, { maxLength: 2 }),
    enableTools: fc.array(entry, { maxLength: 2 }),
    allowedPaths: paths,
    addBlockedPaths: fc.array(fc.constantFrom(...PATHS), { maxLength: 1 }),
    toolOverrides: fc.dictionary(entry, toolPermission, { maxKeys: 2 }),
  },
  { requiredKeys: [] },
)
export const below = (path: string, directory: string): boolean =>
  path === directory || path.startsWith(directory === '/' ? '/' : `${directory}/`)

/** What limits let a call do, point by point. */
export function lets(limits: Decision['limits']): Readonly<Record<string, boolean>> {
  const { readPaths, writePaths, blockedPaths = [], networkDomains, secrets, deniedCapabilities = [] } = limits
  const reaches = (list: readonly string[] | undefined, path: string): boolean =>
    !blockedPaths.some((blocked) => below(path, blocked)) &&
    (list === undefined || list.some((directory) => below(path, directory)))
  return {
    ...Object.fromEntries(PATHS.map((path) => [`read ${path}`, reaches(readPaths, path)])),
    ...Object.fromEntries(PATHS.map((path) => [`write ${path}`, reaches(writePaths, path)])),
    'any host': networkDomains === undefined,
    'any secret': secrets === undefined,
    network: !deniedCapabilities.includes('network'),
    secrets: !deniedCapabilities.includes('secrets'),
    'no confirmation': limits.confirmation !== true,
  }
}
