import { shown, type Words, write } from './words.ts'
import { bracketWords, type Brackets } from './yaml.ts'

/** What a field must be. */
export interface Expected {
  readonly wanted: string
  /** A whole line that is right. */
  readonly example: string
  /** What Nexus does with the wrong value. Default: it ignores it. */
  readonly effect?: string
  /** In place of the example. */
  readonly fix?: string
}

function add(line: string): string {
  return `Add a line below the opening ---: ${line}`
}

const DESCRIPTION = 'description: "What it does. Use when …"'

/** Where a description may be instead. */
export type DescriptionPlace =
  | { readonly kind: 'absent' | 'empty' | 'empty-block' | 'body' | 'template' }
  | { readonly kind: 'renamed' | 'beside' | 'below'; readonly key: string }

function descriptionFix(place: DescriptionPlace): string {
  switch (place.kind) {
    case 'absent':
      return add(DESCRIPTION)
    case 'empty':
      return write(DESCRIPTION)
    case 'template':
      return 'Write what the skill does, and when to use it, in your own words.'
    case 'empty-block':
      return 'Indent the lines of the text below description by two spaces.'
    case 'body':
      return 'Move the line that begins with "description:" above the closing ---.'
    case 'renamed':
      return `Rename the key ${shown(place.key)} to description.`
    case 'beside':
      return `Move the text of ${shown(place.key)} to description.`
    case 'below':
      return `Move description: out of ${shown(place.key)}, to the start of a line.`
  }
}

/** Why a key of metadata has no effect. */
export type KeyFault =
  | { readonly kind: 'unknown'; readonly requirement: boolean; readonly right?: string; readonly hidden?: string }
  | { readonly kind: 'outside-requires'; readonly right: string }
  | { readonly kind: 'twice' }

type NotMapping =
  | { readonly fault: string }
  | { readonly brackets: Brackets }
  | { readonly kind: 'a list' | 'text' | 'one value' }

function notMapping(key: string, why: NotMapping): Words {
  if ('kind' in why)
    return [
      `${key} is ${why.kind}, not keys with values, so Nexus does not use it.`,
      'Write the keys below metadata:, indented by two spaces.',
    ]
  const [reason, fix] =
    'brackets' in why
      ? bracketWords(why.brackets)
      : [why.fault, 'Correct the JSON, or write its keys as YAML, one a line.']
  return [`${key} is not valid JSON, so Nexus does not use it: ${reason}`, fix]
}

function metadataKey(key: string, fault: KeyFault): Words {
  if (fault.kind === 'twice')
    return [
      `${key} is given beside requires and inside it. Nexus does not read the one inside.`,
      `Keep one ${key}:, and remove the other.`,
    ]
  if (fault.kind === 'outside-requires')
    return [
      `${shown(key)} is not inside requires. Nexus does not check it there.`,
      `Move it into requires, with the key ${shown(fault.right)}.`,
    ]
  const { right, requirement, hidden } = fault
  const message = requirement
    ? `Nexus does not check ${shown(key)} in requires.`
    : `Nexus does not read the key ${shown(key)}.`
  const why = hidden === undefined ? '' : ` It contains ${hidden}, which is invisible.`
  return [
    message + why,
    right === undefined
      ? 'Move it out of requires. Requirements are bins, anyBins, env and config.'
      : `Write ${shown(right)} instead of ${shown(key)}.`,
  ]
}

