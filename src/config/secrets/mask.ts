/** mask: what may be shown of settings. What is not known to be harmless is blanked by its place, its name or its form. */
import { isJsonObject, type JsonObject, type JsonValue } from '../../kernel/index.ts'
import type { PathKey } from '../document/read-yaml.ts'
import { fits, isWithin } from '../layers/pattern.ts'
import { asSecretCommand, isGuarded, isSecretText } from './places.ts'

const MASK = '[secret]'
/** What is guarded and no known secret: as in code frames. */
const HIDDEN = '[hidden]'

/** How much is shown: `known` values that are no secret, or only `harmless` ones, as in code frames. */
export type Shown = 'known' | 'harmless'

interface Place {
  readonly shown: Shown
  readonly secrets: string[]
  readonly keys?: readonly PathKey[]
  /** Something beside the value says that it is a secret. */
  readonly isTold?: boolean
}

/** A copy for showing. Each secret that is blanked because of its place is added to `secrets`, so that copies of it can be blanked too. */
export function maskValue(value: JsonValue, place: Place): JsonValue {
  const { shown, keys = [], isTold = false } = place
  const isFree = freeFrom(keys) !== undefined
  if (Array.isArray(value)) {
    const told = isFree ? toldInList(value) : () => false
    return value.map((item, index) =>
      maskValue(item, { ...place, keys: [...keys, index], isTold: isTold || told(index) }),
    )
  }
  const command = isSecretText(keys) ? asSecretCommand(value) : undefined
  // Arguments of a program may be secrets themselves.
  if (command !== undefined) return shown === 'known' ? `${MASK} from ${command.command[0] ?? 'a command'}` : MASK
  if (isJsonObject(value)) {
    const told = isFree ? toldInObject(value) : () => false
    const names = shownKeys(Object.keys(value), isFree)
    const members = Object.entries(value).map(([key, member], index): [string, JsonValue] => [
      names[index] as string,
      maskValue(member, { ...place, keys: [...keys, key], isTold: isTold || told(key) }),
    ])
    return Object.fromEntries(members)
  }
  return maskLeaf(value, keys, place)
}

/** A key may be a secret too. Two that look alike then are told apart by a number. */
function shownKeys(keys: readonly string[], isFree: boolean): readonly string[] {
  const used = new Set<string>()
  return keys.map((key) => {
    const name = isFree ? maskFreeKey(key) : maskToken(key)
    let own = name
    for (let count = 2; used.has(own) || (own !== key && keys.includes(own)); count++) own = `${name} ${count}`
    used.add(own)
    return own
  })
}

function maskLeaf(value: JsonValue, keys: readonly PathKey[], { shown, secrets, isTold }: Place): JsonValue {
  if (value === null) return value
  if (isSecretText(keys)) {
    secrets.push(String(value))
    return MASK
  }
  if (typeof value === 'boolean') return value
  if (shown === 'harmless' && isGuarded(keys)) return HIDDEN
  if (isTold === true || isArgument(keys) || isNamedAsSecret(keys, value)) return MASK
  if (typeof value !== 'string') return value
  return freeFrom(keys) === undefined && !isProgram(keys) ? maskText(value) : maskFree(value)
}

/** Which items of a list are told to be secrets by one before them: all after a name of a secret, the one after an option. */
function toldInList(items: readonly JsonValue[]): (index: number) => boolean {
  const first = items.findIndex((item) => typeof item === 'string' && namesSecret(item))
  const isOption = (item: JsonValue | undefined): boolean => typeof item === 'string' && /^-[^\s=]*$/.test(item)
  return (index) => (first !== -1 && index > first) || (isOption(items[index - 1]) && !isOption(items[index]))
}

/** `{ name: apiKey, value: … }`: what stands beside a text that names a secret is one, whatever the two are called. */
function toldInObject(value: JsonObject): (key: string) => boolean {
  const names = Object.entries(value).filter(
    ([key, text]) =>
      typeof text === 'string' && (/^keys?$/i.test(key) || !isSecretName(key)) && text.length <= 64 && isLabel(text),
  )
  return (key) => names.some(([name]) => name !== key)
}

