/** setup: one command per revision of a skill, whose result its commands read: a directory beside the placed skill. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { createSha256, makeDirectory } from '../../../kernel/index.ts'
import { SYSTEM_PATH } from '../../host/index.ts'
import { withLock } from '../lock.ts'
import { CommandOutput } from '../output.ts'
import { GRACE_MS } from '../request.ts'
import { tryRemoveTree } from '../runner/temp.ts'
import type { SetupRequest, SetupResult } from '../sandbox.ts'
import type { Connection } from './connection.ts'
import { cachePlaces, insideEnvironment } from './facts.ts'
import { failureOf, forgetFailure, recordFailure } from './failed-setups.ts'
import type { ForCommand } from './mounted.ts'
import type { LocalSettings } from './options.ts'
import type { Stage } from './stage.ts'
import { identityDirectory, lockFile, type ProjectState } from './state.ts'
import { openWay, type WayOptions } from './way.ts'

/** Installing takes longer than a command may. */
const SETUP_MS = 600_000
const MAX_OUTPUT_CHARS = 4_000
const OUTPUT_BYTES = 1024 * 1024
/** Directories of a result in which package managers put programs. */
const PROGRAMS = ['venv/bin', '.venv/bin', 'node_modules/.bin', 'bin'] as const

interface SetupOptions extends Omit<WayOptions, 'identity'> {
  readonly settings: LocalSettings
  readonly state: ProjectState
  readonly stage: Stage
  readonly connection: Connection
  readonly programs: ForCommand
}

/** Gives the result that is there, or makes it: elsewhere, then renamed, so it is whole or absent. One process at a time. */
export async function setUp(request: SetupRequest, options: SetupOptions, signal?: AbortSignal): Promise<SetupResult> {
  const { settings, programs } = options
  const { skill, command } = request
  const home = dirname(skill.baseDir)
  const key = createSha256()
    .update([skill.treeDigest, command, process.platform, process.arch, process.version, programs.stamp].join('\0'))
    .digest('hex')
    .slice(0, 24)
  const directory = join(home, `setup-${key}`)
  if (existsSync(`${directory}.done`)) return ready(directory)
  return withLock(
    lockFile(settings, home),
    async () => {
      if (existsSync(`${directory}.done`)) return ready(directory)
      const failed = failureOf(settings, skill.source, command)
      if (failed?.key === key) return { type: 'failed', output: failed.output }
      return make({ ...request, directory, key }, options, signal)
    },
    { signal },
  )
}

async function make(
  request: SetupRequest & { readonly directory: string; readonly key: string },
  options: SetupOptions,
  signal: AbortSignal | undefined,
): Promise<SetupResult> {
  const { skill, command, directory, key } = request
  const { settings, state, liveDirectory } = options
  const work = identityDirectory(mkdtempSync(join(liveDirectory, 'setup-')), state.identity)
  // A process that was killed may have left one without its mark.
  await tryRemoveTree(directory)
  // The place where it is seen while it is made.
  makeDirectory(directory, { mkdirSync, statSync, mode: 0o755 })
  try {
    const { exitCode, said } = await run(request, { ...options, work }, signal)
    if (exitCode !== 0) {
      const output = said.trimEnd().slice(-MAX_OUTPUT_CHARS)
      // One that was stopped may work.
      if (signal?.aborted !== true) recordFailure(settings, { skill: skill.source, command, key, output })
      return { type: 'failed', output }
    }
    forgetFailure(settings, skill.source, command)
    rmdirSync(directory)
    renameSync(work, directory)
    // Its content belongs to the user of commands; mounted read-only, it stays as it is.
    chmodSync(directory, 0o755)
    linkModules(directory)
    writeFileSync(`${directory}.done`, '')
    return ready(directory)
  } finally {
    await tryRemoveTree(work)
  }
}

/** Nothing of the workspace is there, and no variable of the skill. */
async function run(
  request: SetupRequest & { readonly directory: string },
  { settings, state, stage, connection, programs, work, ...wayParts }: SetupOptions & { readonly work: string },
  signal: AbortSignal | undefined,
): Promise<{ readonly exitCode: number; readonly said: string }> {
  const { skill, command, directory } = request
  const { network, networkDomains } = request
  const way = await openWay({ network, networkDomains }, { ...wayParts, identity: state.identity })
  const output = new CommandOutput({
    maxOutputBytes: OUTPUT_BYTES,
    maxLiveBytes: 0,
    onOutput: undefined,
    onBytes: undefined,
  })
  const path = [...programs.first, stage.bin, ...SYSTEM_PATH, ...programs.last]
  try {
    const end = await connection.run(
      {
        workspace: { source: work, path: directory },
        view: undefined,
        layer: undefined,
        startIn: directory,
        places: [...programs.seen, ...cachePlaces(state.caches.setup)],
        env: { ...insideEnvironment(settings, { path, workspace: directory }), ...way?.env },
        command: command.replaceAll('{baseDir}', skill.baseDir),
        way: way?.mounted,
        hasInput: false,
        timeoutMs: SETUP_MS,
        graceMs: GRACE_MS,
        maxOutputBytes: OUTPUT_BYTES,
      },
      { signal, onBytes: (stream, bytes) => output.add(stream, bytes) },
    )
    const { stdout, stderr } = output.finish(end)
    const late = end.end === 'timeout' ? [`It took longer than ${SETUP_MS / 60_000} minutes.`] : []
    return { exitCode: end.exitCode, said: [stdout, stderr, ...end.notes, ...late].filter(Boolean).join('\n') }
  } finally {
    await way?.close()
  }
}

function ready(directory: string): SetupResult {
  return {
    type: 'ready',
    directory,
    path: PROGRAMS.map((name) => join(directory, name)).filter((path) => existsSync(path)),
  }
}

/** Modules of Node are looked for in the directories above a script; the one above the skill's is ours. */
function linkModules(directory: string): void {
  if (!existsSync(join(directory, 'node_modules'))) return
  const link = join(dirname(directory), 'node_modules')
  rmSync(`${link}.part`, { force: true })
  symlinkSync(join(basename(directory), 'node_modules'), `${link}.part`)
  renameSync(`${link}.part`, link)
}
