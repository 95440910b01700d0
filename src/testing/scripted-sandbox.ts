/** scripted-sandbox: a sandbox that starts nothing and answers from a script, for tests of what uses a sandbox. */
import { type Clock, NexusError, type OsName, type Skill, systemClock, type TargetFacts } from '../kernel/index.ts'
import {
  checkRequest,
  type CommandRequest,
  type CommandResult,
  createSandbox,
  type PlacedSkill,
  type Sandbox,
} from '../machine/sandbox/index.ts'

/** The scripted result of a command. Left out: end `exit`, code 0, no output. `hang`: it runs until it is cancelled or its time is up. */
export type ScriptedResult = Partial<CommandResult> & { readonly hang?: boolean }

/** Answers one command; may throw a `NexusError`, such as SANDBOX_UNAVAILABLE. */
export type Script = (request: CommandRequest) => ScriptedResult | Promise<ScriptedResult>

export interface ScriptedSandboxOptions {
  /** Default: every command goes well and says nothing. */
  readonly script?: Script
  /** Names that `facts().hasBin` affirms; default bash and node. */
  readonly bins?: readonly string[]
  /** Names that `facts().hasEnv` affirms; default PATH and HOME. */
  readonly env?: readonly string[]
  readonly os?: OsName
  /** Whether commands are said to reach other machines; default not. */
  readonly network?: boolean
  readonly clock?: Clock
}

/** The fake, with what it was asked. */
export interface ScriptedSandbox extends Sandbox {
  readonly kind: 'scripted'
  /** Every request that was accepted, in order. */
  readonly requests: readonly CommandRequest[]
  /** Directories of the skills that were placed. */
  readonly placed: readonly string[]
}

/** Makes the fake. It checks requests as the real ones do; a placed skill stays where it is. */
export function createScriptedSandbox(options: ScriptedSandboxOptions = {}): ScriptedSandbox {
  return new Scripted(options)
}

class Scripted implements ScriptedSandbox {
  readonly kind = 'scripted'
  readonly requests: CommandRequest[] = []
  readonly placed: string[] = []
  readonly #options: ScriptedSandboxOptions
  readonly #closing = new AbortController()

  constructor(options: ScriptedSandboxOptions) {
    this.#options = options
  }

  facts(): Promise<TargetFacts> {
    const { bins = ['bash', 'node'], env = ['PATH', 'HOME'], os = 'linux', network = false } = this.#options
    return Promise.resolve({
      target: 'scripted sandbox',
      os,
      hasBin: (name) => bins.includes(name),
      hasEnv: (name) => env.includes(name),
      network,
    })
  }

  /** Like `none`, which starts nothing: a loader compares the digest with the files it read. */
  async place(skill: Skill, signal?: AbortSignal): Promise<PlacedSkill> {
    this.placed.push(skill.directory)
    const none = await createSandbox({ kind: 'none', projectId: 'scripted' })
    return none.place(skill, signal)
  }

  async run(request: CommandRequest, signal?: AbortSignal): Promise<CommandResult> {
    if (this.#closing.signal.aborted) throw new NexusError('SANDBOX_FAILED', 'the sandbox is closed')
    const checked = checkRequest(request)
    const { timeoutMs, maxOutputBytes } = checked
    if (signal?.aborted) return complete({ end: 'cancelled', exitCode: -1 }, maxOutputBytes)
    this.requests.push(request)
    const { hang = false, ...scripted } = (await this.#options.script?.(request)) ?? {}
    passOn(scripted, checked)
    if (!hang) return complete(scripted, maxOutputBytes)
    return complete({ ...scripted, end: await this.#untilStopped(timeoutMs, signal), exitCode: -1 }, maxOutputBytes)
  }

  close(): Promise<void> {
    this.#closing.abort()
    return Promise.resolve()
  }

  async #untilStopped(timeoutMs: number, signal: AbortSignal | undefined): Promise<'timeout' | 'cancelled'> {
    const { clock = systemClock } = this.#options
    const ending = signal ? AbortSignal.any([signal, this.#closing.signal]) : this.#closing.signal
    try {
      await clock.sleep(timeoutMs, ending)
      return 'timeout'
    } catch (error) {
      if (!ending.aborted) throw error
      return 'cancelled'
    }
  }
}

function passOn(scripted: ScriptedResult, { maxLiveBytes, onOutput, onBytes }: ReturnType<typeof checkRequest>): void {
  for (const stream of ['stdout', 'stderr'] as const) {
    const text = scripted[stream]
    if (!text) continue
    onBytes?.(stream, Buffer.from(text))
    onOutput?.({ stream, text: cut(text, maxLiveBytes).text })
  }
}

function complete(scripted: Partial<CommandResult>, maxBytes: number): CommandResult {
  const stdout = cut(scripted.stdout ?? '', maxBytes)
  const stderr = cut(scripted.stderr ?? '', maxBytes)
  return {
    end: 'exit',
    exitCode: 0,
    stdoutTruncated: stdout.truncated,
    stderrTruncated: stderr.truncated,
    stdoutBytes: stdout.bytes,
    stderrBytes: stderr.bytes,
    durationMs: 1,
    notes: [],
    ...scripted,
    stdout: stdout.text,
    stderr: stderr.text,
  }
}

function cut(text: string, maxBytes: number): { text: string; bytes: number; truncated: boolean } {
  const bytes = Buffer.from(text)
  const kept = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(0, maxBytes), { stream: true })
  return { text: kept, bytes: bytes.length, truncated: bytes.length > maxBytes }
}
