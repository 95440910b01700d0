import { isJsonObject, membersOf, type JsonObject, type JsonValue, toSafeLine } from '../../../kernel/index.ts'

export interface Setting {
  readonly keys: readonly (string | number)[]
  readonly value: JsonValue
}

/** Every value of a document in order; empty lists and maps count as values. */
export function settingsIn(document: JsonValue, keys: Setting['keys'] = []): Setting[] {
  const members = membersOf(document)
  return members.length === 0
    ? [{ keys, value: document }]
    : members.flatMap(([key, member]) => settingsIn(member, [...keys, key]))
}

/** A line of YAML, and the setting that it shows if it shows one. */
interface Line {
  readonly text: string
  readonly setting?: Setting
}

/** The document as YAML that can be read again, each value with a comment behind it. Text of files is made safe to show. */
export function toYaml(document: JsonObject, commentOf: (setting: Setting) => string): string {
  const lines = linesOf(document, { keys: [], indent: '' })
  const width = Math.min(MAX_WIDTH, Math.max(0, ...lines.map(({ text }) => text.length)))
  return lines.map(({ text, setting }) => (setting ? `${text.padEnd(width)}  ${commentOf(setting)}` : text)).join('\n')
}

const MAX_WIDTH = 56

function linesOf(value: JsonValue, { keys, indent }: { keys: Setting['keys']; indent: string }): Line[] {
  if (Array.isArray(value)) {
    return value.flatMap((member, index): Line[] => {
      const here = [...keys, index]
      if (isLeaf(member)) return [{ text: `${indent}- ${scalar(member)}`, setting: { keys: here, value: member } }]
      const [first, ...rest] = linesOf(member, { keys: here, indent: `${indent}  ` })
      return first ? [{ ...first, text: `${indent}- ${first.text.trimStart()}` }, ...rest] : []
    })
  }
  if (!isJsonObject(value)) return []
  return Object.entries(value).flatMap(([key, member]): Line[] => {
    const here = [...keys, key]
    const name = `${indent}${scalar(key)}:`
    if (isLeaf(member)) return [{ text: `${name} ${scalar(member)}`, setting: { keys: here, value: member } }]
    return [{ text: name }, ...linesOf(member, { keys: here, indent: `${indent}  ` })]
  })
}

function isLeaf(value: JsonValue): boolean {
  if (Array.isArray(value)) return value.length === 0
  return !isJsonObject(value) || Object.keys(value).length === 0
}

/** Plain where YAML reads it back as the same text, else in double quotes. */
function scalar(value: JsonValue): string {
  if (typeof value !== 'string') return JSON.stringify(value)
  const isPlain = /^[A-Za-z_./~][\w./~@+-]*$/.test(value) && !/^(?:true|false|null|yes|no|on|off|y|n|~)$/i.test(value)
  return isPlain && !/^[.\d]+$/.test(value) ? value : toSafeLine(JSON.stringify(value))
}
