/** The package as users have it: packed, and installed into an empty directory. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { globSync, mkdirSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { ROOT } from './source-tree.ts'

/** What npm says when there is no registry to be reached; then there is nothing to test. */
const OFFLINE =
  /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|ENOTCACHED|SELF_SIGNED_CERT_IN_CHAIN)\b/

export interface Answer {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

/** Runs with this Node first on the PATH, so that `#!/usr/bin/env node` finds it. */
export function run(
  command: string,
  args: readonly string[],
  { cwd, env = process.env }: { readonly cwd: string; readonly env?: NodeJS.ProcessEnv },
): Answer {
  const path = [dirname(process.execPath), process.env['PATH'] ?? ''].join(delimiter)
  return spawnSync(command, args, { cwd, env: { ...env, PATH: path }, encoding: 'utf8' })
}

/** Path of the packed tarball. */
export function pack(directory: string): string {
  const packed = run('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', directory], { cwd: ROOT })
  assert.equal(packed.status, 0, packed.stderr)
  const [file = ''] = globSync('*.tgz', { cwd: directory })
  return join(directory, file)
}

/** Installs a package into a new directory. Gives why npm cannot reach its registry, where it cannot. */
export function install(directory: string, what: string): string | undefined {
  mkdirSync(directory)
  assert.equal(run('npm', ['init', '--yes'], { cwd: directory }).status, 0)
  const flags = ['--omit=dev', '--ignore-scripts', '--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error']
  // npm waits 70 s between its attempts, so a machine without a registry would take minutes to say so.
  const attempts = ['--fetch-retry-mintimeout=500', '--fetch-retry-maxtimeout=2000']
  const { status, stderr } = run('npm', ['install', ...flags, ...attempts, what], { cwd: directory })
  const offline = OFFLINE.exec(stderr)?.[0]
  if (offline === undefined) assert.equal(status, 0, stderr)
  return offline
}
