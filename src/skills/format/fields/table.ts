import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  ownValue,
  type Requirements,
  type SkillMetadata,
  toOsName,
} from '../../../kernel/index.ts'
import type { KeyPath } from '../front.ts'

/** Top-level keys that corpora use for the same purpose. `always` and `skillKey` count only inside metadata. */
export const TOP_LEVEL = ['emoji', 'homepage', 'os', 'requires', 'anyBins', 'primaryEnv', 'install'] as const

/** Every field that gates or displays, in any place. */
export const FIELD_NAMES: readonly string[] = [...TOP_LEVEL, 'always', 'restrict', 'skillKey']

/** A mapping with fields, and the keys that lead to it. */
export interface Holder {
  readonly path: KeyPath
  readonly fields: JsonObject
}

/** Words about the form of a field: what it must be, and a whole line that is right. */
export interface Form {
  /** Strict validation refuses a `field-type`; a `metadata-field` matters to OpenClaw only. */
  readonly code: 'field-type' | 'metadata-field'
  readonly wanted: string
  readonly example: string
}

/** A field of gating or display. A value that is not accepted is reported; `read` gives what is readable of it. */
export interface Field<T> extends Form {
  accepts(value: JsonValue): boolean
  read(value: JsonValue): T | undefined
}

/** A list of `requires`, and the pattern of its entries. */
export interface RequiredField extends Field<readonly string[]> {
  readonly entries: string
  readonly pattern: RegExp
}

const NONE: readonly never[] = Object.freeze([])
/** Words that people write for every system; without `os` a skill is for all of them. */
const ANY_SYSTEM: ReadonlySet<string> = new Set(['all', 'any', '*'])
const SYSTEMS: readonly string[] = ['linux', 'darwin', 'windows']

