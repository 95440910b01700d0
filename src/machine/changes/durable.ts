/** durable: our own files of change sets: written whole, and on the disk when a call returns. */
import { closeSync, fsyncSync, openSync, readdirSync, readFileSync, renameSync, writeSync } from 'node:fs'
import { syncFile } from '../files/index.ts'
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

/** The old text or the new one, whatever happens. */
export function writeWhole(path: string, text: string): void {
  const fd = openSync(`${path}.part`, 'w', 0o600)
  try {
    const bytes = Buffer.from(text)
    for (let done = 0; done < bytes.length;) done += writeSync(fd, bytes, done)
    fsyncSync(fd)
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

export function syncDirectory(path: string): void {
  const fd = openSync(path, 'r')
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}
