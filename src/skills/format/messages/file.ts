import { toSafeLine, unseenIn } from '../../../kernel/index.ts'
import { shown, type Words, error, info, refused, warning } from './words.ts'

const MOVE_TEXT = 'Move long material into files under references/, and link to them.'

function toUtf8(from: string): string {
  return `Save the file as UTF-8, for example with this line, typed in its directory: iconv -f ${from} -t UTF-8 SKILL.md > SKILL.new && mv SKILL.new SKILL.md`
}

const NUL_WORDS = {
  'utf16-be': ['Every second byte is NUL. The file is probably UTF-16.', toUtf8('UTF-16BE')],
  'utf16-le': ['Every second byte is NUL. The file is probably UTF-16.', toUtf8('UTF-16LE')],
  zip: ['The file is a ZIP archive, not text.', 'Unpack it, so that its SKILL.md is in this directory.'],
  binary: [
    'The file contains a NUL character, so it is not text.',
    'Remove the character, or save the file as UTF-8 text.',
  ],
} as const satisfies Record<string, Words>

export interface NoOpener {
  readonly first: string
  readonly isMarker: boolean
  readonly hasKeys: boolean
  /** Line of `first`. */
  readonly number: number
  readonly directoryName: string | undefined
  /** Lines before an opening ---; -1 when there is none. */
  readonly opener: number
}

function noOpener(why: NoOpener): Words {
  const { first, isMarker, hasKeys, opener, directoryName = '<name of the directory>' } = why
  const unseen = unseenIn(first)
  const hidden = unseen === '' ? '' : ` (with the invisible ${unseen})`
  const begins = `The file begins with ${shown(first)}${hidden} instead of a line with only ---.`
  const message = first === '' ? 'The file is empty.' : begins
  if (isMarker)
    return [
      message,
      'Write exactly --- (three hyphens, U+002D, and nothing that is invisible) on that line, and on the closing one.',
    ]
  if (opener > 0) return [message, withoutFirstLines(why)]
  return hasKeys
    ? [message, 'Make --- the first line, write the keys below it, and --- below the last key.']
    : [
        message,
        `Begin the file with four lines: "---", "name: ${toSafeLine(directoryName)}", "description: What it does. Use when …", "---".`,
      ]
}

/** The frontmatter begins below other lines: those of a comment or code fence mean nothing, other text may be wanted. */
function withoutFirstLines({ first, number, opener }: NoOpener): string {
  const lines = opener === 1 ? `line ${number}` : `lines ${number} to ${number + opener - 1}`
  if (first.startsWith('<!--') || first.startsWith('```')) return `Remove ${lines}, so that --- is the first line.`
  return `Move ${lines} below the closing ---, so that --- is the first line.`
}

type NoCloser = { readonly almost: number } | { readonly below: number }

function noCloser(why: NoCloser): Words {
  const message = 'The frontmatter that begins here has no closing ---.'
  return 'almost' in why
    ? [message, `Write exactly --- on line ${why.almost}, and any other text of it on the next line.`]
    : [message, `Write a line with only --- below line ${why.below}, above the instructions.`]
}

/** About the file as a whole, and where its frontmatter begins and ends. */
export const FILE_FINDINGS = {
  'file-too-large': error((bytes: number, limit: number): Words => [
    `Nexus did not read the file: it has ${bytes} bytes, and the limit is ${limit}.`,
    MOVE_TEXT,
  ]),
  'file-large': warning((bytes: number, limit: number): Words => [
    `The file has ${bytes} bytes. Other clients refuse more than ${limit}.`,
    MOVE_TEXT,
  ]),
  'encoding-utf16': error((): Words => ['The file is UTF-16. A SKILL.md must be UTF-8.', toUtf8('UTF-16')]),
  'encoding-invalid': refused((byte?: string, offset?: number): Words =>
    byte === undefined
      ? ['The text contains half a surrogate pair. Nexus read it as U+FFFD.', 'Save the file as UTF-8.']
      : [
          `Byte 0x${byte} at offset ${offset} is not UTF-8. Nexus read it as U+FFFD.`,
          `${toUtf8('WINDOWS-1252')} (when it is Windows-1252 or Latin-1 now)`,
        ],
  ),
  'nul-character': error((kind: keyof typeof NUL_WORDS): Words => NUL_WORDS[kind]),
  'byte-order-mark': info((): Words => [
    'Nexus skipped a byte order mark at the start of the file.',
    'Save the file as UTF-8 without a byte order mark.',
  ]),
  'line-ends-cr': warning((): Words => [
    'Lines end in a lone CR, which most tools do not accept.',
    'Save the file with LF line ends.',
  ]),
  'leading-blank-lines': refused((): Words => [
    'Empty lines come before the opening ---. Other clients do not find the frontmatter.',
    'Remove the empty lines.',
  ]),
  'frontmatter-missing': error(noOpener),
  'frontmatter-unterminated': error(noCloser),
  'frontmatter-closed-by-dots': refused((): Words => [
    'The frontmatter ends with "...". Other clients expect ---.',
    'Write --- in place of "...".',
  ]),
  'frontmatter-too-large': error((bytes: number, limit: number): Words => [
    `Nexus did not read the frontmatter: it has ${bytes} bytes, and the limit is ${limit}.`,
    'Move data into a file beside SKILL.md.',
  ]),
  'parser-failed': error((error: string): Words => [
    `Nexus failed on this file: ${error}`,
    'Report this file as a fault of Nexus.',
  ]),
}
