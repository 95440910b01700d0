import { withoutUnseen } from '../../../kernel/index.ts'
import type { FrontmatterSyntax } from '../messages/yaml.ts'

/** A line that is no key: near to one, or text behind a frontmatter without its end. */
export function lineFault(text: string, offset: number): [kind: FrontmatterSyntax, right?: string] {
  const start = text.lastIndexOf('\n', offset - 1) + 1
  const right = asKeyLine(text.slice(start).split('\n', 1)[0] ?? '')
  if (right !== undefined) return ['key', right]
  const above = text.slice(0, start).split('\n').slice(0, -1)
  const lastKey = above.findLastIndex((line) => /^[\w.-]+[ \t]*:(?:\s|$)/.test(line))
  // An empty line or a heading does not come between keys.
  return [above.slice(lastKey + 1).some((line) => line.trim() === '' || line.startsWith('#')) ? 'end' : 'line']
}

/** A key, and what is there instead of a colon and a space: also `=`, and colons of other alphabets. */
const KEY_AND_SIGN = /^\s*["']?([\w.-]+)["']?\s*([:=\uff1a\ua789\u2236])(.*)$/u
const KEY_WITHOUT_SIGN = /^(name|description|license|compatibility|version)[ \t]+([^:=\s].*)$/

/** A line that was probably meant as `key: value`, written right; undefined when it was not. */
export function asKeyLine(line: string): string | undefined {
  const [, word, text = ''] = KEY_WITHOUT_SIGN.exec(line) ?? []
  if (word !== undefined) return keyLine(word, text)
  const [, key = '', sign = '', value = ''] = KEY_AND_SIGN.exec(line) ?? []
  return key === '' || (sign === ':' && /^[ \t]|^$|^\/\//.test(value)) ? undefined : keyLine(key, value)
}

/** A long line is not repeated: it may not be cut. */
function keyLine(key: string, value: string): string {
  const characters = [...value]
  const first = characters.findIndex((character) => withoutUnseen(character).trim() !== '')
  const text = first < 0 ? '' : characters.slice(first).join('').trimEnd()
  return `${key}: ${text.length > 80 ? '<the text of the line>' : text}`
}
