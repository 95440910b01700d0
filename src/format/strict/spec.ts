import { isJsonObject, nearest, ownValue } from '../../kernel/index.ts'
import type { DocumentHead } from '../document.ts'
import { shown } from '../shown.ts'
import type { Subject } from './findings.ts'

/** The keys of the published specification. */
export const SPEC_KEYS = ['name', 'description', 'license', 'compatibility', 'metadata', 'allowed-tools'] as const

const NAMES = new Set<string>(SPEC_KEYS)

/** What the rules of the specification need of a subject. */
type SpecSubject = Pick<Subject, 'front' | 'add'> & {
  readonly document: Pick<DocumentHead, 'allowedTools' | 'compatibility'>
}

/** The rules of the specification that reading does not look at. Source: agentskills.io specification; decisions, "strictness". */
export function checkSpec(subject: SpecSubject): void {
  const { front, add } = subject
  for (const key of Object.keys(front)) {
    if (NAMES.has(key)) continue
    const meant = nearest(key, SPEC_KEYS)
    const fix =
      meant === undefined || Object.hasOwn(front, meant)
        ? 'move it below metadata: as text, or validate with the profile of the client it is for'
        : `write: ${meant}:`
    add('key-unknown', `the specification has no key ${shown(key)}`, { key: [key], fix })
  }
  checkCompatibility(subject)
  checkTools(subject)
  checkMetadata(subject)
}

/** Compatibility, when given, says something. */
export function checkCompatibility({ document, add }: Pick<SpecSubject, 'document' | 'add'>): void {
  if (document.compatibility !== '') return
  add('compatibility-empty', 'compatibility is empty', {
    key: ['compatibility'],
    fix: 'say what the skill needs, or remove the key',
  })
}

function checkTools({ front, document, add }: SpecSubject): void {
  const value = ownValue(front, 'allowed-tools')
  if (value === undefined || value === null) return
  const text = document.allowedTools.join(' ')
  if (value === text) return
  const isSpaced = typeof value === 'string' && value.trim().split(/\s+/).join(' ') === text
  if (isSpaced || (typeof value === 'string' && text === '')) return
  const form = typeof value === 'string' ? 'text with commas' : Array.isArray(value) ? 'a list' : 'not text'
  add('tools-form', `allowed-tools is ${form}; the specification has one text with blanks between the tools`, {
    key: ['allowed-tools'],
    fix: `write: allowed-tools: ${quotedWhenNeeded(text)}`,
  })
}

function quotedWhenNeeded(text: string): string {
  return /^[A-Za-z][^"'#\\]*$/.test(text) && !/:(?:\s|$)/.test(text) ? text : JSON.stringify(text)
}

function checkMetadata({ front, add }: SpecSubject): void {
  const metadata = ownValue(front, 'metadata')
  const fix = 'run: nexus skills migrate --to flat, which writes text that Nexus reads back'
  if (typeof metadata === 'string' && metadata.trimStart().startsWith('{')) {
    add('metadata-text', 'metadata is text, not keys with values', { key: ['metadata'], fix })
  }
  if (!isJsonObject(metadata)) return
  for (const key of Object.keys(metadata)) {
    const value = metadata[key]
    if (typeof value === 'string' || value === undefined) continue
    const what = value === null ? 'empty' : typeof value === 'object' ? 'nested' : `a ${typeof value}`
    const message = `metadata.${key} is ${what}; the specification maps text to text`
    const quoted = typeof value === 'object' ? fix : `write: ${key}: ${JSON.stringify(String(value))}`
    add('metadata-value', message, { key: ['metadata', key], fix: quoted })
  }
}
