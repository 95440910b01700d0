/** written-out: secrets that a file has as text, hidden where a person reads the file to trust it. */
import { isScalar, isSeq, isMap, type Scalar } from 'yaml'
import { isJsonObject, type JsonValue, nearest } from '../../kernel/index.ts'
import { keyText, readYamlTree } from '../../yaml/index.ts'
import { fits, type Path } from '../document/path.ts'
import { isSecret, isSetting } from '../schema/walk.ts'

const CREDENTIAL = /(?:key|token|secret|passw(?:or)?d|passphrase|credentials?|authorization)$/i
const CREDENTIALS: readonly string[] = ['apiKey', 'token', 'secret', 'password', 'credentials', 'authorization']
/** A commented-out setting of a secret. */
const COMMENT = /^([ \t]*#.*?(?:key|token|secret|password|credentials|authorization)["']?[ \t]*[:=][ \t]*)(\S.*)$/gim
/** `${NAME}`, also after the scheme of a header, contains no secret. */
const REFERENCE = /^(?:Bearer |Basic )?\$\{[^}]*\}$/

/** The text with its length in place of each secret. A text that is not YAML keeps what cannot be recognised. */
export function withoutSecrets(text: string): string {
  const found: { readonly from: number; readonly to: number; readonly value: JsonValue }[] = []
  const visit = (node: unknown, at: Path): void => {
    if (isMap(node)) for (const pair of node.items) visit(pair.value, [...at, keyText(pair.key) ?? ''])
    else if (isSeq(node)) for (const [index, item] of node.items.entries()) visit(item, [...at, index])
    else if (isScalar(node) && node.range && isSecretText(node.value as JsonValue, at)) {
      const [from, to] = node.range
      found.push({ from, to: from + text.slice(from, to).trimEnd().length, value: (node as Scalar).value as JsonValue })
    }
  }
  visit(readYamlTree(text)?.contents, [])
  let shown = text
  for (const { from, to, value } of found.toReversed()) shown = shown.slice(0, from) + hidden(value) + shown.slice(to)
  return shown.replaceAll(COMMENT, (line, before: string, value: string) =>
    REFERENCE.test(value) ? line : before + hidden(value),
  )
}

/** The same of a value. */
export function withoutSecretsIn(value: JsonValue, at: Path): JsonValue {
  if (Array.isArray(value)) return value.map((item, index) => withoutSecretsIn(item, [...at, index]))
  if (isJsonObject(value))
    return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, withoutSecretsIn(part, [...at, key])]))
  return isSecretText(value, at) ? hidden(value) : value
}

/** Its length shows a person that it changed; trust is bound to the value itself. */
function hidden(value: JsonValue): string {
  return `[hidden, ${String(value).length} characters]`
}

function isSecretText(value: JsonValue, at: Path): boolean {
  if (typeof value !== 'string' && typeof value !== 'number') return false
  const text = String(value).trim()
  if (text === '' || REFERENCE.test(text) || text.includes('://')) return false
  // A variable of a server, such as NODE_OPTIONS, may decide what runs: only those with the name of a secret are hidden.
  if (fits('mcp.servers.*.env.*', at)) return isCredential(at)
  return isSecret(at) || (!isKnown(at) && isCredential(at))
}

function isCredential(at: Path): boolean {
  const key = at.findLast((part) => typeof part === 'string') ?? ''
  return CREDENTIAL.test(key) || nearest(key, CREDENTIALS) !== undefined
}

function isKnown(at: Path): boolean {
  return at.every((key) => typeof key === 'string') && isSetting(at)
}
