import type { Diagnostic, OnOutput, Skill, TargetFacts } from '../../kernel/index.ts'
import type { SetsAt } from '../changes/index.ts'
import type { EgressOptions, EgressPolicy, EgressReport, Mask } from '../egress/index.ts'
import type { PathLimits } from './open-paths.ts'

/** The input of a command. Nothing of the host's environment is added to `env`. */
export interface CommandRequest {
  /** A bash command line; at most 100,000 bytes. */
  readonly command: string
  /** The directory the command works in: absolute, on the host. It is the only place it may write to (besides its own temp). */
  readonly workspace: string
  /** Directory to start in, relative to `workspace`; default `.`. */
  readonly cwd?: string
  /** Declared variables only; names that steer loaders and interpreters are refused with INVALID_ARGUMENT. */
  readonly env?: Readonly<Record<string, string>> | undefined
  /** The hosts that the command may reach; absent: none. */
  readonly network?: CommandNetwork | undefined
  /** Host names that contain all that it may reach, as `CallLimits` has them; absent = any. */
  readonly networkDomains?: readonly string[] | undefined
  /** Whose packages it finds in the caches of package managers, and who finds its own; default `untrusted`. */
  readonly cache?: CacheLevel | undefined
  /** Directories that come first on the PATH: results of setups. */
  readonly path?: readonly string[] | undefined
  /** The tool that runs it and its call, for its change set. Default: `command`, of no call. */
  readonly maker?: { readonly tool: string; readonly call?: string }
  /** The parts of `workspace` that the command may read and write, in the form of `CallLimits`; absent = all. A sandbox that cannot narrow it runs nothing. */
  readonly paths?: PathLimits | undefined
  /** Default 30,000. At the end: SIGTERM to the command, 2 s, then everything in its namespace is killed. */
  readonly timeoutMs?: number
  /** Most bytes kept of stdout and of stderr, each; default 204,800. The rest is counted and dropped. */
  readonly maxOutputBytes?: number | undefined
  /** Most bytes of each stream given to `onOutput`; default, and at least, `maxOutputBytes`. They are passed on, not kept. */
  readonly maxLiveBytes?: number | undefined
  /** Its standard input: a text of at most 16 MiB, or pieces, which are read as far as the command reads. A stream is destroyed at its end. Absent: it is empty. */
  readonly stdin?: string | AsyncIterable<Uint8Array> | undefined
  /** Live output as it comes, up to `maxLiveBytes`; must not throw. While it blocks, the command's writing waits. */
  readonly onOutput?: OnOutput | undefined
  /** All bytes of the output as they come, for the caller that keeps them; must not throw. While it blocks, the command's writing waits. */
  readonly onBytes?: OnBytes | undefined
}

/** The hosts of one command. With `ask` a person may add one while it runs. */
export interface CommandNetwork
  extends Pick<EgressPolicy, 'allowed' | 'denied'>, Pick<EgressOptions, 'ask' | 'setting' | 'net'> {
  /** Files of the host with all certificates (PEM) that programs of the command trust; absent: those of the system. */
  readonly certificates?: readonly string[] | undefined
  /** Keys that the command gets placeholders for. */
  readonly masks?: readonly Mask[] | undefined
}

/** Commands of the settings (`setup`), of a skill that is trusted, and all others: none gets packages that a lower one downloaded. */
export type CacheLevel = 'setup' | 'trusted' | 'untrusted'

/** One command that prepares what the commands of a skill need. */
export interface SetupRequest {
  /** Where it was placed, and whose copy that is. */
  readonly skill: PlacedSkill & { readonly source: Skill }
  /** A bash command line; it starts in the directory of its result, and `{baseDir}` is the skill's. */
  readonly command: string
  readonly network?: CommandNetwork | undefined
  readonly networkDomains?: readonly string[] | undefined
}

/** `path`: directories of the result with programs. `output`: the end of what a setup wrote that failed. */
export type SetupResult =
  | { readonly type: 'ready'; readonly directory: string; readonly path: readonly string[] }
  | { readonly type: 'failed'; readonly output: string }

