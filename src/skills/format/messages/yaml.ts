import { SYNTAX } from '../../../yaml/index.ts'
import { shown, type Words, write, error, refused, warning } from './words.ts'

/** Errors of YAML, and those that only a frontmatter has. */
const FRONTMATTER_SYNTAX = {
  ...SYNTAX,
  end: [
    'The line is not "key: value". It resembles instructions, so the closing --- is probably missing.',
    'Write a line with only --- below the last key, above the instructions.',
  ],
  conflict: [
    'The lines from here to >>>>>>> are an unresolved merge conflict.',
    'Keep one of the two versions, and remove the lines that begin with <<<<<<<, ======= and >>>>>>>.',
  ],
} as const satisfies Record<string, Words>

/** `key` has the line to type. */
export type FrontmatterSyntax = keyof typeof FRONTMATTER_SYNTAX | 'key'

function syntaxWords(kind: FrontmatterSyntax, right = ''): Words {
  return kind === 'key' ? [SYNTAX.line[0], write(right)] : FRONTMATTER_SYNTAX[kind]
}

function quoteFix(line: string | undefined): string {
  return line === undefined ? "Put single quotes around the value, and write each ' in it twice." : write(line)
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
  /** `right` is the whole line with quotes; absent where it is long, or one of several. */
  'yaml-repaired': refused((key: string, reason: string, right: { readonly line?: string } | 'json'): Words => [
    `Nexus read the value of ${key} as plain text. ${reason}`,
    right === 'json' ? 'Write the keys as YAML, one a line, without comments of JSON.' : quoteFix(right.line),
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
