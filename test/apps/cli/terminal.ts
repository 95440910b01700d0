/** A terminal of its own for one command, with a person who types. */
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { quotedWord } from '../../../src/kernel/index.ts'
import { ended, type Place } from './nexus.ts'

/** False where `script` makes terminals. */
export function whyNoTerminal(): string | false {
  const hasScript = spawnSync('script', ['-qec', 'true', '/dev/null']).status === 0
  return !hasScript && 'there is no `script` (util-linux) to make a terminal'
}

interface Typed {
  readonly code: number | null
  /** Everything on the screen. */
  readonly screen: string
}

/** Runs the command in a terminal of its own. Types the keys of each step when its prompt comes, after that of the step before. */
export async function inTerminal(
  place: Place,
  args: readonly string[],
  ...steps: readonly { readonly prompt: RegExp; readonly keys: string }[]
): Promise<Typed> {
  const { cwd, env } = place.options()
  const child = spawn('script', ['-qec', place.line(args).map(quotedWord).join(' '), '/dev/null'], {
    cwd,
    env: { ...env, TERM: 'xterm' },
    stdio: ['pipe', 'pipe', 'pipe'],
    timeout: 60_000,
  })
  let unread = ''
  const left = [...steps]
  const type = (): void => {
    const [step] = left
    const found = step?.prompt.exec(unread)
    if (!step || !found) return
    left.shift()
    unread = unread.slice(found.index + found[0].length)
    child.stdin?.write(step.keys)
  }
  type()
  child.stdout?.on('data', (chunk: Buffer) => {
    unread += chunk.toString()
    type()
  })
  const { code, stdout } = await ended(child)
  assert.equal(left.length, 0, `a prompt did not come: ${stdout}`)
  return { code, screen: stdout }
}
