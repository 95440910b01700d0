import type { WrongBracket } from '../json5.ts'
import { shown, type Words, write, error, refused, warning } from './words.ts'

/** A fault of the syntax. */
export type SyntaxFault =
  | { readonly kind: 'quote'; readonly quote: string }
  | { readonly kind: 'bracket'; readonly opener: string; readonly closer: string; readonly isOpen: boolean }
  /** The sign with which the value begins, after which YAML ends it, or after which a comma is missing. */
  | { readonly kind: 'begins' | 'follows' | 'comma'; readonly sign: string }
  | ({ readonly kind: 'brackets' } & Brackets)
  | { readonly kind: 'separators' | 'indent' | 'tab' | 'escape' | 'colon' | 'list-on-line' | 'header' | 'value' }
  /** A line that is not `key: value`; with the line to type when it is near to one. */
  | { readonly kind: 'line'; readonly right?: string; readonly isText?: boolean; readonly isBelowEmpty?: boolean }
  | { readonly kind: 'colon-space'; readonly key: string }
  | { readonly kind: 'conflict' }
  /** In the words of the YAML library. */
  | { readonly kind: 'other'; readonly message: string }

/** A closing bracket, and the one that it closes. */
export type Brackets = Pick<WrongBracket, 'sign' | 'opener' | 'closer' | 'isExtra'>

/** Of a closing bracket that does not fit: the cause, and one next step. */
export function bracketWords({ sign, opener, closer, isExtra }: Brackets): readonly [message: string, fix: string] {
  if (opener === undefined) return [`The ${sign} closes no bracket.`, `Remove the ${sign}.`]
  return [
    `The brackets do not match: ${opener} is closed by ${sign}.`,
    isExtra ? `Write ${closer} in place of the ${sign}.` : `Write ${closer} before the ${sign}.`,
  ]
}

const QUOTE_IT = 'Correct the value, or put quotes around all of it if it is text.'

function syntaxWords(fault: SyntaxFault): readonly [message: string, fix: string] {
  switch (fault.kind) {
    case 'quote':
      return [`The closing ${fault.quote} is missing.`, `Write ${fault.quote} at the end of the value, too.`]
    case 'bracket':
      return fault.isOpen
        ? [`The ${fault.opener} is not closed.`, `Write the missing ${fault.closer}, probably at the end of the value.`]
        : [
            `The closing ${fault.closer} is not indented.`,
            `Indent every line between ${fault.opener} and ${fault.closer} by two spaces, the ${fault.closer} too.`,
          ]
    case 'brackets':
      return bracketWords(fault)
    case 'separators':
      return [
        'A comma, a colon or a quote is missing or too many between brackets.',
        'Check the text before this place, or write one key a line without brackets.',
      ]
    case 'comma':
      return [`A comma is missing after the ${fault.sign}.`, `Write a comma after the ${fault.sign}.`]
    case 'line':
      if (fault.right !== undefined) return ['The line is not "key: value".', write(fault.right)]
      if (fault.isBelowEmpty === true)
        return ['The value of the key above is not indented.', 'Indent the line by two spaces.']
      return fault.isText === true
        ? [
            'The line is not "key: value". It resembles instructions, so the closing --- is probably missing.',
            'Write a line with only --- below the last key, above the instructions.',
          ]
        : [
            'The line is not "key: value".',
            'Indent it by two spaces when it belongs to the value above. Otherwise write "key: value", with a space after the colon.',
          ]
    case 'colon-space':
      return [`No space follows the colon of ${fault.key}.`, `Write a space after "${fault.key}:".`]
    case 'conflict':
      return [
        'The lines from here to >>>>>>> are an unresolved merge conflict.',
        'Keep one of the two versions, and remove the lines that begin with <<<<<<<, ======= and >>>>>>>.',
      ]
    case 'indent':
      return [
        'The line does not have the indentation of the lines that it belongs to.',
        'Give all keys of one mapping, and all entries of one list, the same number of spaces.',
      ]
    case 'tab':
      return ['The line is indented with a tab.', 'Indent with spaces.']
    case 'escape':
      return [
        'Double quotes contain a backslash that YAML does not know.',
        "Use single quotes, '…', or write two backslashes for one.",
      ]
    case 'colon':
      return ['A value without quotes contains ": ".', QUOTE_IT]
    case 'list-on-line':
      return ['A list begins on the line of its key.', 'Write each entry below the key, as "- entry".']
    case 'header':
      return ['Text follows | or > on its line.', 'Begin the text on the next line, indented by two spaces.']
    case 'begins':
      return [`A value without quotes begins with ${fault.sign}, which is syntax in YAML.`, QUOTE_IT]
    case 'follows':
      return [`Text follows a ${fault.sign} that ends the value in YAML.`, QUOTE_IT]
    case 'value':
      return ['A value without quotes contains a character that is syntax in YAML.', QUOTE_IT]
    case 'other':
      return [`The YAML is not valid: ${fault.message}.`, QUOTE_IT]
  }
}

