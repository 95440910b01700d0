import { spawn } from 'node:child_process'
import { constants } from 'node:fs'
import { access, realpath, stat } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { DEFAULTS } from '../kernel/index.ts'
import { SYSTEM_PATH } from './local/options.ts'
import { isGroupRunning, signalProcess } from './runner/process-tree.ts'

/** One program to run for a secret. No shell is between. */
export interface SecretCommandRequest {
  /** The program, by absolute path or by a name in the system's directories, and its arguments. */
  readonly command: readonly string[]
  /** All the variables it gets, besides PATH and LANG. */
  readonly environment: Readonly<Record<string, string>>
  readonly input?: string
  readonly signal?: AbortSignal
}

/** `why` completes the sentence "the command …". */
export type SecretCommandResult =
  | { readonly type: 'done'; readonly output: string }
  | { readonly type: 'failed'; readonly why: string }

const TIMEOUT_MS = 5_000
/** The kernel ends a killed group within milliseconds. */
const GROUP_END_MS = 1_000
const GROUP_POLL_MS = 5

/**
 * Runs a program of the operator's own with their rights, and gives what it wrote to stdout once it and all that it started in its
 * group have ended. It is not a skill's command: nothing confines it. Its stderr is dropped, since it may quote the secret.
 */
export async function run(request: SecretCommandRequest): Promise<SecretCommandResult> {
  const [name = '', ...args] = request.command
  const program = await findProgram(name)
  if (program.type === 'refused') return failed(program.why)
  request.signal?.throwIfAborted()
  return new Promise((resolve, reject) => {
    const child = spawn(program.path, args, {
      cwd: '/',
      env: { LANG: 'C.UTF-8', ...request.environment, PATH: SYSTEM_PATH.join(':') },
      stdio: ['pipe', 'pipe', 'ignore'],
      // A group of its own, so that what the program starts ends with it.
      detached: true,
    })
    const chunks: Buffer[] = []
    let size = 0
    let stopped: string | undefined
    const stop = (why: string): void => {
      stopped ??= why
      if (child.pid !== undefined) signalProcess(-child.pid, 'SIGKILL')
      child.stdout.destroy()
    }
    const timer = setTimeout(() => stop(`took longer than ${TIMEOUT_MS / 1000} s`), TIMEOUT_MS)
    const abort = (): void => stop('was interrupted')
    request.signal?.addEventListener('abort', abort, { once: true })
    const cleanUp = (): void => {
      clearTimeout(timer)
      request.signal?.removeEventListener('abort', abort)
    }
    child.stdout.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > DEFAULTS.maxSecretBytes) stop(`wrote more than ${DEFAULTS.maxSecretBytes} bytes`)
      else chunks.push(chunk)
    })
    // A program that does not read its input closes it; that is its business.
    child.stdin.on('error', () => undefined)
    child.stdin.end(request.input ?? '')
    child.on('error', (error: NodeJS.ErrnoException) => {
      cleanUp()
      resolve(failed(`could not be started (${error.code ?? 'unknown'})`))
    })
    child.on('close', (code, signal) => {
      cleanUp()
      void endGroup(child.pid).then(() => {
        if (request.signal?.aborted) reject(request.signal.reason as Error)
        else if (stopped !== undefined) resolve(failed(stopped))
        else if (code !== 0) resolve(failed(`ended with ${code === null ? String(signal) : `code ${code}`}`))
        else resolve(decode(Buffer.concat(chunks)))
      })
    })
  })
}

type Program = { readonly type: 'found'; readonly path: string } | { readonly type: 'refused'; readonly why: string }

/** A program that anyone can change, or that only the caller's PATH knows, must not be given our rights. */
async function findProgram(name: string): Promise<Program> {
  const candidates = isAbsolute(name)
    ? [name]
    : name.includes('/')
      ? []
      : SYSTEM_PATH.map((directory) => join(directory, name))
  for (const path of candidates) {
    try {
      await access(path, constants.X_OK)
      const real = await realpath(path)
      const { mode } = await stat(real)
      if ((mode & 0o170000) !== 0o100000) continue
      if ((mode & 0o002) !== 0) return { type: 'refused', why: 'is a program that anyone can change' }
      return { type: 'found', path }
    } catch {
      // Not there, or not executable: the next directory may have it.
    }
  }
  const where = isAbsolute(name) ? 'is not an executable file' : `is not in ${SYSTEM_PATH.join(', ')}`
  return { type: 'refused', why: where }
}

/** Kills the group and waits until none of it runs; not for ever, since a process may hang in the kernel. */
async function endGroup(group: number | undefined): Promise<void> {
  if (group === undefined || !signalProcess(-group, 'SIGKILL')) return
  const endsAt = performance.now() + GROUP_END_MS
  while (isGroupRunning(group) && performance.now() < endsAt) await delay(GROUP_POLL_MS)
}

function decode(bytes: Buffer): SecretCommandResult {
  try {
    return { type: 'done', output: new TextDecoder('utf-8', { fatal: true }).decode(bytes) }
  } catch {
    return failed('wrote something that is not UTF-8 text')
  }
}

function failed(why: string): SecretCommandResult {
  return { type: 'failed', why }
}
