/** skill-paths: files of skills where people have them, in place of the copies that commands run. */
import { basename } from 'node:path'
import type { Local } from '../../../local/index.ts'
import type { Terminal } from '../terminal.ts'

/** Replaces the copies in a text, such as `…/revisions/4c54…/greet/run.py` by `./skills/greet/run.py`. */
export type ShowPaths = (text: string) => string

/** For the skills of the agent. Without a sandbox commands run the files themselves. */
export function pathsOfSkills({ runtime }: Local, agentId: string | undefined, terminal: Terminal): ShowPaths {
  const { skillsDirectory } = runtime.facts
  if (skillsDirectory === undefined) return (text) => text
  const { skills } = runtime.openAgent({ id: agentId }).catalog()
  const sources = new Map(skills.map(({ directory }) => [basename(directory), terminal.shortPath(directory)]))
  const copies = `${skillsDirectory}/`
  return (text) => {
    const [before, ...parts] = text.split(copies)
    const shown = parts.map((part) => {
      const [copy = '', name = ''] = /^[0-9a-f]{64}\/([\w.-]+)/.exec(part) ?? []
      const source = sources.get(name)
      return source === undefined ? copies + part : source + part.slice(copy.length)
    })
    return [before, ...shown].join('')
  }
}

/** A path may go on in the next chunk. */
const OPEN_PATH = /\/[^\s'":]*$/
/** Longer paths are not kept back. */
const MOST_KEPT_CHARS = 500

/** The same for text that comes in chunks: the beginning of a path waits for its rest. */
export function showPathsLive(
  showPaths: ShowPaths,
  show: (text: string) => void,
): { add(chunk: string): void; end(): void } {
  let kept = ''
  return {
    add(chunk) {
      const text = kept + chunk
      kept = OPEN_PATH.exec(text.slice(-MOST_KEPT_CHARS))?.[0] ?? ''
      show(showPaths(text.slice(0, text.length - kept.length)))
    },
    end() {
      if (kept !== '') show(showPaths(kept))
      kept = ''
    },
  }
}
