/** Top-level keys whose values are true or false. */
export const FLAGS: ReadonlySet<string> = new Set([
  ...['disable-model-invocation', 'disable_model_invocation', 'user-invocable', 'user_invocable', 'background'],
])
const MAPPINGS: ReadonlySet<string> = new Set(['metadata', 'requires', 'install', 'hooks', 'tools'])
const LISTS: ReadonlySet<string> = new Set([
  ...['allowed-tools', 'allowed_tools', 'disallowed-tools', 'arguments', 'tags', 'triggers', 'paths', 'os', 'anyBins'],
])
/** Their values are flags, lists, mappings or names: a text in their place would not do what the YAML says. */
export const NOT_PROSE: ReadonlySet<string> = new Set([...FLAGS, ...MAPPINGS, ...LISTS, 'primaryEnv', 'name'])

/** What to write where quotes would hide the value, and the fault when it is known; undefined where a text is allowed. */
export function fixWithoutQuotes(text: string, offset: number): { fix: string; message?: string } | undefined {
  const { key, start } = keyAbove(text, offset)
  if (isBetweenBrackets(text.slice(start, offset))) return aboutComma(text, offset)
  if (FLAGS.has(key)) return { fix: `write: ${key}: true, or: ${key}: false` }
  if (MAPPINGS.has(key))
    return { fix: `correct the value, or write the keys of ${key} below it, one a line, indented by two spaces` }
  return LISTS.has(key) ? { fix: `write the value as a list: ${key}: [first, second]` } : undefined
}

function keyAbove(text: string, offset: number): { readonly key: string; readonly start: number } {
  const before = text.slice(0, offset)
  let found = { key: '', start: 0 }
  for (const match of before.matchAll(/^["']?([\w.-]+)["']?[ \t]*:/gm)) {
    found = { key: match[1] ?? '', start: match.index + match[0].length }
  }
  return found
}

function isBetweenBrackets(text: string): boolean {
  let depth = 0
  for (const { 0: piece, index } of text.matchAll(/"(?:[^"\\]|\\.)*"|'[^']*'|[{}[\]]/gs)) {
    // Within a text brackets mean nothing.
    const begins = depth > 0 || /(?:^|[:\n-])\s*$/.test(text.slice(Math.max(0, index - 40), index))
    if (piece === '{' || piece === '[') depth += begins ? 1 : 0
    else if (depth > 0 && (piece === '}' || piece === ']')) depth--
  }
  return depth > 0
}

const VALUE = String.raw`"[^"\n]{0,60}"|'[^'\n]{0,60}'|[^\s,:{}[\]"']{1,60}`
const BEFORE_KEY = new RegExp(String.raw`^(${VALUE})\s+["']?[\w.-]+["']?\s*:`)
const AT_END = new RegExp(String.raw`(${VALUE}|[}\]])\s*$`)

function aboutComma(text: string, offset: number): { fix: string; message?: string } {
  const value = BEFORE_KEY.exec(text.slice(offset, offset + 300))?.[1] ?? AT_END.exec(text.slice(0, offset))?.[1]
  return value === undefined
    ? { fix: 'check the commas, colons and quotes between the brackets, or write one key a line instead' }
    : { message: 'a comma is missing between brackets', fix: `put the missing comma behind ${value}` }
}
