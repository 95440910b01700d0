/** durable: our own files of change sets: written whole, and on the disk when a call returns. */
import { closeSync, openSync, readdirSync, readFileSync, renameSync, writeSync } from 'node:fs'
import { forEachPaced, type Pace, syncFile } from '../files/index.ts'
import { errorCode } from '../../kernel/index.ts'

/** Collects the bytes of a set in one file, which is one write to the disk for thousands of small files. */
export class PackWriter {
  readonly #fd: number
  #size = 0

  constructor(path: string) {
    this.#fd = openSync(path, 'wx', 0o600)
  }

  /** Bytes so far: where the next part begins. */
  get size(): number {
    return this.#size
  }

  add(part: Uint8Array): void {
    for (let done = 0; done < part.length;) done += writeSync(this.#fd, part, done)
    this.#size += part.length
  }

  /** Returns when the bytes would survive a loss of power. */
  async finish(): Promise<void> {
    try {
      await syncFile(this.#fd)
    } finally {
      closeSync(this.#fd)
    }
  }
}

/** Empty for a directory that is not there. */
export function namesIn(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return []
    throw error
  }
}

/** Undefined for a file that is not there. */
export function readText(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined
    throw error
  }
}

/** Writes a value a line: the old lines or the new ones, whatever happens. */
export async function writeWhole(path: string, values: readonly unknown[], pace: Pace): Promise<void> {
  const fd = openSync(`${path}.part`, 'w', 0o600)
  try {
    let lines = ''
    const flush = (): void => {
      const bytes = Buffer.from(lines)
      for (let done = 0; done < bytes.length;) done += writeSync(fd, bytes, done)
      lines = ''
    }
    await forEachPaced(values, pace, (value) => {
      lines += `${JSON.stringify(value)}\n`
      if (lines.length > FLUSHED) flush()
    })
    flush()
    await syncFile(fd)
  } finally {
    closeSync(fd)
  }
  renameSync(`${path}.part`, path)
}

/** A mark may be lost with the power: what it says can be found out again. */
export function writeMark(path: string, text: string): void {
  const fd = openSync(path, 'w', 0o600)
  try {
    writeSync(fd, text)
  } finally {
    closeSync(fd)
  }
}

/** Characters that are written at once. */
const FLUSHED = 65_536

export async function syncDirectory(path: string): Promise<void> {
  const fd = openSync(path, 'r')
  try {
    await syncFile(fd)
  } finally {
    closeSync(fd)
  }
}
