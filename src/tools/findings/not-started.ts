/** Finds out why a program did not begin: exit codes 126 and 127, and what the shell wrote. */
import { closeSync, constants, fstatSync, openSync, readSync, realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import type { CommandFinding } from './finding.ts'
import { type Ran, textOf } from './ran.ts'

const SHELL = String.raw`^(?:\S+: line \d+: |\S*sh: \d+: |\S*sh: )`
const NOT_FOUND = new RegExp(`${SHELL}(.+?): (?:command )?not found$`)
const ENV = /^\S*env: ['"‘](.+?)(\\r)?['"’]: No such file or directory$/
const DENIED = new RegExp(`${SHELL}(.+?): Permission denied$`)
const BINARY = new RegExp(`${SHELL}(.+?): cannot execute binary file`)
const INTERPRETER = new RegExp(`${SHELL}(.+?): (?:cannot execute: required file not found|(.+?): bad interpreter)`)
const ABSENT = new RegExp(`${SHELL}(.+?): No such file or directory$`)

export function notStartedFinding(ran: Ran): CommandFinding | undefined {
  const { end, exitCode } = ran.result
  const lines = textOf(ran)
  const first = (pattern: RegExp): RegExpExecArray | undefined =>
    lines.map((line) => pattern.exec(line)).find((match) => match !== null) ?? undefined
  const missing = first(NOT_FOUND)?.[1]
  if (missing !== undefined) return programMissing(missing, ran)
  if (end !== 'exit' || (exitCode !== 126 && exitCode !== 127)) return undefined
  const env = first(ENV)
  if (env?.[1] !== undefined)
    return env[2] === undefined ? programMissing(env[1], ran) : { code: 'interpreter-cr', subject: scriptIn(ran) }
  const file = first(INTERPRETER)
  if (file?.[1] !== undefined) return interpreter(file[1], ran)
  const binary = first(BINARY)?.[1]
  if (binary !== undefined) return { code: 'not-executable', subject: binary, isBinary: true }
  const denied = exitCode === 126 ? first(DENIED)?.[1] : undefined
  if (denied !== undefined) return { code: 'not-executable', subject: denied, isBinary: false }
  const absent = exitCode === 127 ? first(ABSENT)?.[1] : undefined
  return absent === undefined ? undefined : { code: 'file-missing', subject: absent, directory: ran.startedIn }
}

function programMissing(program: string, { findOnHost }: Ran): CommandFinding {
  const onHost = findOnHost?.(program)
  return { code: 'program-missing', subject: program, ...(onHost !== undefined && { onHost }) }
}

function interpreter(file: string, ran: Ran): CommandFinding {
  const line = firstLine(file, ran)
  if (line?.endsWith('\r')) return { code: 'interpreter-cr', subject: file }
  const name = line && /^#!\s*(\S+)/.exec(line)?.[1]
  return { code: 'interpreter-missing', subject: file, ...(name && { interpreter: name }) }
}

/** The script that the command names: `env` reports only the interpreter. */
function scriptIn({ command }: Ran): string {
  return /^\s*(\S+)/.exec(command)?.[1] ?? 'the script'
}

const HEAD_BYTES = 256

/** The first line of a script in the workspace or in a skill; undefined for everything else. Only a line with `#!` leaves here. */
function firstLine(file: string, { startedIn, workspace, skillDirectories }: Ran): string | undefined {
  try {
    const path = realpathSync(resolve(startedIn, file))
    if (![workspace, ...skillDirectories].some((directory) => path.startsWith(`${directory}/`))) return undefined
    const descriptor = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    try {
      if (!fstatSync(descriptor).isFile()) return undefined
      const head = Buffer.alloc(HEAD_BYTES)
      const [line = ''] = head.toString('utf8', 0, readSync(descriptor, head, 0, HEAD_BYTES, 0)).split('\n')
      return line.startsWith('#!') ? line : undefined
    } finally {
      closeSync(descriptor)
    }
  } catch {
    // Gone or closed to us: the note says what is known without it.
    return undefined
  }
}
