/** pipes: real pipes for a command's output. Node's own are sockets, and `> /dev/stderr` fails on a socket. */
import { execFile } from 'node:child_process'
import { closeSync, constants, mkdtempSync, openSync } from 'node:fs'
import { Socket } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** Named pipes of one command; used again by a later one when all writers are gone. */
interface Names {
  readonly stdout: string
  readonly stderr: string
}

/** Both streams of one command: ends to write to, for the child, and ends to read from. */
export interface OutputPipes {
  readonly stdout: Socket
  readonly stderr: Socket
  /** Descriptors for the child's 1 and 2. */
  readonly ends: readonly [number, number]
  /** Closes our copies of the child's ends: with them open the end of the output would never come. */
  closeEnds(): void
  /** Ends the reading; `isClean` says that the other side is closed, so that the names can be used again. */
  release(isClean: boolean): void
}

/** Keeps the names that are free. */
export class PipePool {
  readonly #directory: string
  readonly #free: Names[] = []

  constructor(directory: string) {
    this.#directory = directory
  }

  async open(): Promise<OutputPipes> {
    const names = this.#free.pop() ?? (await createNames(this.#directory))
    const stdout = openBoth(names.stdout)
    const stderr = openBoth(names.stderr)
    return {
      stdout: stdout.reader,
      stderr: stderr.reader,
      ends: [stdout.end, stderr.end],
      closeEnds: () => {
        closeSync(stdout.end)
        closeSync(stderr.end)
      },
      release: (isClean) => {
        stdout.reader.destroy()
        stderr.reader.destroy()
        if (isClean) this.#free.push(names)
      },
    }
  }
}

async function createNames(directory: string): Promise<Names> {
  const place = mkdtempSync(join(directory, 'pipes-'))
  const names = { stdout: join(place, 'stdout'), stderr: join(place, 'stderr') }
  await promisify(execFile)('mkfifo', ['-m', '600', names.stdout, names.stderr])
  return names
}

/** The reader first, without waiting for a writer; then the writer, which finds it. */
function openBoth(path: string): { reader: Socket; end: number } {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  const end = openSync(path, constants.O_WRONLY)
  return { reader: new Socket({ fd: descriptor, readable: true, writable: false }), end }
}
