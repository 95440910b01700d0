/** view: shows our own process what a command left, by mounts that only it can reach. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { Tree } from '../../files/index.ts'
import { tryOverlay, viewOverlay } from '../runner/overlay.ts'

const ENVIRONMENT = { PATH: '/usr/bin:/bin', LANG: 'C.UTF-8' }

/** The workspace with the changes of a command, and as it was for that command when they are left out. */
export interface View {
  readonly seen: Tree
  readonly below: Tree
  close(): void
}

/** Opens a view of a directory of a layer, in which no command runs any more. */
export async function openView(unshare: string, directory: string): Promise<View> {
  const child = spawn(unshare, viewOverlay(), { cwd: directory, env: ENVIRONMENT, stdio: ['pipe', 'pipe', 'pipe'] })
  const ended = once(child, 'exit')
  try {
    const shown = await Promise.race([once(child.stdout, 'data'), ended])
    if (!Buffer.isBuffer(shown[0])) throw new Error((await text(child.stderr)).trim() || 'no view of the workspace')
    // An open directory keeps its mount.
    const seen = new Tree(`/proc/${child.pid}/root${join(directory, 'seen')}`)
    try {
      const below = new Tree(`/proc/${child.pid}/root${join(directory, 'below')}`)
      return { seen, below, close: () => [seen, below].forEach((tree) => tree.close()) }
    } catch (error) {
      seen.close()
      throw error
    }
  } finally {
    child.stdin.destroy()
    child.kill('SIGKILL')
    await ended
  }
}

/** The reason why no overlay works for a directory of a layer; undefined when one does. */
export async function refusalOf(unshare: string, directory: string): Promise<string | undefined> {
  const child = spawn(unshare, tryOverlay(), { cwd: directory, env: ENVIRONMENT, stdio: ['ignore', 'ignore', 'pipe'] })
  const said = text(child.stderr)
  try {
    const [code] = (await once(child, 'exit')) as [number | null]
    return code === 0 ? undefined : ((await said).trim().split('\n')[0] ?? '')
  } catch (error) {
    return String(error)
  }
}
