/** interpreters: those that the first line of a script and a virtual environment name, and other facts of small files. */
import { closeSync, openSync, readFileSync, readSync, type Stats, statSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'

const MAX_SMALL_BYTES = 64 * 1024

/** By path, or by a name that is searched for. */
export type Interpreter = { readonly path: string } | { readonly name: string }

/** The interpreter of a script; undefined for any other file. */
export function interpreterOf(file: string): Interpreter | undefined {
  const line = /^#![ \t]*([^\r\n]+)/.exec(firstBytes(file, 512))?.[1]
  if (line === undefined) return undefined
  const [program = '', ...words] = line.trim().split(/[ \t]+/)
  if (!isAbsolute(program)) return undefined
  if (program !== '/usr/bin/env' && program !== '/bin/env') return { path: program }
  const name = words.find((word) => !word.startsWith('-') && !word.includes('='))
  return name === undefined ? undefined : { name }
}

/** Paths of the interpreter that a virtual environment of Python names; none for another directory. */
export function interpretersOfEnvironment(directory: string): string[] {
  const text = readSmall(join(directory, 'pyvenv.cfg'))
  const home = /^home[ \t]*=[ \t]*(\S.*?)[ \t]*$/m.exec(text)?.[1]
  if (home === undefined || !isAbsolute(home)) return []
  // The first finds the standard library, the second is what is started.
  const named = ['python3', 'python'].map((name) => join(home, name)).find(isFile)
  const started = join(directory, 'bin/python')
  return [...(named === undefined ? [] : [named]), ...(isFile(started) ? [started] : [])]
}

/** The words of a small file; none when it is not there. */
export function wordsOf(file: string): readonly string[] {
  return readSmall(file)
    .split(/[^\w.+-]+/)
    .filter(Boolean)
}

/** Whether the file may be started by somebody, links followed. */
export function isProgram(path: string): boolean {
  const found = statOf(path)
  return found?.isFile() === true && (found.mode & 0o111) !== 0
}

/** Whether two paths are one file. */
export function isSameFile(path: string, other: string): boolean {
  const [a, b] = [statOf(path), statOf(other)]
  return a !== undefined && b !== undefined && a.ino === b.ino && a.dev === b.dev
}

function isFile(path: string): boolean {
  return statOf(path)?.isFile() === true
}

function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch {
    // Closed to us, or a link in a circle.
    return undefined
  }
}

function readSmall(file: string): string {
  try {
    return statSync(file).size > MAX_SMALL_BYTES ? '' : readFileSync(file, 'utf8')
  } catch {
    // Not there, or closed: it names nothing.
    return ''
  }
}

function firstBytes(file: string, count: number): string {
  try {
    const descriptor = openSync(file, 'r')
    try {
      const bytes = Buffer.alloc(count)
      return bytes.toString('latin1', 0, readSync(descriptor, bytes, 0, count, 0))
    } finally {
      closeSync(descriptor)
    }
  } catch {
    // A program that we may start and not read is no script.
    return ''
  }
}
