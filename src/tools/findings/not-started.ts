/** Finds out why a program did not begin: exit codes 126 and 127, and what the shell wrote. */
import { closeSync, constants, fstatSync, openSync, readSync, realpathSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import type { CommandFinding, ScriptFile } from './finding.ts'
import { type Ran, skillDirectoryOf, textOf } from './ran.ts'

const SHELL = String.raw`^(?:\S+: line \d+: |\S*sh: \d+: |\S*sh: )`

/** One message of a shell, and what it means. */
interface Row {
  readonly pattern: RegExp
  /** Only with one of these exit codes; absent: with any, because in a pipeline the last command gives the code. */
  readonly exitCodes?: readonly number[]
  readonly read: (match: RegExpExecArray, ran: Ran) => CommandFinding
}

/** The first row with a line that fits is the finding. */
const ROWS: readonly Row[] = [
  { pattern: new RegExp(`${SHELL}(.+?): (?:command )?not found$`), read: ([, name = ''], ran) => program(name, ran) },
  {
    pattern: /^\S*env: ['"\u2018](.+?)(\\r)?['"\u2019]: No such file or directory$/,
    exitCodes: [127],
    read: ([, name = '', isCut], ran) =>
      isCut === undefined ? program(name, ran) : carriageReturn(scriptIn(ran), ran),
  },
  {
    pattern: new RegExp(`${SHELL}(.+?): (?:cannot execute: required file not found|.+?: bad interpreter)`),
    exitCodes: [126, 127],
    read: ([, file = ''], ran) => interpreter(file, ran),
  },
  {
    pattern: new RegExp(`${SHELL}(.+?): cannot execute binary file`),
    exitCodes: [126],
    read: ([, file = ''], ran) => ({ code: 'not-executable', ...scriptFile(file, ran), isBinary: true }),
  },
  {
    pattern: new RegExp(`${SHELL}(.+?): Permission denied$`),
    exitCodes: [126],
    read: ([, file = ''], ran) => notExecutable(file, ran),
  },
]

export function notStartedFinding(ran: Ran): CommandFinding | undefined {
  const { exitCode } = ran.result
  const lines = textOf(ran)
  for (const { pattern, exitCodes, read } of ROWS) {
    if (exitCodes && !exitCodes.includes(exitCode)) continue
    const match = lines.map((line) => pattern.exec(line)).find((each) => each !== null)
    if (match) return read(match, ran)
  }
  return undefined
}

function program(name: string, { findOnHost }: Ran): CommandFinding {
  const onHost = findOnHost?.(name)
  return { code: 'program-missing', subject: name, ...(onHost !== undefined && { onHost }) }
}

function interpreter(file: string, ran: Ran): CommandFinding {
  const line = firstLine(file, ran)
  if (line?.endsWith('\r')) return carriageReturn(file, ran)
  const name = line && /^#!\s*(\S+)/.exec(line)?.[1]
  return { code: 'interpreter-missing', ...scriptFile(file, ran), ...(name && { interpreter: name }) }
}

function notExecutable(file: string, ran: Ran): CommandFinding {
  // With `env`, the interpreter is the word after it.
  const name = /^#!\s*(?:\S*\/env\s+(?:-\S+\s+)*)?(\S+)/.exec(firstLine(file, ran) ?? '')?.[1]
  return { code: 'not-executable', ...scriptFile(file, ran), isBinary: false, ...(name && { interpreter: name }) }
}

function carriageReturn(file: string, ran: Ran): CommandFinding {
  return { code: 'interpreter-cr', ...scriptFile(file, ran) }
}

function scriptFile(file: string, ran: Ran): ScriptFile {
  const path = resolve(ran.startedIn, file)
  const skill = skillDirectoryOf(path, ran)
  if (!skill) return { subject: file }
  const original = skill.original === undefined ? undefined : join(skill.original, relative(skill.path, path))
  return { subject: file, inSkill: { original } }
}

/** The script that the command names: `env` reports only the interpreter. */
function scriptIn({ command }: Ran): string {
  return /^\s*(\S+)/.exec(command)?.[1] ?? 'the script'
}

const HEAD_BYTES = 256

/** The first line of a script in the workspace or in a skill; undefined for everything else. Only a line with `#!` leaves here. */
function firstLine(file: string, ran: Ran): string | undefined {
  try {
    const path = realpathSync(resolve(ran.startedIn, file))
    if (!path.startsWith(`${ran.workspace}/`) && !skillDirectoryOf(path, ran)) return undefined
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
