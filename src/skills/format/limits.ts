import { DEFAULTS } from '../../kernel/index.ts'

/** Limits of one SKILL.md. Source: decisions "YAML limits"; lengths: the Agent Skills specification. */
export const FORMAT_LIMITS = {
  /** Bytes of a SKILL.md; checked before anything is decoded. */
  maxFileBytes: DEFAULTS.maxSkillFileBytes,
  /** Bytes of the frontmatter; checked before it is parsed. */
  maxFrontmatterBytes: 65_536,
  /** Levels of nested mappings and lists. */
  maxDepth: 64,
  /** Keys of all mappings together. */
  maxKeys: 1_000,
  /** Lexical tokens of the frontmatter: bounds the time of the YAML parser whatever the text is. */
  maxTokens: 20_000,
  /** Backslashes in double quotes: each wrong one costs the YAML library an error object. */
  maxEscapes: 2_000,
  /** Findings of one kind of pass that are reported one by one. */
  maxFindings: 20,
  /** Above this a file still loads, but other clients refuse it. */
  largeFileBytes: 256_000,
  /** Code points. */
  maxNameLength: 64,
  maxDescriptionLength: 1_024,
  maxCompatibilityLength: 500,
} as const

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