/** The lists of `requires`. */
export const REQUIRED: Readonly<Record<keyof Requirements, RequiredField>> = {
  bins: required('bins: [gh]', 'names of programs', /^[A-Za-z0-9._+-]{1,64}$/),
  anyBins: required('anyBins: [gh]', 'names of programs', /^[A-Za-z0-9._+-]{1,64}$/),
  env: required('env: [MY_API_KEY]', 'names of variables', /^[A-Za-z_][A-Za-z0-9_]{0,127}$/),
  network: required(
    'network: [api.example.com]',
    'hosts such as api.example.com',
    /^(?:localhost:\d{1,5}|(?:\*\.)?(?:[^\s.:/?#@*%\\[\]]{1,63}\.)+(?!\d)[^\s.:/?#@*%\\[\]]{1,63}(?::\d{1,5})?)$/,
  ),
  config: required('config: [tools.github.enabled]', 'paths of settings', /^[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*$/),
}

/** Keys that `requires` may contain. */
export const REQUIREMENTS: readonly string[] = [...Object.keys(REQUIRED), 'os', 'primaryEnv', 'install']

/** Gating and display fields that are one text. */
export const TEXTS = {
  emoji: text('emoji: "🔧"', 'one emoji', (value) => value.length <= 32),
  homepage: {
    ...text('homepage: https://example.com', 'an address that begins with https:// or http://', isWebAddress),
    code: 'field-type',
  },
  primaryEnv: text('primaryEnv: MY_API_KEY', 'the name of a variable', (value) => REQUIRED.env.pattern.test(value)),
  skillKey: text('skillKey: my-skill', 'text', () => true),
} satisfies Record<string, Field<string>>

/** The other fields of `metadata`. */
export const FIELDS = {
  os: {
    code: 'metadata-field',
    wanted: 'a list of linux, darwin and windows, or absent for every system',
    example: 'os: [linux, darwin]',
    accepts(value) {
      const { texts, isReadable } = listIn(value)
      return isReadable && texts.every((name) => SYSTEMS.includes(toOsName(name)))
    },
    read: (value) => osNames(listIn(value).texts),
  } satisfies Field<readonly string[]>,
  always: flag('metadata-field', 'always: true'),
  restrict: flag('metadata-field', 'restrict: true'),
}

/** Top-level fields; their readers are in `top-level.ts`. */
export const TOP_FORMS = {
  license: { code: 'field-type', wanted: 'text', example: 'license: "some text"' },
  compatibility: { code: 'field-type', wanted: 'text', example: 'compatibility: "some text"' },
  'allowed-tools': {
    code: 'field-type',
    wanted: 'text or a list of texts',
    example: 'allowed-tools: Read Bash(git:*)',
  },
  arguments: { code: 'field-type', wanted: 'a list of names', example: 'arguments: [first, second]' },
  'disable-model-invocation': flag('field-type', 'disable-model-invocation: true'),
  'user-invocable': flag('field-type', 'user-invocable: false'),
} satisfies Record<string, Form>

/** `requires` itself, a client's block in `metadata`, and a list of an install entry. */
export const REQUIRES: Form = {
  code: 'field-type',
  wanted: 'a mapping of bins, anyBins, env, config and network',
  example: 'requires: {bins: [gh]}',
}
export const CLIENT_BLOCK: Form = {
  code: 'metadata-field',
  wanted: 'a mapping, one key a line',
  example: 'nexus: {emoji: "🔧"}',
}
export const INSTALL_LIST: Form = { code: 'field-type', wanted: 'a list of texts', example: '[first, second]' }

function required(example: string, entries: string, pattern: RegExp): RequiredField {
  const wanted = `a list of ${entries}`
  const accepts = (value: JsonValue): boolean => listIn(value).isReadable
  return { code: 'field-type', wanted, example, entries, pattern, accepts, read: (value) => listIn(value).texts }
}

function text(example: string, wanted: string, isRight: (text: string) => boolean): Field<string> {
  const accepts = (value: JsonValue): boolean => {
    const trimmed = typeof value === 'string' ? value.trim() : ''
    return trimmed !== '' && isRight(trimmed)
  }
  const read = (value: JsonValue): string | undefined => (accepts(value) ? String(value).trim() : undefined)
  return { code: 'metadata-field', wanted, example, accepts, read }
}

function flag(code: Form['code'], example: string): Field<boolean> {
  const accepts = (value: JsonValue): boolean => asBoolean(value) !== undefined
  return { code, wanted: 'true or false', example, accepts, read: asBoolean }
}

const TRUE: ReadonlySet<string> = new Set(['true', 'yes', 'on', '1'])
const FALSE: ReadonlySet<string> = new Set(['false', 'no', 'off', '0'])

/** A boolean as people write it: true, yes, on, 1 and their opposites, quoted or not; undefined for anything else. */
export function asBoolean(value: JsonValue | undefined): boolean | undefined {
  if (typeof value === 'boolean') return value
  const word = typeof value === 'string' || typeof value === 'number' ? String(value).trim().toLowerCase() : ''
  if (TRUE.has(word)) return true
  return FALSE.has(word) ? false : undefined
}

/** A list of texts, or one text with commas. Entries may be mappings with a `name`; optional ones are left out. */
export function listIn(value: JsonValue): { readonly texts: readonly string[]; readonly isReadable: boolean } {
  const given = typeof value === 'string' ? value.split(',') : value
  if (!Array.isArray(given)) return { texts: NONE, isReadable: value === null }
  const items = (given as readonly JsonValue[]).map(nameOf)
  const texts = items
    .filter((item) => typeof item === 'string' || typeof item === 'number')
    .map((item) => String(item).trim())
  return { texts: [...new Set(texts.filter((each) => each !== ''))], isReadable: texts.length === items.length }
}

/** Other clients write other forms here, so what is no list of names is passed over. */
export function skillsIn(requires: Holder | undefined): Pick<SkillMetadata, 'requiredSkills'> {
  const { texts } = listIn((requires && ownValue(requires.fields, 'skills')) ?? null)
  return texts.length === 0 ? {} : { requiredSkills: texts }
}

function nameOf(item: JsonValue): JsonValue {
  if (!isJsonObject(item)) return item
  const isOptional = ownValue(item, 'required') === false || ownValue(item, 'optional') === true
  return isOptional ? '' : (ownValue(item, 'name') ?? null)
}

/** One name per system, each once; none where any system will do. */
export function osNames(names: readonly string[]): readonly string[] {
  if (names.length === 0 || names.some((name) => ANY_SYSTEM.has(name.toLowerCase()))) return NONE
  return [...new Set(names.map(toOsName))]
}

/** True for an address that a browser would open. */
function isWebAddress(value: string): boolean {
  return /^https?:\/\/[^\s]+$/i.test(value)
}