/** Names a secret, and does not hold it too: in `password: x` it does. */
function isLabel(text: string): boolean {
  const last = /[A-Za-z_][\w.-]*(?=[\s"'`:=]*$)/.exec(text)?.[0] ?? ''
  return isSecretName(last) || (namesSecret(text) && !/[:=]\s*["'`]?[^\s"'`:=]/.test(text))
}

function namesSecret(text: string): boolean {
  return secretNameIn(text) !== undefined
}

/** Programs are given tokens in their arguments. */
function isArgument(keys: readonly PathKey[]): boolean {
  return fits('mcp.servers.*.args.*', keys) || fits('secrets.providers.*.args.*', keys)
}

/** People write whole command lines there. */
function isProgram(keys: readonly PathKey[]): boolean {
  return fits('mcp.servers.*.command', keys) || fits('secrets.providers.*.command', keys)
}

/** In settings that may have any name, the name is all there is to go by: that of the value, and those of what is around it. */
function isNamedAsSecret(keys: readonly PathKey[], value: JsonValue): boolean {
  const own = keys.findLastIndex((key) => typeof key === 'string')
  const from = freeFrom(keys)
  if (from === undefined) return false
  const names = keys.filter((key, index) => typeof key === 'string' && (index >= from || index === own)) as string[]
  return names.some((name) => isSecretName(name)) && !(typeof value === 'number' && COUNTED.test(names.at(-1) ?? ''))
}

/** From which key on the names are the user's own; the name of a tool says nothing about what is in it. */
function freeFrom(keys: readonly PathKey[]): number | undefined {
  if (keys[0] === 'tools' && keys[1] !== 'groups') return 2
  return isWithin('skills.entries.*.config', keys) ? 4 : undefined
}

const SECRET_WORD =
  /passw|(?:token|secret|passphrase|passcode|passkey|credential|apikey|accesskey|privatekey|secretkey|cookie|bearer|signature|webhook)s?\d*$|^(?:key|pass|pwd|pw|pin|auth|oauth|authorization|authentication|cred|pat|sig|hmac|jwt|dsn|otp|totp|mfa|psk|salt|seed|mnemonic|cert|certificate|pem|session|sid|csrf|xsrf|saml|login|license|private)s?\d*$/
/** A number of such things is none of them. */
const COUNTED = /max|min|limit|count|budget|size|length|ttl|timeout|expir|seconds|ms$/i

/** `apiKey`, `API_KEY`, `db-password` … : a name for something that is not shown. */
export function isSecretName(name: string): boolean {
  const words = name.replaceAll(/([a-z0-9])([A-Z])|([A-Z])(?=[A-Z][a-z])/g, '$1$3 $2').toLowerCase()
  return words.split(/[^a-z0-9]+/).some((word) => SECRET_WORD.test(word))
}

/** Without what is secret wherever it stands: in addresses the user, the password and the values of the query, tokens by their form. */
export function maskText(text: string): string {
  return text
    .replaceAll(/-----BEGIN [^-]*-----[^]*?(?:-----END [^-]*-----|$)/g, MASK)
    .replaceAll(/\/\/[^\s]+/g, maskAddress)
    .replace(/^[^\s/@:]+:[^\s/@]+@/, `${MASK}@`)
    .replaceAll(/([?&][^=&#?\s]*=)[^&#\s]+/g, `$1${MASK}`)
    .replaceAll(/(?<![\w.-])([A-Za-z_][\w.-]{0,63})(=|"\s?:\s?")[^;&,"\s]+/g, (whole, name: string, sign: string) =>
      isSecretName(name) ? `${name}${sign}${MASK}` : whole,
    )
    .replaceAll(/\b(Bearer|Basic) +\S+/gi, `$1 ${MASK}`)
    .replaceAll(TOKEN, MASK)
}

/** Without what has a form that services give to their keys. */
export function maskToken(text: string): string {
  return text.replaceAll(TOKEN, MASK)
}

/** All that has such a form. */
export function tokensIn(text: string): readonly string[] {
  return [...new Set(text.match(TOKEN))]
}

/** A key that is a word is shown; anything else is text like any other. */
function maskFreeKey(key: string): string {
  return /^[A-Za-z_][\w.-]*$/.test(key) ? maskToken(key).replaceAll(ODD, maskOdd) : maskFree(key)
}

/** Stands for a blanked part while names are looked for, since the word in it is one. */
const HOLE = '\uE000'

/**
 * A text of settings that may be anything. Too much is blanked rather than too little: all that follows the name of a secret or the
 * name of an option (`-u …`, `--any …`), all behind a colon without a blank, and what looks like no word.
 */
export function maskFree(text: string): string {
  const open = maskText(text.replaceAll(MASK, 'secret:')).replaceAll(MASK, HOLE)
  const ends = [secretNameIn(open), optionIn(open)].filter((end) => end !== undefined)
  const end = ends.length === 0 ? open.length : Math.min(...ends)
  const head = open.slice(0, end)
  const rest = open.slice(end)
  const sign = /^[\s"'`:=>]*/.exec(rest)?.[0] ?? ''
  const tail = rest.length > sign.length ? sign + HOLE : rest
  const shown = head.replaceAll(/(?<=[^\s:]:)(?!\/\/)(?:\d{1,5}(?=[/?#\s]|$)|[^\s:]\S*)/g, maskBehindColon)
  return (shown.replaceAll(ODD, maskOdd) + tail).replaceAll(HOLE, MASK)
}

/** The port of an address is shown. */
function maskBehindColon(part: string, offset: number, text: string): string {
  const before = text.slice(Math.max(0, offset - 64), offset)
  return /^\d{1,5}$/.test(part) && /(?:\/\/[^\s/:]*|localhost|\.\w{1,40}):$/.test(before) ? part : HOLE
}

/** Where the first name of a secret ends in a text. */
function secretNameIn(text: string): number | undefined {
  for (const { 0: name, index } of text.matchAll(/[A-Za-z_][\w.-]*/g))
    if (isSecretName(name)) return index + name.length
  return undefined
}

/** Where the name of the first option ends: of `-pword` that is the letter. */
function optionIn(text: string): number | undefined {
  const found = /(?<![^\s"'`,;=([{])(?:--[A-Za-z][\w-]*|-[A-Za-z])/.exec(text)
  return found === null ? undefined : found.index + found[0].length
}

/** Long, and no word: letters and digits. */
const ODD = /[\w+-]{20,}/g

function maskOdd(part: string): string {
  return /\d/.test(part) && /[A-Za-z]/.test(part) ? MASK : part
}

/** Forms that services give to their keys. */
const TOKEN =
  /\b(?:sk-|[rs]k_live_|gh[pousr]_|github_pat_|glpat-|xox[abeprs]-|AKIA|AIza|ya29\.|npm_|hf_|eyJ[\w-]{1,1000}\.eyJ)[\w.-]{8,}/g

/** One address from its two slashes on. A password may hold a slash or an @ though it should not. */
function maskAddress(address: string): string {
  return address
    .replace(/^\/\/[^/?#]*@/, `//${MASK}@`)
    .replace(/^\/\/[^/?#@:]+:(?!\d+(?:[/?#]|$))[^?#]*@/, `//${MASK}@`)
    .replace(/\?[^#]*/, (query) => query.replaceAll(/(?<=[?&;])[^&;#]+/g, maskPart))
    .replace(/#[^]+$/, `#${MASK}`)
}

/** A part of a query without a name is all value. */
function maskPart(part: string): string {
  const at = part.indexOf('=')
  return at === -1 ? MASK : `${part.slice(0, at)}=${MASK}`
}
