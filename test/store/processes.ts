/** Children that work on a state file, and what they acknowledged. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { COMPILED } from '../source-tree.ts'

export const FIXTURES = join(dirname(fileURLToPath(import.meta.url)), '../fixtures/store')

const children = new Set<ChildProcess>()

export function start(script: string, ...args: string[]): ChildProcess {
  const child = spawn(process.execPath, [COMPILED, join(FIXTURES, script), ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  children.add(child)
  child.once('close', () => children.delete(child))
  return child
}

/** Kills the children that a failed test left. */
export function endChildren(): void {
  for (const child of children) child.kill('SIGKILL')
}

/** The exit code, after all output was read; null for a killed child. */
export async function ended(child: ChildProcess): Promise<number | null> {
  const [code] = (await once(child, 'close')) as [number | null]
  return code
}

/** What a child acknowledged, line by line, as it comes. */
export function acknowledged(child: ChildProcess): string[] {
  const lines: string[] = []
  let rest = ''
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    const parts = (rest + text).split('\n')
    rest = parts.pop() ?? ''
    lines.push(...parts)
    child.emit('acknowledged', lines.length)
  })
  return lines
}

export async function waitFor(child: ChildProcess, lines: readonly string[], count: number): Promise<void> {
  const closed = once(child, 'close').then(() => ['closed'])
  while (lines.length < count) {
    const [event] = await Promise.race([once(child, 'acknowledged'), closed])
    if (event === 'closed' && lines.length < count) throw new Error(`The child ended after ${lines.length} lines.`)
  }
}
