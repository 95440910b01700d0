/** script: a file that the shell could not start. */
import { closeSync, constants, fstatSync, openSync, readSync, realpathSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import { shellWord, toSafeLine } from '../../kernel/index.ts'
import { type CommandRun, skillDirectoryOf } from './command-run.ts'

export interface Script {
  /** Its first line, when that begins with `#!`. */
  readonly head?: string | undefined
  /** How a sentence names it: the path of a placed copy is long, and the user does not know it. */
  readonly shown: string
  /** The user's own file of a placed copy. */
  readonly original?: string | undefined
  /** A sentence with the command that changes the file. The copy of a skill is read-only, so it is the user's own. */
  readonly change: (purpose: string, program: string) => string
}

export function scriptAt(file: string, run: CommandRun): Script {
  const path = resolve(run.startedIn, file)
  const skill = skillDirectoryOf(path, run)
  const head = firstLine(path, run)
  if (skill?.original !== undefined) {
    const original = join(skill.original, relative(skill.path, path))
    const change = (purpose: string, program: string): string =>
      `${purpose} outside the sandbox: ${program} ${shellWord(original)}`
    return { head, shown: toSafeLine(original), original, change }
  }
  const change = (purpose: string, program: string): string =>
    skill ? `${purpose} in the skill itself, outside the sandbox.` : `${purpose}: ${program} ${file}`
  return { head, shown: `'${file}'`, change }
}

const HEAD_BYTES = 256

/** The first line of a script in the workspace or in a skill; undefined for everything else. Only a line with `#!` leaves here. */
function firstLine(path: string, run: CommandRun): string | undefined {
  try {
    const real = realpathSync(path)
    if (!real.startsWith(`${run.workspace}/`) && !skillDirectoryOf(real, run)) return undefined
    const descriptor = openSync(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
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
