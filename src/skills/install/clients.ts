import { join, relative } from 'node:path'
import { Tree } from '../../machine/files/index.ts'
import { nameOfPlace } from './lock-file.ts'
import type { Scope } from './scope.ts'
import { installError, MESSAGES } from './messages.ts'

/** Where programs look for skills: in a project, and below the home of a user. */
const CLIENTS = {
  'claude-code': { workspace: '.claude/skills', user: '.claude/skills' },
  codex: { workspace: '.agents/skills', user: '.agents/skills' },
  cursor: { workspace: '.agents/skills', user: '.cursor/skills' },
  copilot: { workspace: '.agents/skills', user: '.copilot/skills' },
  opencode: { workspace: '.agents/skills', user: '.config/opencode/skills' },
  'gemini-cli': { workspace: '.agents/skills', user: '.gemini/skills' },
} as const satisfies Readonly<Record<string, Readonly<Record<'workspace' | 'user', string>>>>

export const CLIENT_NAMES: readonly string[] = Object.keys(CLIENTS)

/** A scope with the home in which programs of the user look. */
export interface ClientGround {
  readonly scope: Scope
  readonly home: string
}

/** One copy and the programs that are to find it. */
interface Placed {
  readonly place: string
  readonly clients: readonly string[]
}

interface Link {
  readonly path: string
  readonly target: string
}

function linksOf({ scope, home }: ClientGround, { place, clients }: Placed): readonly Link[] {
  const { kind } = scope
  if (kind === 'source') return []
  const base = baseOf({ scope, home })
  const directories = clients.flatMap((name) => {
    const known = Object.hasOwn(CLIENTS, name) ? CLIENTS[name as keyof typeof CLIENTS] : undefined
    return known ? [known[kind]] : []
  })
  return [...new Set(directories)].map((directory) => ({
    path: `${directory}/${nameOfPlace(place)}`,
    target: relative(join(base, directory), join(scope.root, place)),
  }))
}

function baseOf({ scope, home }: ClientGround): string {
  return scope.kind === 'user' ? home : scope.root
}

/** Throws CONFLICT where something that is not our link is in the way of a link. */
export function checkLinks(ground: ClientGround, placed: readonly Placed[]): void {
  withBase(ground, (tree) => {
    for (const { path, target } of placed.flatMap((each) => linksOf(ground, each))) {
      const there = tree.entry(path)
      if (there !== undefined && there.target !== target) throw installError('CONFLICT', MESSAGES.linkTaken(path))
    }
  })
}

/** Makes the links that are missing. Throws where a directory on the way is a link. */
export function makeLinks(ground: ClientGround, placed: readonly Placed[]): void {
  withBase(ground, (tree) => {
    for (const { path, target } of placed.flatMap((each) => linksOf(ground, each))) {
      if (tree.entry(path) !== undefined) continue
      const parts = path.split('/')
      for (let count = 1; count < parts.length; count++) {
        const above = parts.slice(0, count).join('/')
        if (tree.entry(above) === undefined) tree.makeDirectory(above, { mode: 0o755 })
      }
      tree.makeLink(path, target)
    }
  })
}

/** Removes links that are ours; anything else there is somebody's own. */
export function removeLinks(ground: ClientGround, placed: readonly Placed[]): void {
  withBase(ground, (tree) => {
    for (const { path, target } of placed.flatMap((each) => linksOf(ground, each)))
      if (tree.entry(path)?.target === target) tree.remove(path, 'link')
  })
}

function withBase(ground: ClientGround, work: (tree: Tree) => void): void {
  const tree = new Tree(baseOf(ground))
  try {
    work(tree)
  } finally {
    tree.close()
  }
}
