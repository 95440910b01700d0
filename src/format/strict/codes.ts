import type { Severity } from '../../kernel/index.ts'
import type { FormatCode } from '../codes.ts'

/** Whose rules strict validation applies: the published specification, Claude Code's, or OpenClaw's. */
export const PROFILES = ['spec', 'claude', 'openclaw'] as const
export type Profile = (typeof PROFILES)[number]

/** One row: what a finding means, and how grave it is in each profile; `off` when the profile does not look. */
export interface StrictRow extends Readonly<Record<Profile, Severity | 'off'>> {
  readonly means: string
}

const everywhere = (severity: Severity): Readonly<Record<Profile, Severity>> => ({
  spec: severity,
  claude: severity,
  openclaw: severity,
})

/** What strict validation finds beyond what reading finds. `docs/format.md` lists the same rows; a test keeps the two equal. */
export const STRICT_CODES = {
  'key-unknown': {
    means: 'a key that the profile does not know; outside `spec` only when it looks like a known one',
    spec: 'warning',
    claude: 'info',
    openclaw: 'info',
  },
  'compatibility-empty': { means: 'compatibility is given and empty', ...everywhere('error') },
  'metadata-text': {
    means: 'metadata is text that holds JSON; many clients want keys',
    spec: 'error',
    claude: 'warning',
    openclaw: 'off',
  },
  'metadata-value': {
    means: 'a value under metadata is not text; the specification maps text to text',
    spec: 'warning',
    claude: 'off',
    openclaw: 'off',
  },
  'tools-form': {
    means: 'allowed-tools is not one text with blanks between the tools',
    spec: 'warning',
    claude: 'off',
    openclaw: 'off',
  },
  'field-value': {
    means: 'a key of the profile has a value that its client does not accept',
    spec: 'off',
    claude: 'error',
    openclaw: 'error',
  },
  'description-cut': {
    means: 'description and when_to_use together are longer than the 1,536 characters that Claude Code shows',
    spec: 'off',
    claude: 'info',
    openclaw: 'off',
  },
  'description-tags': {
    means: 'the description holds what looks like an XML tag, which uploads to Claude refuse',
    spec: 'off',
    claude: 'warning',
    openclaw: 'off',
  },
  'name-reserved': {
    means: 'the name holds a word that uploads to Claude refuse: anthropic, claude',
    spec: 'off',
    claude: 'warning',
    openclaw: 'off',
  },
  'install-kind': { means: 'no client knows this kind of installer', spec: 'off', claude: 'off', openclaw: 'warning' },
  'install-unsafe': {
    means: 'an install entry lacks its package, or names one that no installer may be given',
    spec: 'off',
    claude: 'off',
    openclaw: 'error',
  },
  'install-digest': {
    means: 'a download without sha256 cannot be verified',
    spec: 'off',
    claude: 'off',
    openclaw: 'warning',
  },
  'body-empty': { means: 'no instructions follow the frontmatter', ...everywhere('info') },
  'body-long': { means: 'more than 500 lines of instructions', ...everywhere('info') },
  'body-tokens': { means: 'more than about 5,000 tokens of instructions', ...everywhere('info') },
  'link-target': {
    means: 'a relative link leads to no file of the skill, or out of its directory',
    ...everywhere('info'),
  },
  'placeholder-unknown': { means: 'looks like a placeholder, but nothing fills it in', ...everywhere('info') },
} as const satisfies Record<string, StrictRow>

/** A name in the table of strict findings. */
export type StrictCode = keyof typeof STRICT_CODES

/** Findings of reading that become errors under every profile: the published rules, and what other clients do not read. */
export const RAISED: ReadonlySet<string> = new Set<FormatCode>([
  'encoding-invalid',
  'leading-blank-lines',
  'frontmatter-closed-by-dots',
  'yaml-repaired',
  'key-indented',
  'quoted-unindented',
  'name-missing',
  'name-not-text',
  'name-invalid',
  'name-differs',
  'description-missing',
  'description-long',
  'compatibility-long',
  'field-type',
  'tools-unbalanced',
  'metadata-not-mapping',
])

/** These count only where somebody reads them: `metadata` is free text to everyone but OpenClaw and us. */
export const RAISED_FOR_OPENCLAW: ReadonlySet<string> = new Set<FormatCode>([
  'requires-invalid',
  'install-invalid',
  'metadata-field',
])

/** Limits of strict validation. */
export const STRICT_LIMITS = {
  /** Lines and estimated tokens of the instructions. Source: the Agent Skills specification. */
  maxBodyLines: 500,
  maxBodyTokens: 5_000,
  /** Characters of description and when_to_use that Claude Code lists. */
  maxListedChars: 1_536,
  /** Links of one file that are looked at. */
  maxLinks: 2_000,
} as const
