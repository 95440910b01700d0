import { isJsonObject, type JsonObject, ownValue, type SkillDocument } from '../../../kernel/index.ts'
import { similarTopLevelKey } from '../fields/slips.ts'
import { splitToolList } from '../fields/tool-list.ts'
import type { KeyPath } from '../front.ts'
import type { Facts, StrictCode } from '../messages/messages.ts'
import type { Profile } from '../messages/words.ts'

/** A skill that was read, and where rules report: at a key of the frontmatter, or at an offset of the body. */
export interface Subject {
  readonly document: SkillDocument
  /** The frontmatter as parsed. */
  readonly front: JsonObject
  readonly profile: Profile
  add<C extends StrictCode>(
    code: C,
    at: { readonly key: KeyPath } | { readonly body: number },
    ...facts: Facts<C>
  ): void
}

/** The keys of the published specification. */
export const SPEC_KEYS = ['name', 'description', 'license', 'compatibility', 'metadata', 'allowed-tools'] as const

const NAMES = new Set<string>(SPEC_KEYS)

/** The rules of the specification that reading does not look at. Source: agentskills.io specification; decisions, "strictness". */
export function checkSpec(subject: Subject): void {
  const { front, add } = subject
  for (const key of Object.keys(front)) {
    if (NAMES.has(key) || similarTopLevelKey(key, front) !== undefined) continue
    add('key-unknown', { key: [key] }, key)
  }
  checkCompatibility(subject)
  checkTools(subject)
  checkMetadata(subject)
}

/** Compatibility, when given, says something. */
export function checkCompatibility({ document, add }: Subject): void {
  if (document.compatibility !== '') return
  add('compatibility-empty', { key: ['compatibility'] })
}

function checkTools({ front, document, add }: Subject): void {
  const value = ownValue(front, 'allowed-tools')
  if (value === undefined || value === null) return
  const text = document.allowedTools.join(' ')
  if (value === text) return
  const isSpaced = typeof value === 'string' && value.trim().split(/\s+/).join(' ') === text
  if (isSpaced || (typeof value === 'string' && text === '')) return
  const otherForm = Array.isArray(value) ? 'a list' : 'not text'
  const form = typeof value === 'string' ? 'text with commas' : otherForm
  const isSame = splitToolList(text).tools.join('\n') === document.allowedTools.join('\n')
  add('tools-form', { key: ['allowed-tools'] }, form, isSame ? quotedWhenNeeded(text) : undefined)
}

function quotedWhenNeeded(text: string): string {
  return /^[A-Za-z][^"'#\\]*$/.test(text) && !/:(?:\s|$)/.test(text) ? text : JSON.stringify(text)
}

function checkMetadata({ front, add }: Subject): void {
  const metadata = ownValue(front, 'metadata')
  if (typeof metadata === 'string' && metadata.trimStart().startsWith('{')) add('metadata-text', { key: ['metadata'] })
  if (!isJsonObject(metadata)) return
  for (const key of Object.keys(metadata)) {
    const value = metadata[key]
    if (typeof value === 'string' || value === undefined) continue
    const kind = typeof value === 'object' ? 'nested' : `a ${typeof value}`
    const what = value === null ? 'empty' : kind
    add('metadata-value', { key: ['metadata', key] }, key, what, typeof value === 'object' ? undefined : String(value))
  }
}
