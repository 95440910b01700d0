import type { Severity } from '../kernel/index.ts'

/** One row of a table of diagnostic codes. */
export interface DiagnosticRow {
  readonly severity: Severity
  readonly means: string
}

/** Every code that reading a SKILL.md can give. `docs/format.md` lists the same rows; a test keeps the two equal. */
export const FORMAT_CODES = {
  'file-too-large': { severity: 'error', means: 'the file is larger than the limit and was not read' },
  'file-large': { severity: 'warning', means: 'the file loads here, but is larger than other clients accept' },
  'encoding-utf16': { severity: 'error', means: 'the file is UTF-16; skills are UTF-8' },
  'encoding-invalid': { severity: 'warning', means: 'bytes that are not UTF-8 were read as U+FFFD' },
  'nul-character': { severity: 'error', means: 'a NUL character: the file is not text' },
  'byte-order-mark': { severity: 'info', means: 'a byte order mark was skipped' },
  'line-ends-cr': { severity: 'warning', means: 'lines end in a lone CR, which most tools do not accept' },
  'leading-blank-lines': { severity: 'warning', means: 'blank lines before the opening --- were skipped' },
  'frontmatter-missing': { severity: 'error', means: 'the file does not begin with a line of ---' },
  'frontmatter-unterminated': { severity: 'error', means: 'no line of --- ends the frontmatter' },
  'frontmatter-closed-by-dots': { severity: 'warning', means: 'the frontmatter ends with ... instead of ---' },
  'frontmatter-too-large': { severity: 'error', means: 'the frontmatter is larger than the limit and was not parsed' },
  'frontmatter-not-mapping': {
    severity: 'error',
    means: 'the frontmatter is YAML, but not a list of keys with values',
  },
  'frontmatter-json': {
    severity: 'warning',
    means: 'the frontmatter is one JSON object; other clients want one key a line',
  },
  'yaml-invalid': { severity: 'error', means: 'the frontmatter is not valid YAML and could not be repaired' },
  'yaml-repaired': {
    severity: 'warning',
    means:
      'a value needed quotes, or had a comment of JSON; it was read as the text that stands there, or without the comment',
  },
  'key-indented': {
    severity: 'warning',
    means: 'a key is indented below a value that it does not belong to; it was read as a key of its own',
  },
  'quoted-unindented': {
    severity: 'warning',
    means: 'a quoted value continues at the start of a line; it was read to its closing quote, as most YAML readers do',
  },
  'yaml-duplicate-key': { severity: 'error', means: 'a key is given twice' },
  'yaml-key-not-text': { severity: 'error', means: 'a key is a list or a mapping, or begins like a comment of JSON' },
  'yaml-anchor': { severity: 'error', means: 'YAML anchors are not accepted' },
  'yaml-alias': { severity: 'error', means: 'YAML aliases are not accepted' },
  'yaml-tag': { severity: 'error', means: 'YAML tags are not accepted' },
  'yaml-core-tag': { severity: 'warning', means: 'a tag of the YAML core schema, such as !!str; quotes do the same' },
  'yaml-merge-key': { severity: 'error', means: 'YAML merge keys are not accepted' },
  'yaml-directive': { severity: 'error', means: 'YAML directives are not accepted' },
  'yaml-multiple-documents': { severity: 'error', means: 'a second YAML document begins inside the frontmatter' },
  'yaml-too-complex': { severity: 'error', means: 'too many keys, tokens or levels' },
  'odd-blank': {
    severity: 'warning',
    means: 'a no-break or other odd blank before a key or after a dash: YAML takes it for a letter',
  },
  'comment-in-value': { severity: 'warning', means: 'text after " #" is a YAML comment and was dropped' },
  'name-missing': { severity: 'warning', means: "no name; the directory's name is used" },
  'name-not-text': { severity: 'warning', means: "the name is a list or a mapping; the directory's name is used" },
  'name-invalid': { severity: 'warning', means: 'the name breaks the naming rule; it is used as a label only' },
  'name-differs': { severity: 'warning', means: "the name differs from the directory's name; the name counts" },
  'description-missing': { severity: 'warning', means: 'no description; the skill is held' },
  'description-not-text': {
    severity: 'warning',
    means: 'the description is no text; a scalar is read as written, a list or mapping not at all',
  },
  'description-long': { severity: 'warning', means: 'the description is longer than the specification allows' },
  'hidden-characters': {
    severity: 'warning',
    means: 'control, bidi or invisible characters; they are stripped for display',
  },
  'compatibility-long': { severity: 'warning', means: 'compatibility is longer than the specification allows' },
  'field-type': { severity: 'warning', means: 'a known key has a value of the wrong type, which is ignored' },
  'key-spelling': { severity: 'warning', means: 'a key looks like a known one spelled otherwise' },
  'tools-unbalanced': { severity: 'warning', means: 'a parenthesis in allowed-tools is not closed' },
  'metadata-not-mapping': {
    severity: 'warning',
    means: 'metadata is no mapping and no JSON5 object; it is kept, not used',
  },
  'metadata-key': {
    severity: 'warning',
    means: 'a key that was probably meant to gate and does not: misspelt, in a wrong place, or in two places',
  },
  'metadata-field': {
    severity: 'warning',
    means: 'a gating or display field under metadata has a value that does not work',
  },
  'requires-invalid': {
    severity: 'warning',
    means: 'a requirement that can never be met: not a program, variable or configuration path',
  },
  'install-invalid': { severity: 'warning', means: 'an install entry without a kind, or not a mapping, is ignored' },
  'parser-failed': { severity: 'error', means: 'a fault in Nexus: the parser itself failed on this file' },
} as const satisfies Record<string, DiagnosticRow>

/** A name in the table of format diagnostics. */
export type FormatCode = keyof typeof FORMAT_CODES
