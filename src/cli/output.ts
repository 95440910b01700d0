import { fstatSync, writeSync } from 'node:fs'

/** One of the two outputs of the process. */
export interface Output {
  /** Writes all of it, in order. A reader that went away (EPIPE) ends the output quietly. */
  write(text: string): void
  readonly isTerminal: boolean
  /** Width of the terminal; undefined for pipes and files. */
  readonly columns: number | undefined
  /** Resolves when everything written has left the process. */
  drained(): Promise<void>
}

/**
 * Pipes and files are written directly and whole: Node's stream, which does the same there, costs a sixth of the start of Node.
 * `stream` is taken for a terminal, and for a pipe that is full and does not let us wait.
 */
export function createOutput(fd: 1 | 2, stream: () => NodeJS.WriteStream): Output {
  const pending = new Set<Promise<void>>()
  let opened: NodeJS.WriteStream | undefined
  let isClosed = false

  const open = (): NodeJS.WriteStream => {
    if (opened) return opened
    opened = stream()
    opened.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error
    })
    return opened
  }
  const queue = (data: string | Uint8Array): void => {
    const target = open()
    const written = new Promise<void>((resolve) => {
      target.write(data, () => resolve())
    })
    pending.add(written)
    void written.then(() => pending.delete(written))
  }
  const isDevice = mayBeTerminal(fd)

  return {
    write(text) {
      if (isClosed) return
      if (opened || isDevice) return queue(text)
      const { rest, end } = writeWhole(fd, Buffer.from(text))
      if (end === 'closed') isClosed = true
      else if (end === 'full') queue(rest)
    },
    get isTerminal() {
      return isDevice && open().isTTY
    },
    get columns() {
      return isDevice ? open().columns : undefined
    },
    drained: async () => {
      await Promise.all(pending)
    },
  }
}

/** The number of /dev/null on Linux; writing to it needs no stream either. */
const NULL_DEVICE = 0x103

/** True for terminals and other devices; false for pipes, files and /dev/null. */
export function mayBeTerminal(fd: number): boolean {
  try {
    const stats = fstatSync(fd)
    return stats.isCharacterDevice() && !(process.platform === 'linux' && stats.rdev === NULL_DEVICE)
  } catch {
    // Not open: Node's stream knows what to do about it.
    return true
  }
}

interface Written {
  readonly end: 'whole' | 'full' | 'closed'
  readonly rest: Uint8Array
}

function writeWhole(fd: number, bytes: Uint8Array): Written {
  let at = 0
  while (at < bytes.length) {
    try {
      at += writeSync(fd, bytes, at)
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      if (code === 'EPIPE') return { end: 'closed', rest: bytes.subarray(at) }
      if (code === 'EAGAIN') return { end: 'full', rest: bytes.subarray(at) }
      if (code !== 'EINTR') throw error
    }
  }
  return { end: 'whole', rest: bytes.subarray(at) }
}
