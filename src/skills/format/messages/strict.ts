import { commandFix } from '../../../kernel/index.ts'
import type { Form } from '../fields/table.ts'
import { shown, type Words, write, everywhere, under, warning } from './words.ts'

const FLAT = commandFix('Rewrite it as plain strings:', 'skills', 'migrate', '--to', 'flat')
const MOVE_TEXT = 'Move details into files under references/, and link to them.'

export interface UnsafeInstall {
  /** The key of the entry, and where the entry is. */
  readonly key: string
  readonly path: string
  /** In JSON; absent when the key is missing. */
  readonly value?: string
  readonly wanted: string
  readonly example: string
}

/** About what only strict validation finds. */
export const STRICT_FINDINGS = {
  'key-unknown': under({ spec: 'warning' }, (key: string): Words => [
    `The specification does not know the key ${shown(key)}.`,
    'Move it below metadata: as text, or validate with the profile of its client.',
  ]),
  'compatibility-empty': everywhere('error', (): Words => [
    'compatibility is empty.',
    'Write what the skill needs, or remove the key.',
  ]),
  'metadata-text': under({ spec: 'error', claude: 'warning' }, (client?: string): Words =>
    client === undefined
      ? ['metadata is text, not keys with values.', FLAT]
      : [
          `metadata is text, not keys with values. ${client} ignores it.`,
          commandFix('Rewrite it for Nexus:', 'skills', 'migrate'),
        ],
  ),
  'metadata-value': under({ spec: 'warning' }, (key: string, kind: string, text?: string): Words => [
    `metadata.${key} is ${kind}. The specification allows only text.`,
    text === undefined ? FLAT : write(`${key}: ${JSON.stringify(text)}`),
  ]),
  'tools-form': under({ spec: 'warning' }, (kind: string, line?: string): Words => [
    `allowed-tools is ${kind}. The specification expects one text with spaces between the tools.`,
    line === undefined
      ? 'Remove the tools whose names contain spaces, or keep the list.'
      : write(`allowed-tools: ${line}`),
  ]),
  'field-value': under(
    { claude: 'error', openclaw: 'error' },
    (key: string, client: string, { wanted, example }: Pick<Form, 'wanted' | 'example'>): Words => [
      `${client} does not accept the value of ${key}. It must be ${wanted}.`,
      write(example),
    ],
  ),
  'description-cut': under({ claude: 'info' }, (limit: number, length: number): Words => [
    `Claude Code shows ${limit} characters of description and when_to_use. This skill has ${length}.`,
    'Begin with when to use the skill, and move the other text into the instructions.',
  ]),
  'description-tags': under({ claude: 'warning' }, (tag: string): Words => [
    `The description contains ${shown(tag)}, which resembles a tag. Uploads to Claude refuse it.`,
    'Write it without < and >.',
  ]),
  'name-reserved': under({ claude: 'warning' }, (word: string): Words => [
    `The name contains the word ${word}. Uploads to Claude refuse it.`,
    'Choose a name without it, unless the skill is only for files on disk.',
  ]),
  'install-kind': under({ openclaw: 'warning' }, (kind: string, kinds: readonly string[]): Words => [
    `No client knows the installer ${shown(kind)}.`,
    `Use one of ${kinds.join(', ')}.`,
  ]),
  'install-unsafe': under({ openclaw: 'error' }, ({ key, path, value, wanted, example }: UnsafeInstall): Words => [
    value === undefined
      ? `${path} has no ${key}. It needs ${wanted}.`
      : `${path}.${key} is ${shown(value)}. It must be ${wanted}.`,
    write(example),
  ]),
  'install-digest': under({ openclaw: 'warning' }, (): Words => [
    'The download has no sha256, so clients cannot verify it.',
    write('sha256: <64 hex digits, as sha256sum prints them>'),
  ]),
  'body-empty': everywhere('info', (): Words => [
    'No instructions follow the frontmatter.',
    'Write below the closing --- what to do, step by step.',
  ]),
  'body-hidden': everywhere('warning', (characters: string): Words => [
    `The instructions contain characters that a person does not see: ${characters}. A model reads them.`,
    'Remove the characters, or write their text.',
  ]),
  'body-long': everywhere('info', (lines: number, limit: number): Words => [
    `The instructions have ${lines} lines. The specification recommends at most ${limit}.`,
    MOVE_TEXT,
  ]),
  'body-tokens': everywhere('info', (tokens: number, limit: number): Words => [
    `The instructions have about ${tokens} tokens. The specification recommends at most ${limit}.`,
    MOVE_TEXT,
  ]),
  'link-target': everywhere('info', (target: string, isOutside: boolean): Words => [
    `The ${/^[{$]/.test(target) ? 'path' : 'link'} ${shown(target)} ${isOutside ? 'refers to a file outside the skill' : 'refers to a file that the skill does not have'}.`,
    `Correct the ${/^[{$]/.test(target) ? 'path' : 'link'}, or add the file to the skill.`,
  ]),
  'placeholder-unknown': everywhere('info', (placeholder: string, isOfClaude: boolean): Words => [
    isOfClaude ? `Only Claude Code replaces ${placeholder}. Nexus does not.` : `Nexus does not replace ${placeholder}.`,
    "Write {baseDir} for the skill's directory.",
  ]),
}

/** About what only rewriting finds. */
export const WRITE_FINDINGS = {
  'migrate-outweighed': warning((field: string): Words => [
    `Nexus left out metadata.${field}, because another field of the same name applies.`,
    'Check that the remaining value is the right one.',
  ]),
  'migrate-refused': warning((): Words => [
    'Nexus did not change metadata: in the other form it would be read differently.',
    'Change it by hand.',
  ]),
}
