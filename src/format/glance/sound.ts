import { ALIASES, SLIPS_BEGIN, TOP_LEVEL } from '../fields/metadata-keys.ts'
import { WORD } from './patterns.ts'

/**
 * Gates of the most usual form, of which reading has nothing to report: one block below `metadata`, lists in brackets, programs and
 * variables with proper names, install entries with their kind. For text that a glance has accepted, from `metadata:` on. Like all of its
 * patterns it needs no warming up; what it does not match may still be sound. Takes linear time.
 */
export const SOUND_METADATA = pattern()

function pattern(): RegExp {
  const end = ' *\\r?\\n'
  const aliases = ALIASES.join('|')
  const fields = [...TOP_LEVEL, 'always', 'skillKey'].join('|')
  const text = `(?:"[./ ()-]*\\w[\\w./ ()-]*"|(?!${WORD}${end})[A-Za-z_](?:[\\w./()-]| +(?=[\\w./()-]))*)${end}`
  const list = (item: string): string => `\\[(?:${item}(?:, *${item})*)?\\]${end}`
  const names = list('(?:"[A-Za-z0-9._+-]{1,64}"|[A-Za-z0-9._+-]{1,64})')
  const variables = list('(?:"[A-Za-z_]\\w{0,127}"|[A-Za-z_]\\w{0,127})')
  const any = `\\[[^\\]\\n]*\\]${end}`
  const requires = `requires:${end}(?: {6}(?:(?:bins|anyBins): +${names}|env: +${variables}))+`
  const entry = ` {6}- (?:id: +${text} {8})?kind: +${text}(?: {8}(?:(?:bins|os): +${any}|(?!bins:|os:|kind:)[^ \\n-][^\\n]*\\n))*`
  const field = [
    'emoji: +(?! )[^\\n]+\\n',
    `(?:primaryEnv|skillKey): +${text}`,
    `always: +(?:true|false)${end}`,
    `os: +${any}`,
    requires,
    `install:${end}(?:${entry})+`,
  ].join('|')
  const other = `(?: {2}(?! |(?:${aliases}|${fields}):|${SLIPS_BEGIN.join('|')})[^\\n]*\\n(?: {3}[^\\n]*\\n)*)*`
  return new RegExp(`^metadata:${end}${other} {2}(?:${aliases}):${end}(?: {4}(?:${field}))+${other}(?! )`)
}
