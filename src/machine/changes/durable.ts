/** durable: our own files of change sets: written whole, and on the disk when a call returns. */
import {
  appendFileSync,
  closeSync,
  fstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  writeSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { forEachPaced, type Pace, syncFile } from '../files/index.ts'
import { errorCode } from '../../kernel/index.ts'

/** Bytes that are kept in the row of a set; with more they get a file. */
const MAX_INLINE = 65_536

/** Collects the bytes of a set, so that thousands of small files are one write to the disk. */
export class PackWriter {
  readonly #path: string
  readonly #parts: Uint8Array[] = []
  #fd: number | undefined
  #size = 0

  constructor(path: string) {
    this.#path = path
  }

  /** Bytes so far: where the next part begins. */
  get size(): number {
    return this.#size
  }

  /** All bytes, while they are few enough for the row. */
  get inline(): Uint8Array | undefined {
    return this.#fd === undefined ? Buffer.concat(this.#parts) : undefined
  }

  add(part: Uint8Array): void {
    this.#size += part.length
    if (this.#fd !== undefined) return writeAll(this.#fd, part)
    this.#parts.push(Buffer.from(part))
    if (this.#size <= MAX_INLINE) return
    this.#fd = openSync(this.#path, 'wx', 0o600)
    for (const each of this.#parts.splice(0)) writeAll(this.#fd, each)
  }

  /** Returns when what the row will not have would survive a loss of power. */
  async finish(): Promise<void> {
    if (this.#fd === undefined) return
    try {
      await syncFile(this.#fd)
    } finally {
      closeSync(this.#fd)
    }
  }
}

function writeAll(fd: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length;) done += writeSync(fd, bytes, done)
}

/** Empty for a directory that is not there. */
export function namesIn(directory: string): string[] {
  return ifThere(() => readdirSync(directory)) ?? []
}

/** Undefined for a file that is not there. */
export function readText(path: string): string | undefined {
  return ifThere(() => readFileSync(path, 'utf8'))
}

/** The first line of a file, and its last characters. */
export function readEnds(
  path: string,
  lastLength: number,
): { readonly first: string; readonly last: string } | undefined {
  const fd = ifThere(() => openSync(path, 'r'))
  if (fd === undefined) return undefined
  try {
    let [first, at] = ['', 0]
    const part = Buffer.alloc(4_096)
    for (let got = -1; got !== 0 && !first.includes('\n'); at += got) {
      got = readSync(fd, part, 0, part.length, at)
      first += part.toString('latin1', 0, got)
    }
    const { size } = fstatSync(fd)
    const got = readSync(fd, part, 0, lastLength, Math.max(0, size - lastLength))
    return {
      first: Buffer.from(first.split('\n', 1)[0] ?? '', 'latin1').toString(),
      last: part.toString('latin1', 0, got),
    }
  } finally {
    closeSync(fd)
  }
}

function ifThere<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined
    throw error
  }
}

/** Writes the lines of a new file, on the disk when this returns: file systems of Linux write its name with it. A kill may leave a part of it. */
export async function writeNew(path: string, lines: Iterable<string>, pace: Pace): Promise<void> {
  const fd = openSync(path, 'w', 0o600)
  try {
    let text = ''
    await forEachPaced(lines, pace, (line) => {
      text += `${line}\n`
      if (text.length < FLUSHED) return
      writeAll(fd, Buffer.from(text))
      text = ''
    })
    writeAll(fd, Buffer.from(text))
    await syncFile(fd)
  } finally {
    closeSync(fd)
  }
}

/** Replaces a file: its old lines or the new ones are there, whatever happens. */
export async function writeWhole(path: string, lines: Iterable<string>, pace: Pace): Promise<void> {
  await writeNew(`${path}.part`, lines, pace)
  renameSync(`${path}.part`, path)
  const directory = openSync(dirname(path), 'r')
  try {
    await syncFile(directory)
  } finally {
    closeSync(directory)
  }
}

/** May be lost with the power: what it says can be found out again. */
export function writeLater(path: string, text: string): void {
  appendFileSync(path, text, { mode: 0o600 })
}

/** Characters that are written at once. */
const FLUSHED = 65_536
