/** Whether tests of the local sandbox may be skipped. The product is not asked: a broken sandbox would skip its own tests. */
import { spawnSync } from 'node:child_process'

/** Set by `npm test` and by CI: a sandbox that does not work fails the run instead of skipping its tests. */
const VARIABLES = ['TESTS_REQUIRE_SANDBOX', 'CI']

/** What bubblewrap itself must be able to do, under the uid that commands get. */
const PROBE = ['--unshare-user', '--unshare-net', '--unshare-pid', '--ro-bind', '/', '/', '--proc', '/proc', 'true']
const DROPPED = 200_000

export interface SkipOptions {
  readonly env?: NodeJS.ProcessEnv
  readonly bwrap?: string
}

/** Whether this run decides about a change: then nothing of the sandbox is skipped. */
export function isDeciding(env: NodeJS.ProcessEnv = process.env): boolean {
  const value = VARIABLES.map((name) => env[name]).find((given) => given !== undefined && given !== '')
  return value !== undefined && value !== '0' && value !== 'false'
}

/** Why the tests of the local sandbox are skipped; undefined when they run. */
export function whySkipped({ env = process.env, bwrap = 'bwrap' }: SkipOptions = {}): string | undefined {
  if (isDeciding(env)) return undefined
  const isRoot = process.getuid?.() === 0
  const { status, stderr, error } = spawnSync(bwrap, PROBE, {
    encoding: 'utf8',
    ...(isRoot && { uid: DROPPED, gid: DROPPED }),
  })
  if (status === 0) return undefined
  return `bubblewrap cannot confine commands here: ${(error?.message ?? stderr.trim()) || `exit code ${String(status)}`}`
}
