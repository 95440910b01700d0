import { isOwnerGone, ownerToken, type Tree } from '../../machine/files/index.ts'

/** Eight random hex digits, for names that nobody else has. */
export function randomHex(): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(4))).toString('hex')
}

/** Directories that a change writes beside others, with their owner: new copies, and old ones that are about to go. */
export const HIDDEN = /^\.nexus-(?:new|old)-(\d+-\d+-\d+)-[0-9a-f]{8}$/

/** A name that `HIDDEN` fits, and that no other process uses. */
export function hiddenName(kind: 'new' | 'old'): string {
  return `.nexus-${kind}-${ownerToken()}-${randomHex()}`
}

/** Removes the hidden directories of processes that are gone. */
export async function sweep(tree: Tree, directory: string): Promise<void> {
  for (const { name } of (await tree.list(directory)).entries) {
    const owner = HIDDEN.exec(name)?.[1]
    if (owner !== undefined && isOwnerGone(owner))
      await tree.removeAll(directory === '' ? name : `${directory}/${name}`)
  }
}

const PLACED_NAME = /^[a-z0-9]+(?:[-_.][a-z0-9]+)*$/
const DEVICES = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|$)/
const MAX_NAME_CHARS = 64

/** The name of the directory for a skill, or undefined when none can be made of it. A name is never part of a path as it is written. */
export function directoryName(name: string): string | undefined {
  const made = name
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/[-_.]*([-_.])[-_.]*/g, '$1')
    .replace(/^[-_.]+|[-_.]+$/g, '')
    .slice(0, MAX_NAME_CHARS)
    .replace(/[-_.]+$/, '')
  return isPlacedName(made) ? made : undefined
}

/** Whether a name may be that of a placed skill's directory. */
export function isPlacedName(name: string): boolean {
  return name.length <= MAX_NAME_CHARS && PLACED_NAME.test(name) && !DEVICES.test(name)
}
