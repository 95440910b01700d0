import { found } from '../messages/messages.ts'
import { type Entry, lineEdit, type Repair, type Repaired, topLevelEntries } from './entries.ts'
import { closingQuote } from '../../../yaml/index.ts'
import { isFatal, readYaml } from './read.ts'

/** Lines whose indentation is wrong and whose meaning is not: further lines of a quoted text, and keys below a value. */
export function repairIndentation(text: string): Repaired {
  const lines = text.split('\n')
  const repairs = [...indentQuoted(lines), ...dedentKeys(lines)]
  return { text: lines.join('\n'), repairs }
}

/** Indents lines of a quoted text that begin at column 1. Most readers of YAML go on there. Source: decisions, "quoted values". */
function indentQuoted(lines: string[]): Repair[] {
  const before = [...lines]
  const repairs: Repair[] = []
  for (const { key, line, head } of topLevelEntries(before)) {
    const quote = before[line]?.[head] ?? ''
    if (quote !== '"' && quote !== "'") continue
    const text = before.slice(line).join('\n').slice(head)
    const end = closingQuote(text)
    const below = text.slice(0, end).split('\n').length - 1
    const after = text.slice(end + 1).split('\n', 1)[0] ?? ''
    if (end < 0 || below === 0 || !/^[ \t]*$|^[ \t]+#/.test(after)) continue
    const more = before.slice(line + 1, line + 1 + below)
    if (!more.some((each) => /^\S/.test(each))) continue
    const now = more.map((each) => (/^\S/.test(each) ? `  ${each}` : each))
    lines.splice(line + 1, below, ...now)
    const first = line + 1 + more.findIndex((each) => /^\S/.test(each))
    const edit = lineEdit(before, line + 1, now)
    repairs.push({ found: found('quoted-unindented', key), key, line: first + 1, column: 1, edit })
  }
  return repairs
}

/** Keys at the top of a frontmatter, which hardly ever begin a line of a text. */
const TOP_KEYS: ReadonlySet<string> = new Set([
  ...['name', 'description', 'license', 'compatibility', 'metadata', 'allowed-tools', 'version', 'author', 'homepage'],
  ...['argument-hint', 'when_to_use', 'user-invocable', 'disable-model-invocation'],
])
const INDENTED_KEY = /^([ \t]+)([A-Za-z_][\w.-]*)[ \t]*:(?:[ \t]|$)/

/** Gives keys that are indented below a value their place at column 1. */
function dedentKeys(lines: string[]): Repair[] {
  const before = [...lines]
  const entries = topLevelEntries(before)
  const taken = new Set(entries.map(({ key }) => key))
  return [leading(before, entries), ...entries].flatMap((entry) => {
    const keys = indentedKeys(entry, taken)
    const [first] = keys
    if (first === undefined) return []
    for (const { at, key, indent } of keys) {
      taken.add(key)
      lines[at] = (before[at] ?? '').slice(indent)
    }
    const last = keys.at(-1)?.at ?? first.at
    const edit = lineEdit(before, first.at, lines.slice(first.at, last + 1))
    const place = { line: first.at + 1, column: first.indent + 1 }
    return [{ found: found('key-indented', first.key, entry.key), key: first.key, ...place, edit }]
  })
}

/** The lines before the first key at column 1, as if a key without name were above them. */
function leading(lines: readonly string[], entries: readonly Entry[]): Entry {
  return { key: '', line: -1, head: 0, lines: ['', ...lines.slice(0, entries[0]?.line ?? 0)] }
}

interface IndentedKey {
  readonly at: number
  readonly key: string
  readonly indent: number
}

/** Keys of one indentation below a value on the line of its key, when one of them belongs to the top and none is there already. */
function indentedKeys({ key, line, head, lines }: Entry, taken: ReadonlySet<string>): readonly IndentedKey[] {
  const value = (lines[0] ?? '').slice(head)
  const isOpen = /^["']/.test(value) && closingQuote(value) < 0
  const isValue = key === '' || (value.trim() !== '' && !/^[|>#[{]|:(?:\s|$)/.test(value))
  const found = lines
    .map((text, index) => ({ at: line + index, match: INDENTED_KEY.exec(text) }))
    .flatMap(({ at, match }) => (match ? [{ at, key: match[2] ?? '', indent: (match[1] ?? '').length }] : []))
  const known = found.find((each) => TOP_KEYS.has(each.key))
  const keys = found.filter(({ indent }) => indent === known?.indent)
  const isNew = new Set(keys.map((each) => each.key)).size === keys.length && !keys.some((each) => taken.has(each.key))
  const isBroken = key === '' || readYaml(lines.join('\n')).problems.some(isFatal)
  return isValue && !isOpen && known !== undefined && isNew && isBroken ? keys : []
}
