import type { Severity } from '../../../kernel/index.ts'
import type { FormatCode } from '../codes.ts'

/** Whose rules strict validation applies: the published specification, Claude Code's, or OpenClaw's. */
export const PROFILES = ['spec', 'claude', 'openclaw'] as const
export type Profile = (typeof PROFILES)[number]

/** The severity of a finding in each profile; `off` when the profile does not check it. */
export type StrictRow = Readonly<Record<Profile, Severity | 'off'>>

const everywhere = (severity: Severity): Readonly<Record<Profile, Severity>> => ({
  spec: severity,
  claude: severity,
  openclaw: severity,
})

/** What strict validation finds beyond what reading finds. docs/errors.md explains each code. */
export const STRICT_CODES = {
  'key-unknown': {
    spec: 'warning',
    claude: 'info',
    openclaw: 'info',
  },
  'compatibility-empty': everywhere('error'),
  'metadata-text': {
    spec: 'error',
    claude: 'warning',
    openclaw: 'off',
  },
  'metadata-value': {
    spec: 'warning',
    claude: 'off',
    openclaw: 'off',
  },
  'tools-form': {
    spec: 'warning',
    claude: 'off',
    openclaw: 'off',
  },
  'field-value': {
    spec: 'off',
    claude: 'error',
    openclaw: 'error',
  },
  'description-cut': {
    spec: 'off',
    claude: 'info',
    openclaw: 'off',
  },
  'description-tags': {
    spec: 'off',
    claude: 'warning',
    openclaw: 'off',
  },
  'name-reserved': {
    spec: 'off',
    claude: 'warning',
    openclaw: 'off',
  },
  'install-kind': { spec: 'off', claude: 'off', openclaw: 'warning' },
  'install-unsafe': {
    spec: 'off',
    claude: 'off',
    openclaw: 'error',
  },
  'install-digest': {
    spec: 'off',
    claude: 'off',
    openclaw: 'warning',
  },
  'body-empty': everywhere('info'),
  'body-hidden': everywhere('warning'),
  'body-long': everywhere('info'),
  'body-tokens': everywhere('info'),
  'link-target': {
    ...everywhere('info'),
  },
  'placeholder-unknown': everywhere('info'),
} as const satisfies Record<string, StrictRow>

/** A name in the table of strict findings. */
export type StrictCode = keyof typeof STRICT_CODES

/** Findings of reading that become errors under every profile: the published rules, and what other clients do not read. */
export const RAISED: ReadonlySet<string> = new Set<FormatCode>([
  'encoding-invalid',
  'leading-blank-lines',
  'frontmatter-closed-by-dots',
  'yaml-repaired',
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

/** These matter only to clients that read them: `metadata` is free text to everyone but OpenClaw and us. */
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
