import type { Form } from '../fields/table.ts'
import { shown, type Words, write, refused, refusedByOpenclaw, warning } from './words.ts'

function writeKey(line: string, isThere: boolean): string {
  return isThere ? write(line) : `Add a line below the opening ---: ${line}`
}

type NotMapping = { readonly fault: string } | { readonly kind: 'a list' | 'text' | 'one value' }

function notMapping(key: string, why: NotMapping): Words {
  return 'kind' in why
    ? [
        `${key} is ${why.kind}, not keys with values, so Nexus does not use it.`,
        'Write the keys below metadata:, indented by two spaces.',
      ]
    : [
        `${key} is not valid JSON, so Nexus does not use it: ${why.fault}`,
        'Correct the JSON, or write its keys as YAML, one a line.',
      ]
}

const FORM = (key: string, { wanted, example }: Pick<Form, 'wanted' | 'example'>): Words => [
  `Nexus cannot read ${key}. It must be ${wanted}.`,
  write(example),
]

/** About the fields of a skill. */
export const FIELD_FINDINGS = {
  'comment-in-value': warning((comment: string): Words => [
    `YAML read ${shown(comment)} as a comment, so it is not part of the description.`,
    'Put quotes around the whole value when the text belongs to it.',
  ]),
  'name-missing': refused((line: string, isThere: boolean): Words => [
    "The skill has no name. Nexus uses the directory's name.",
    writeKey(line, isThere),
  ]),
  'name-not-text': refused((line: string): Words => [
    "The name is not text. Nexus uses the directory's name.",
    write(line),
  ]),
  'name-invalid': refused(
    (name: string, breaches: readonly string[], right: { name: string; rename: boolean }): Words => [
      `The name ${shown(name)} ${breaches.join(', ')}. Other clients refuse it.`,
      write(`name: ${right.name}${right.rename ? `, and rename the directory to ${right.name}` : ''}`),
    ],
  ),
  'name-differs': refused((name: string, directory: string, ways: readonly string[]): Words => [
    `The name ${shown(name)} differs from its directory ${shown(directory)}. Nexus uses the name.`,
    ways.length === 0 ? 'Give the directory and the skill the same name.' : ways.join(', or '),
  ]),
  'description-missing': refused((isThere: boolean): Words => [
    'The skill has no text of its own as description, so Nexus holds it.',
    writeKey('description: "What it does. Use when …"', isThere),
  ]),
  'description-not-text': warning((text: string): Words => [
    `The description ${shown(text)} is not text in YAML. Nexus read it as written.`,
    write(`description: "${text}"`),
  ]),
  'description-long': refused((length: number, limit: number): Words => [
    `The description has ${length} characters. The specification allows ${limit}.`,
    'Keep what the skill does and when to use it. Move the other text below the frontmatter.',
  ]),
  'hidden-characters': warning((): Words => [
    'The description contains control, bidi or invisible characters. Nexus removes them.',
    'Type the text again without them.',
  ]),
  'compatibility-long': refused((length: number, limit: number): Words => [
    `compatibility has ${length} characters. The specification allows ${limit}.`,
    'Shorten it, and move details into the instructions.',
  ]),
  'field-type': refused(FORM),
  'metadata-field': refusedByOpenclaw(FORM),
  'key-spelling': warning((key: string, right: string): Words => [
    `Nexus read ${key} as ${right}.`,
    write(`${right}:`),
  ]),
  'key-similar': warning((key: string, right: string): Words => [
    `Nexus does not read the key ${shown(key)}. It is close to ${right}.`,
    `Rename the key to ${right}, or remove it.`,
  ]),
  'curly-quotes': warning((key: string): Words => [
    `The value of ${key} begins and ends with curly quotes. YAML reads them as part of the text.`,
    'Remove both, or write straight quotes (") in their place.',
  ]),
  'tools-unbalanced': refused((key: string): Words => [
    `A parenthesis in ${key} is not closed.`,
    'Write the missing ), as in Bash(git:*).',
  ]),
  'metadata-not-mapping': refused(notMapping),
  'metadata-key': warning((key: string, right: string): Words => [
    `Nexus does not read the key ${shown(key)} here.`,
    `Write ${right} instead of ${shown(key)}, or remove it.`,
  ]),
  'requires-invalid': refusedByOpenclaw((key: string, wanted: string, entries: readonly string[]): Words => [
    `requires.${key} contains entries that are not ${wanted}: ${entries.map(shown).join(', ')}. Nexus holds the skill.`,
    'Correct the entries, or remove them.',
  ]),
  'install-invalid': refusedByOpenclaw((entry: number): Words => [
    `Nexus ignores install entry ${entry}, because it has no kind.`,
    write('{id: brew, kind: brew, formula: gh}'),
  ]),
}
