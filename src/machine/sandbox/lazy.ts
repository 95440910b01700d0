import type { Diagnostic, TargetFacts } from '../../kernel/index.ts'
import type { SetsAt } from '../changes/index.ts'
import type { CommandRequest, CommandResult, PlacedSkill, Sandbox, SetupResult } from './sandbox.ts'

/** Options of the real one. */
interface LazyParts {
  readonly kind: 'local' | 'none'
  /** Known without the sandbox, or asked of it. */
  readonly facts: TargetFacts | undefined
  readonly open: () => Promise<Sandbox>
}

/** A sandbox that is loaded and made at its first command or skill: who only looks pays nothing for it. */
export class LazySandbox implements Sandbox {
  readonly kind: 'local' | 'none'
  readonly #parts: LazyParts
  #opened: Promise<Sandbox> | undefined
  #made: Sandbox | undefined
  #isClosed = false

  constructor(parts: LazyParts) {
    this.kind = parts.kind
    this.#parts = parts
  }

  get diagnostics(): readonly Diagnostic[] {
    return this.#made?.diagnostics ?? []
  }

  async facts(): Promise<TargetFacts> {
    return this.#parts.facts ?? (await this.#open()).facts()
  }

  async place(...args: Parameters<Sandbox['place']>): Promise<PlacedSkill> {
    return (await this.#open()).place(...args)
  }

  async run(request: CommandRequest, signal?: AbortSignal): Promise<CommandResult> {
    return (await this.#open()).run(request, signal)
  }

  async setUp(...args: Parameters<NonNullable<Sandbox['setUp']>>): Promise<SetupResult | undefined> {
    return (await this.#open()).setUp?.(...args)
  }

  async alone<T>(directory: string, work: (sets?: SetsAt) => Promise<T>, signal?: AbortSignal): Promise<T> {
    const sandbox = await this.#open()
    return sandbox.alone ? sandbox.alone(directory, work, signal) : work()
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await (await this.#opened)?.close()
  }

  #open(): Promise<Sandbox> {
    this.#opened ??= this.#parts.open().then(async (sandbox) => {
      this.#made = sandbox
      if (this.#isClosed) await sandbox.close()
      return sandbox
    })
    return this.#opened
  }
}
