/** protocol: the words that the parent and its runner exchange over Node's IPC channel. Types only. */

/** Limits of one command, and of all commands of a project. Sizes in bytes; each process has its own `dataBytes` and `fileSizeBytes`. */
export interface CommandLimits {
  /** Memory of all processes of one command together. */
  readonly memoryBytes: number
  /** CPU time of all processes of one command together; undefined = as much as its time allows. */
  readonly cpuSeconds?: number
  /** A command ends when less of the disk is left that it can fill, or less than half of what was left when it began. */
  readonly freeDiskBytes: number
  readonly projectMemoryBytes: number
  readonly projectProcesses: number
  /** CPU time of the running commands of a project together; undefined = as much as their time allows. */
  readonly projectCpuSeconds?: number
  /** Processes and threads of one command together. */
  readonly processes: number
  readonly openFiles: number
  /** Largest file that can be written. */
  readonly fileSizeBytes: number
  /** Private writable memory of one process. */
  readonly dataBytes: number
  /** Size of the command's own /dev/shm. */
  readonly sharedMemoryBytes: number
}

/** The policy of one runner, fixed for its life. */
export interface Policy {
  /** Absolute path of bubblewrap. */
  readonly bwrap: string
  /** Absolute path of the program that sets the filter of system calls and becomes the command. */
  readonly helper: string
  /** Absolute path of `unshare`; absent where no workspace is layered. */
  readonly unshare: string | undefined
  /** Absolute path of socat; absent where it is not installed, and no command reaches a host. */
  readonly relay: string | undefined
  /** Paths that commands may read, besides their workspace and temp. */
  readonly readable: readonly string[]
  /** A directory of the runner's own; it and everything in it is removed when the runner ends. */
  readonly liveDirectory: string
  readonly limits: CommandLimits
  /** The group of the kernel in which commands get theirs; undefined where there is none. */
  readonly group: string | undefined
}

/** A directory of the host and the place where the command sees it. */
export interface Mount {
  readonly source: string
  readonly path: string
}

/** One place of a workspace as a command sees it, relative to it; `''` is the workspace itself. */
export interface Seen {
  readonly path: string
  /** `empty`: a directory with nothing in it. `closed`: a file that cannot be opened. `host`: read-only, from the workspace, not its mirror. */
  readonly as: 'host' | 'read' | 'write' | 'empty' | 'closed'
}

/** A place besides the workspace: part of a program of the person, or a cache. `closed`: a file that cannot be opened. */
export type SeenPlace =
  | { readonly as: 'link'; readonly path: string; readonly target: string }
  | { readonly as: 'read' | 'write'; readonly path: string; readonly source: string }
  | { readonly as: 'closed'; readonly path: string }

/** The way of one command to its hosts. */
export interface Way {
  /** The socket of its proxy, on the host. */
  readonly socket: string
  /** A file with the certificates that programs trust, on the host. */
  readonly certificates: string | undefined
  /** Ports of the host's own loopback that the command finds at the same port. */
  readonly localPorts: readonly number[]
}

export interface RunMessage {
  readonly type: 'run'
  readonly id: number
  /** In the order in which they are made. */
  readonly places: readonly SeenPlace[]
  readonly workspace: Mount
  /** The visible parts of the workspace, in the order in which they are mounted; undefined = all of it, writable. Only of a mirror. */
  readonly view: readonly Seen[] | undefined
  /** The directory of the command in which the overlay is mounted; undefined without one. */
  readonly layer: string | undefined
  /** Absolute directory to start in, as the command sees it. */
  readonly startIn: string
  /** The command's whole environment. */
  readonly env: Readonly<Record<string, string>>
  readonly command: string
  /** Undefined: it reaches only its own loopback. */
  readonly way: Way | undefined
  /** Whether its standard input comes, piece by piece; else it is empty. */
  readonly hasInput: boolean
  readonly timeoutMs: number
  readonly graceMs: number
  /** Most bytes of each stream that are sent. */
  readonly maxOutputBytes: number
}

export type ToRunner =
  | { readonly type: 'configure'; readonly policy: Policy }
  | RunMessage
  | { readonly type: 'cancel'; readonly id: number }
  /** The answer to one `wants`; without bytes the input is at its end. */
  | { readonly type: 'input'; readonly id: number; readonly bytes: Uint8Array | undefined }

export interface EndMessage {
  readonly type: 'end'
  readonly id: number
  readonly end: 'exit' | 'timeout' | 'cancelled' | 'killed'
  readonly exitCode: number
  readonly stdoutBytes: number
  readonly stderrBytes: number
  readonly durationMs: number
  readonly notes: readonly string[]
  /** Processes that still ran when the command ended, by their words; at most 5, as they said it themselves. */
  readonly survivors?: readonly string[]
  /** Files in the command's home at its end, as `CommandResult` has them. */
  readonly leftInHome?: readonly string[]
}

export type FromRunner =
  | { readonly type: 'ready' }
  | { readonly type: 'unavailable'; readonly reason: string }
  | { readonly type: 'output'; readonly id: number; readonly stream: 'stdout' | 'stderr'; readonly bytes: Uint8Array }
  /** The command has taken all input that came. */
  | { readonly type: 'wants'; readonly id: number }
  | EndMessage
  /** The command was not started, or the sandbox broke under it. */
  | { readonly type: 'failed'; readonly id: number; readonly reason: string }