/** The bytes belong to the receiver until it returns. */
export type OnBytes = (stream: 'stdout' | 'stderr', bytes: Uint8Array) => void

/** How a command ended. An exit code other than 0 is a result, not an error. */
export interface CommandResult {
  /** `exit`: it ended by itself. `timeout`, `cancelled`: we ended it. `killed`: a limit or another signal ended it. */
  readonly end: 'exit' | 'timeout' | 'cancelled' | 'killed'
  /** Exit code, 128 + n for signal n; -1 when we ended it. */
  readonly exitCode: number
  /** UTF-8 text; invalid bytes are U+FFFD. */
  readonly stdout: string
  readonly stderr: string
  readonly stdoutTruncated: boolean
  readonly stderrTruncated: boolean
  /** All bytes that came, kept or not. */
  readonly stdoutBytes: number
  readonly stderrBytes: number
  readonly durationMs: number
  /** Things the caller should know: a changed file that was not taken back, a limit that was reached. */
  readonly notes: readonly string[]
  /** Its changes of the workspace; absent when nothing, and where no change set is made. */
  readonly changes?: CommandChanges
  /** The hosts that it reached and those that were refused; absent where it had no way to any. */
  readonly network?: EgressReport
  /** Processes that still ran when it ended, by their words; they were ended with it. At most 5. */
  readonly stillRunning?: readonly string[]
  /** Files that the command left in its own home, which is gone by now; relative to it, without hidden ones. */
  readonly leftInHome?: readonly string[]
}

/** The change set of a command: `nexus changes show <id>`. Paths are relative to the workspace. */
export interface CommandChanges {
  readonly id: string
  /** Files and links that were changed, made or removed. */
  readonly applied: readonly string[]
  /** Places that wait for a person. */
  readonly held: readonly string[]
}

/** A skill's files where commands can see them: an immutable revision, addressed by its content. */
export interface PlacedSkill {
  /** The skill's directory as the target sees it; what `{baseDir}` becomes. */
  readonly baseDir: string
  readonly treeDigest: string
}

/** Where commands run. One instance serves one project. */
export interface Sandbox {
  readonly kind: 'local' | 'none' | 'e2b' | 'scripted'
  /** Repairs when the sandbox was made: commands of an earlier process that was killed. */
  readonly diagnostics?: readonly Diagnostic[]
  /** Facts that gating may rely on. Never starts a command, and works where commands cannot be confined. */
  facts(): Promise<TargetFacts>
  /** Makes a skill's files visible to commands; the same content is placed once. */
  place(skill: Skill, signal?: AbortSignal): Promise<PlacedSkill>
  /**
   * Runs one command and returns when it and all its descendants are gone.
   * Throws `NexusError` SANDBOX_UNAVAILABLE when commands cannot be confined here (nothing was run),
   * SANDBOX_FAILED when the sandbox itself broke, INVALID_ARGUMENT for a bad request.
   */
  run(request: CommandRequest, signal?: AbortSignal): Promise<CommandResult>
  /**
   * Runs the setup of a skill's revision, unless its result is there: kept by revision, command, system and programs, and read-only
   * from then on. One that failed is not tried again for 10 minutes. Absent or undefined where none is run.
   */
  setUp?(request: SetupRequest, signal?: AbortSignal): Promise<SetupResult | undefined>
  /**
   * Does work that changes a directory while no change of a command is taken back into it, by any process. Absent where none is. The work gets the
   * change sets of the directory, where these are made.
   * Throws FileError EBUSY after a long wait, the reason of the signal, or SANDBOX_UNAVAILABLE.
   */
  alone?<T>(directory: string, work: (sets?: SetsAt) => Promise<T>, signal?: AbortSignal): Promise<T>
  /** Ends all commands and the runner; later calls throw. Safe to call twice. */
  close(): Promise<void>
}