/** About the fields of a skill. */
export const FIELD_MESSAGES = {
  'comment-in-value': (comment: string): Words => [
    `YAML read ${shown(comment)} as a comment, so it is not part of the description.`,
    'Put quotes around the whole value when the text belongs to it.',
  ],
  'name-missing': (how: { readonly line: string; readonly isThere: boolean } | { readonly from: string }): Words => [
    "The skill has no name. Nexus uses the directory's name.",
    'from' in how ? `Rename the key ${shown(how.from)} to name.` : how.isThere ? write(how.line) : add(how.line),
  ],
  'name-not-text': (line: string): Words => ["The name is not text. Nexus uses the directory's name.", write(line)],
  'name-invalid': (name: string, breaches: readonly string[], right: { name: string; rename: boolean }): Words => [
    `The name ${shown(name)} ${breaches.join(', ')}. Other clients refuse it.`,
    write(`name: ${right.name}${right.rename ? `, and rename the directory to ${right.name}` : ''}`),
  ],
  'name-differs': (name: string, directory: string, ways: readonly string[]): Words => [
    `The name ${shown(name)} differs from its directory ${shown(directory)}. Nexus uses the name.`,
    ways.length === 0 ? 'Give the directory and the skill the same name.' : ways.join(', or '),
  ],
  'description-missing': (place: DescriptionPlace): Words => [
    place.kind === 'template'
      ? 'The description is the text of a template, so Nexus holds the skill.'
      : place.kind.startsWith('empty')
        ? 'The description is empty, so Nexus holds the skill.'
        : 'The skill has no description, so Nexus holds it.',
    descriptionFix(place),
  ],
  'description-not-text': (text?: string, kind?: 'list'): Words =>
    text === undefined
      ? [
          'The description is a list or a mapping, so Nexus holds the skill.',
          kind === 'list' ? 'Write it as text on the line of "description:", not as a list.' : write(DESCRIPTION),
        ]
      : [
          `The description ${shown(text)} is not text in YAML. Nexus read it as written.`,
          write(`description: "${text}"`),
        ],
  'description-long': (length: number, limit: number): Words => [
    `The description has ${length} characters. The specification allows ${limit}.`,
    'Keep what the skill does and when to use it. Move the other text below the frontmatter.',
  ],
  'hidden-characters': (): Words => [
    'The description contains control, bidi or invisible characters. Nexus removes them.',
    'Type the text again without them.',
  ],
  'compatibility-long': (length: number, limit: number): Words => [
    `compatibility has ${length} characters. The specification allows ${limit}.`,
    'Shorten it, and move details into the instructions.',
  ],
  'field-type': (key: string, { wanted, example, effect = 'Nexus ignores it.' }: Expected): Words => [
    `${key} must be ${wanted}. ${effect}`,
    write(example),
  ],
  'metadata-field': (
    key: string,
    { wanted, example, effect = 'Nexus ignores it.', fix = write(example) }: Expected,
  ): Words => [`${key} must be ${wanted}. ${effect}`, fix],
  'key-spelling': (key: string, right: string): Words => [`Nexus read ${key} as ${right}.`, write(`${right}:`)],
  'key-similar': (key: string, right: string): Words => [
    `Nexus does not read the key ${shown(key)}. It is close to ${right}.`,
    `Rename the key to ${right}, or remove it.`,
  ],
  'curly-quotes': (key: string): Words => [
    `The value of ${key} begins and ends with curly quotes. YAML reads them as part of the text.`,
    'Remove both, or write straight quotes (") in their place.',
  ],
  'tool-similar': (tool: string, right: string): Words => [
    `Nexus knows no tool ${shown(tool)}. It is close to ${shown(right)}.`,
    `Write ${right} instead of ${tool}, if you meant that tool.`,
  ],
  'tools-unbalanced': (key: string): Words => [
    `A parenthesis in ${key} is not closed.`,
    'Write the missing ), as in Bash(git:*).',
  ],
  'metadata-not-mapping': notMapping,
  'metadata-key': metadataKey,
  'requires-invalid': (key: string, wanted: string, entries: readonly string[]): Words => [
    `requires.${key} contains entries that are not ${wanted}: ${entries.map(shown).join(', ')}. Nexus holds the skill.`,
    'Correct the entries, or remove them.',
  ],
  'install-invalid': (entry: number): Words => [
    `Nexus ignores install entry ${entry}, because it has no kind.`,
    write('{id: brew, kind: brew, formula: gh}'),
  ],
}