/** How to write a value as it was read: the whole line, or what to type where. */
export type RepairFix =
  | { readonly line: string }
  | { readonly span: 'line' | 'lines'; readonly hasQuote: boolean; readonly header?: string }
  | { readonly span: 'keys' }

function repairFix(fix: RepairFix): string {
  if ('line' in fix) return write(fix.line)
  if (fix.span === 'keys') return 'Write the keys as YAML, one a line, without comments of JSON.'
  const twice = fix.hasQuote ? " Write each ' between them as ''." : ''
  if (fix.span === 'line') return `Put a single quote ' before the value and another at the end of the line.${twice}`
  const begin = fix.header === undefined ? 'before the value' : `in place of ${fix.header}`
  return `Put a single quote ' ${begin}, and another at the end of its last line.${twice}`
}

/** About the syntax of the frontmatter. */
export const YAML_FINDINGS = {
  'frontmatter-not-mapping': error((kind: 'list' | 'value', right?: string): Words => [
    `The frontmatter is ${kind === 'list' ? 'a list' : 'one value'}, not keys with values.`,
    right === undefined ? 'Write one "key: value" a line, with a space after the colon.' : write(right),
  ]),
  'frontmatter-json': warning((): Words => [
    'The frontmatter is one JSON object. Other clients expect one "key: value" a line.',
    'Write one "key: value" a line.',
  ]),
  'yaml-invalid': error(syntaxWords),
  'yaml-repaired': refused((key: string, reason: string, fix: RepairFix): Words => [
    `Nexus read the value of ${key} as plain text. ${reason}`,
    repairFix(fix),
  ]),
  'quoted-unindented': refused((key: string): Words => [
    `The quoted value of ${key} continues at the start of a line. Nexus read it to its closing quote.`,
    'Indent the further lines of the value by two spaces.',
  ]),
  'yaml-duplicate-key': error(
    (
      key: string,
      where: { readonly json?: string; readonly isLine: boolean; readonly values?: readonly [string, string] },
      firstLine?: number,
    ): Words => [
      `The key ${shown(key)} is given twice${where.json === undefined ? '' : ` in the JSON of ${where.json}`}${firstLine === undefined ? '' : `, first on line ${firstLine}`}${where.values === undefined ? '' : `, as ${where.values.map(shown).join(' and as ')}`}.`,
      where.isLine && where.values !== undefined && firstLine !== undefined
        ? `Remove this line, or line ${firstLine}.`
        : `Keep one of the two ${shown(key)}, and remove the other with its value.`,
    ],
  ),
  'yaml-key-not-text': error((sign?: string): Words =>
    sign === undefined
      ? ['A key is a list or a mapping.', 'Write keys as plain words.']
      : [
          `A key begins with ${sign}, which does not begin a comment in YAML.`,
          'Remove the comment, or write it as # … on a line of its own.',
        ],
  ),
  'yaml-anchor': error((source: string): Words => [
    `Nexus does not accept YAML anchors, such as ${shown(source)}.`,
    `Remove ${source}, and nothing else of the value.`,
  ]),
  'yaml-alias': error((source: string): Words => [
    `Nexus does not accept YAML aliases, such as ${shown(source)}.`,
    `Write the value itself in place of ${source}.`,
  ]),
  'yaml-tag': error((source: string): Words => {
    // A flag may be all of a tag: without it nothing would be left.
    const word = /^!(true|false|yes|no|on|off)$/i.exec(source)?.[1]
    const fix = word === undefined ? `Remove the tag ${source}.` : `Write ${word} in place of ${source}.`
    return [`Nexus does not accept YAML tags, such as ${shown(source)}.`, fix]
  }),
  'yaml-core-tag': warning((source: string): Words => [
    `The YAML tag ${source} is not needed.`,
    source === '!!str' ? 'Put quotes around the text instead of the tag.' : `Remove ${source}.`,
  ]),
  'yaml-merge-key': error((): Words => [
    'Nexus does not accept the YAML merge key <<.',
    'Remove the line, and write out the keys that it refers to.',
  ]),
  'yaml-directive': error((source: string): Words => [
    `Nexus does not accept YAML directives, such as ${shown(source)}.`,
    'Remove the line.',
  ]),
  'yaml-multiple-documents': error((): Words => [
    'A second YAML document begins inside the frontmatter.',
    'End the frontmatter with a line of exactly ---.',
  ]),
  'yaml-too-complex': error((limit: number, what: string): Words => [
    `Nexus did not read the frontmatter: it has more than ${limit} ${what}.`,
    'Move data into a file beside SKILL.md.',
  ]),
  'odd-space': warning((hidden: string, key: string): Words => [
    `The key ${shown(key)} contains ${hidden}, which is a letter in YAML. Nexus reads another key.`,
    `Type the line again, with common spaces: ${key}:`,
  ]),
}
