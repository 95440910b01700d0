/** places: what the settings of the user protect and open in one workspace, and where that leads, as rules of the gate. */
import { createGate, placesNamed, protectedBy, type Surroundings } from '../changes/index.ts'

/** Protected places of any workspace. */
export interface Protecting {
  /** Absolute. */
  readonly protectedPaths: readonly string[]
  readonly writableNames: readonly string[]
  /** Patterns of places whose changes are held: `execution.workspace.protected`. */
  readonly protectedGlobs?: readonly string[]
}

/** Those of one workspace. */
export interface ProtectedPlaces {
  /** Paths in the workspace that never change with all below them, such as Nexus itself where it is installed there. */
  readonly paths: readonly string[]
  /** Names that the user opened for commands. */
  readonly writable: readonly string[]
  /** Patterns of places that the user protects. */
  readonly globs?: readonly string[]
}

/** The places of one workspace: of the paths that the host uses, those inside it. */
export function placesIn(
  workspace: string,
  { protectedPaths, writableNames, protectedGlobs = [] }: Protecting,
): ProtectedPlaces {
  const above = workspace === '/' ? '/' : `${workspace}/`
  const inside = protectedPaths.filter((path) => path.startsWith(above) && path !== above)
  return { paths: inside.map((path) => path.slice(above.length)), writable: writableNames, globs: protectedGlobs }
}

/** Facts of the gate that hold before and after a command. */
export type Rules = Omit<Surroundings, 'before' | 'after'>

/** The rules, besides where places lead. */
export function rulesOf({ paths, writable, globs = [] }: ProtectedPlaces): Rules {
  const opened = new Set(writable.map((name) => name.toLowerCase()))
  return { never: new Set(paths), named: new Set(), opened, isProtected: protectedBy(globs) }
}

/** Those of some paths that lead to others which no command may change. `has` asks for a path. */
export function leadingAmong(paths: readonly string[], rules: Rules, has: (path: string) => boolean): string[] {
  const judge = createGate({ ...rules, before: has, after: has })
  return paths.filter((path) =>
    ['held', 'never', 'git'].includes(judge({ path, type: 'changed', kind: 'file' }).verdict),
  )
}

/** The rules with all places to which the leading ones, and settings of git outside the workspace, lead. */
export async function withLeading(rules: Rules, workspace: string, leading: readonly string[]): Promise<Rules> {
  const { places, files } = await placesNamed(workspace, leading)
  return { ...rules, named: new Set([...rules.named, ...places]), namedFiles: new Set(files) }
}
