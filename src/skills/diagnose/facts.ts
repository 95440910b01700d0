import type { Catalog, CatalogSnapshot, IndexStyle, PromptIndex } from '../catalog/index.ts'
import type { ProposedCommand, Skill } from '../../kernel/index.ts'

/** The facts of a diagnosis. Everything but the catalog may be absent: then no finding is about it. */
export interface Facts {
  readonly catalog: Catalog
  readonly agentId?: string
  /** False when policy leaves the agent no tool that loads skills. */
  readonly canLoad?: boolean
  /** The workspace, when no command runs in it until it is trusted. */
  readonly untrustedWorkspace?: string
  /** The index in the agent's prompt. */
  readonly index?: Pick<PromptIndex, 'items' | 'overBudget'>
  readonly prompt?: { readonly budgetChars?: number; readonly style?: IndexStyle }
  /** The skills that a session has. */
  readonly snapshot?: Pick<CatalogSnapshot, 'skills'>
  /** Addresses of skills that the session loaded, and whether their files are still the same. */
  readonly loaded?: ReadonlyMap<string, 'same' | 'changed'>
  /** The result of loading the skills; one that is not in it was not examined. */
  readonly examined?: ReadonlyMap<Skill, Examined>
  /** Hosts that commands of a skill seem to need and no setting allows, with the key of its entry and the hosts that it has. */
  readonly hosts?: ReadonlyMap<
    Skill,
    { readonly key: string; readonly known: readonly string[]; readonly proposed: readonly ProposedHost[] }
  >
  /** Skills with a file of packages that no setup installs, and the key of their entry. */
  readonly withoutSetup?: ReadonlyMap<Skill, { readonly file: SetupFile; readonly key: string }>
  readonly roots?: readonly SearchedRoot[]
  /** Files that look like the skill in places that are not searched. */
  readonly strays?: readonly StrayFile[]
  readonly host?: Host
  /** How paths are written for the person; without it they are whole. */
  readonly paths?: Paths
}

/** A host that commands of a skill may need. */
export interface ProposedHost {
  /** In the form of a setting. */
  readonly host: string
  /** The file that names it, the installer that uses it, or `refused before`. */
  readonly from: string
}

/** How paths are written for the person. */
export interface Paths {
  /** In a sentence: `./x` below the working directory, `~/x` below the home directory. */
  readonly shown: (path: string) => string
  /** In a line for a shell that is typed in the working directory. */
  readonly typed: (path: string) => string
}

export const WHOLE_PATHS: Paths = { shown: (path) => path, typed: (path) => path }

/** The result of reading a skill as loading it does. */
export interface Examined {
  /** Why it cannot be loaded; absent when it can. */
  readonly problem?: {
    readonly code: string
    readonly message: string
    readonly path: string
    readonly line?: number
    readonly fix: string
    readonly proposal?: ProposedCommand
  }
  /** Links and special files in its directory, which are no part of it. */
  readonly leftOut: readonly { readonly path: string; readonly kind: string }[]
}

export interface SearchedRoot {
  readonly source: string
  readonly path: string
}

/** A file that looks like a skill, in a directory that is not searched. */
export interface StrayFile {
  /** The SKILL.md; for `no-skill-file` the directory. */
  readonly file: string
  /**
   * `below-skill`: inside another skill. `too-deep`: beyond the depth limit. `hidden`: in a hidden directory or node_modules.
   * `beside-root`: in the workspace, outside of every root. `above`: in a folder of skills above the workspace. `elsewhere`: where another program keeps its skills.
   * `no-skill-file`: a directory of that name without SKILL.md.
   */
  readonly why: 'below-skill' | 'too-deep' | 'hidden' | 'beside-root' | 'above' | 'elsewhere' | 'no-skill-file'
  /** For `below-skill`: the directory of the skill around it. */
  readonly inside?: string
}

/** A program that the person has and commands do not. */
export interface PersonalProgram {
  readonly path: string
  /** The file it leads to. */
  readonly real: string
  /** How it is installed, where it can be mounted for commands. */
  readonly kind?: string
  /** Completes "it is not mounted, because …". */
  readonly why?: string
}

/** Files by which people install what a skill needs. */
export type SetupFile = 'requirements.txt' | 'package.json'

/** Facts of the person's machine and settings. */
export interface Host {
  /** Where commands run, for people. */
  readonly target: string
  readonly workspace: string
  /** The home directory is the workspace: then trust cannot be kept, and no settings of one's own. */
  readonly homeIsWorkspace: boolean
  /** The person's own nexus.yaml. */
  readonly settingsFile: string
  /** Whether nexus.yaml may have a setting with that dotted path. */
  readonly knowsSetting: (path: string) => boolean
  /** Where a setting was written; undefined where it was not. */
  readonly placeOf: (
    keys: readonly (string | number)[],
  ) => { readonly path: string; readonly line?: number } | undefined
  /** Index of the agent under `agents`. */
  readonly agentIndex: number
  /** Whether the person is root, so that no command needs sudo. */
  readonly isRoot: boolean
  /** Whether the person's environment has that variable. */
  readonly isSet: (variable: string) => boolean
  /** Programs that the person has and commands do not, by name. */
  readonly programs: ReadonlyMap<string, PersonalProgram>
  /** The programs of the person that commands have: `execution.programs`. */
  readonly mounted: readonly string[]
  /** Lines of SKILL.md up to the end of the frontmatter. */
  readonly heads: ReadonlyMap<Skill, readonly string[]>
}
