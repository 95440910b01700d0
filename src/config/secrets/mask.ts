/** mask: what may be shown of settings. What is not known to be harmless is blanked by its place, its name or its form. */
import { isJsonObject, type JsonValue } from '../../kernel/index.ts'
import type { PathKey } from '../document/read-yaml.ts'
import { fits, isWithin } from '../layers/pattern.ts'
import { asSecretCommand, isGuarded, isSecretText } from './places.ts'

const MASK = '[secret]'
/** What is guarded and no known secret: as in code frames. */
const HIDDEN = '[hidden]'

/** How much is shown: `known` values that are no secret, or only `harmless` ones, as in code frames. */
export type Shown = 'known' | 'harmless'

/** A copy for showing. Each secret that is blanked because of its place is added to `secrets`, so that copies of it can be blanked too. */
export function maskValue(
  value: JsonValue,
  {
    shown,
    secrets,
    keys = [],
  }: { readonly shown: Shown; readonly secrets: string[]; readonly keys?: readonly PathKey[] },
): JsonValue {
  if (Array.isArray(value))
    return value.map((item, index) => maskValue(item, { shown, secrets, keys: [...keys, index] }))
  const command = isSecretText(keys) ? asSecretCommand(value) : undefined
  // Arguments of a program may be secrets themselves.
  if (command !== undefined) return shown === 'known' ? `${MASK} from ${command.command[0] ?? 'a command'}` : MASK
  if (isJsonObject(value)) {
    const members = Object.entries(value).map(([key, member]): [string, JsonValue] => [
      key,
      maskValue(member, { shown, secrets, keys: [...keys, key] }),
    ])
    return Object.fromEntries(members)
  }
  return maskLeaf(value, keys, { shown, secrets })
}

function maskLeaf(
  value: JsonValue,
  keys: readonly PathKey[],
  { shown, secrets }: { readonly shown: Shown; readonly secrets: string[] },
): JsonValue {
  if (value === null) return value
  if (isSecretText(keys)) {
    secrets.push(String(value))
    return MASK
  }
  if (typeof value === 'boolean') return value
  if (shown === 'harmless' && isGuarded(keys)) return HIDDEN
  if (isArgument(keys) || isNamedAsSecret(keys, value)) return MASK
  return typeof value === 'string' ? maskText(value) : value
}

/** Programs are given tokens in their arguments. */
function isArgument(keys: readonly PathKey[]): boolean {
  return fits('mcp.servers.*.args.*', keys) || fits('secrets.providers.*.args.*', keys)
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
  /passw|(?:token|secret|passphrase|passcode|credential|apikey|accesskey|privatekey|secretkey|cookie|bearer|signature|webhook)s?\d*$|^(?:key|pass|pwd|pw|pin|auth|authorization|authentication|sig|jwt|dsn|otp|psk|salt|cert|session|private)s?\d*$/
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

/** Forms that services give to their keys. */
const TOKEN =
  /\b(?:sk-|[rs]k_live_|gh[pousr]_|github_pat_|glpat-|xox[abeprs]-|AKIA|AIza|ya29\.|npm_|hf_|eyJ[\w-]{1,1000}\.eyJ)[\w.-]{8,}/g

/** One address from its two slashes on. A password may hold a slash or an @ though it should not. */
function maskAddress(address: string): string {
  return address
    .replace(/^\/\/[^/?#]*@/, `//${MASK}@`)
    .replace(/^\/\/[^/?#@:]+:(?!\d+(?:[/?#]|$))[^?#]*@/, `//${MASK}@`)
    .replace(/\?[^#]*/, (query) => query.replaceAll(/(?<=[?&;])[^&;#]+/g, maskPart))
    .replace(/#[^]*$/, (fragment) => (fragment.includes('=') ? `#${MASK}` : fragment))
}

/** A part of a query without a name is all value. */
function maskPart(part: string): string {
  const at = part.indexOf('=')
  return at === -1 ? MASK : `${part.slice(0, at)}=${MASK}`
}
