/** consent: what a person must see before they trust the configuration of a workspace. */
import { dirname, isAbsolute, relative, resolve } from 'node:path'
import {
  isJsonObject,
  membersOf,
  type JsonObject,
  type JsonValue,
  toSafeJson,
  toSafeLine,
  toSafeText,
} from '../kernel/index.ts'
import type { LoadedConfig } from './config.ts'
import { fits, HIDDEN, type Path } from './document/path.ts'
import { inProfile, isProfilePath, nameIn } from './profiles.ts'
import type { ShownFiles } from './trust.ts'

export type ConsentKind = 'command' | 'module' | 'server' | 'address' | 'source' | 'secret-file' | 'hosts'

export interface ConsentItem {
  readonly kind: ConsentKind
  /** It starts a program or loads code outside the sandbox. */
  readonly runsAsUser: boolean
  /** The setting. */
  readonly subject: string
  readonly path: string
  readonly line: number
  /** The value as one visible line. Secrets written out, and passwords in addresses, are hidden; nothing of what runs is. */
  readonly text: string
}

export interface Consent {
  /** First all that runs, then all that is contacted or read. */
  readonly items: readonly ConsentItem[]
  /** The texts to trust: those that `items` and `text` were made of. */
  readonly shown: ShownFiles
  /** All files, without the secrets that are written out in them; undefined when there is none. */
  readonly text: string | undefined
}

const RUN: readonly ConsentKind[] = ['command', 'module', 'server']
const ORDER: readonly ConsentKind[] = ['command', 'module', 'server', 'address', 'source', 'secret-file', 'hosts']

/** Reads the files of the workspace as they were loaded; runs and resolves nothing. */
export async function consentOf({ workspace, textOf }: Pick<LoadedConfig, 'workspace' | 'textOf'>): Promise<Consent> {
  const shown = new Map(workspace.files.map((path) => [path, textOf(path) ?? '']))
  if (shown.size === 0) return { items: [], shown, text: undefined }
  const { readChecked } = await import('./trusted-settings.ts')
  const { placesIn } = await import('./document/parse-yaml.ts')
  const { isAddress, isSecret } = await import('./schema/walk.ts')
  const { withoutSecrets, withoutSecretsIn } = await import('./secrets/written-out.ts')
  const items: ConsentItem[] = []
  for (const [path, text] of shown) {
    const document = (await readChecked(text, path)) as JsonObject
    const locate = placesIn(text)
    visit(document, [], (value, at) => {
      const kind = kindOf(value, at, { isSecret: isSecret(at), isAddress: isAddress(document, at) })
      if (kind === undefined) return false
      const runsAsUser =
        RUN.includes(kind) && !(kind === 'server' && isJsonObject(value) && value['command'] === undefined)
      const about = {
        kind,
        runsAsUser,
        subject: nameIn({ isProfile: isProfilePath(path) })(at),
        path,
        line: locate(isProfilePath(path) ? inProfile(at) : at).line,
      }
      // Nothing of what runs may be hidden: a password's place would hide a part of a command.
      const line = shownInFull(withoutSecretsIn(value, at))
      items.push({ ...about, text: runsAsUser ? line : withoutPasswords(line) })
      return true
    })
  }
  const texts = [...shown].map(([path, text]) => {
    const masked = withoutSecrets(text)
    return shown.size === 1 ? masked : `# ${toSafeLine(relative(workspace.directory, path))}\n${masked}`
  })
  return {
    items: items.toSorted((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind)),
    shown,
    text: withoutPasswords(toSafeText(texts.join('\n'))).trimEnd(),
  }
}

/**
 * Absolute paths of the files that the settings make Nexus run or read with the user's rights: programs, modules, secrets, and sources of
 * skills. A change of one of them decides what runs. The caller leaves out words that name no path.
 */
export function pathsUsedByHost({ layers, workspace }: Pick<LoadedConfig, 'layers' | 'workspace'>): string[] {
  const found: string[] = []
  for (const { path, document } of layers) {
    const directories = [isAbsolute(path) ? dirname(path) : workspace.directory, workspace.directory]
    visit(document, [], (value, at) => {
      const kind = kindOf(value, at, {
        isSecret: isJsonObject(value) && value['source'] !== undefined,
        isAddress: false,
      })
      if (kind === undefined || kind === 'hosts') return false
      visit(value, at, (word) => {
        if (typeof word !== 'string') return false
        found.push(
          ...directories.flatMap((directory) => filesOf(kind, resolve(directory, word.slice(word.indexOf('=') + 1)))),
        )
        return true
      })
      return true
    })
  }
  return [...new Set(found)]
}

/** A module imports what is beside it, and its path may name an export. */
function filesOf(kind: ConsentKind, path: string): string[] {
  if (kind !== 'module') return [path]
  const file = path.replace(/#[^#/]*$/, '')
  return [file, dirname(file)]
}

interface Form {
  readonly isSecret: boolean
  readonly isAddress: boolean
}

function kindOf(value: JsonValue, at: Path, { isSecret, isAddress }: Form): ConsentKind | undefined {
  const named = NAMED.find(([pattern]) => fits(pattern, at))?.[1]
  if (named !== undefined) return named
  if (isJsonObject(value)) return isSecret || fits('secrets.providers.*', at) ? secretKind(value) : undefined
  if (typeof value !== 'string') return undefined
  const isUrl = isAddress || at.join('.') === 'execution.e2b.domain' || (isSecret && value.includes('://'))
  return isUrl ? 'address' : undefined
}

function secretKind({ source, env, file }: JsonObject): ConsentKind | undefined {
  if (source === 'env' || env !== undefined) return undefined
  return source === 'file' || file !== undefined ? 'secret-file' : 'command'
}

/** Settings that are of one kind whatever they contain. */
const NAMED: readonly (readonly [pattern: string, kind: ConsentKind])[] = [
  ['skills.custom.*', 'module'],
  ['mcp.servers.*', 'server'],
  ['skills.sources.*', 'source'],
  ['skills.load.extraDirs.*', 'source'],
  ['skills.skill_dirs.*', 'source'],
  ['execution.network.allowedDomains', 'hosts'],
  ['skills.entries.*.network', 'hosts'],
]

/** Calls `take` for each part until it takes one; what is below that is not visited. */
function visit(value: JsonValue | undefined, at: Path, take: (value: JsonValue, at: Path) => boolean): void {
  if (value === undefined || take(value, at)) return
  for (const [key, member] of membersOf(value)) visit(member, [...at, key], take)
}

/** Characters that hide or move text are written as \u…, so that nothing that is trusted stays unseen. */
function shownInFull(value: JsonValue): string {
  return typeof value === 'string' && toSafeLine(value) === value ? value : toSafeJson(value)
}

function withoutPasswords(text: string): string {
  return text.replaceAll(/(?<=\/\/[^\s/@]*:)\S*(?=@)/g, HIDDEN)
}
