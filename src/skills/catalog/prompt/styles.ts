import { escapeXml } from '../../../kernel/index.ts'

/** How the index is written: seed 001's Markdown, agentskills' XML, seed 003's list, or names alone. */
export type IndexStyle = 'markdown' | 'xml' | 'list' | 'names'

/** Every text is escaped already. Without a description only the name is shown. */
export interface ShownParts {
  readonly name: string
  readonly description?: string | undefined
  readonly location?: string | undefined
}

/** One way of writing the index. All lines end with a line break except the last of `tail`. */
export interface Style {
  /** Opening tag and one sentence of use. */
  head(use: string): string
  readonly tail: string
  entry(parts: ShownParts): string
  /** The visible line about what was left out. */
  more(text: string): string
  escape(text: string): string
  readonly showsDescriptions: boolean
  readonly showsLocations: boolean
}

const INTRODUCTION = 'Available skills provide specialized knowledge.'

const markdown: Style = {
  head: (use) => `<skills>\n${INTRODUCTION} ${use}\n\n`,
  tail: '</skills>',
  entry: ({ name, description, location }) =>
    `- **${name}**${description === undefined ? '' : `: ${description}`}\n${location === undefined ? '' : `  Location: \`${location}\`\n`}`,
  more: (text) => `${text}\n`,
  escape: escapeTags,
  showsDescriptions: true,
  showsLocations: true,
}

const xml: Style = {
  head: (use) => `${INTRODUCTION} ${use}\n<available_skills>\n`,
  tail: '</available_skills>',
  entry: ({ name, description, location }) =>
    [
      '  <skill>\n',
      `    <name>${name}</name>\n`,
      description === undefined ? '' : `    <description>${description}</description>\n`,
      location === undefined ? '' : `    <location>${location}</location>\n`,
      '  </skill>\n',
    ].join(''),
  more: (text) => `  ${text}\n`,
  escape: escapeXml,
  showsDescriptions: true,
  showsLocations: true,
}

const list: Style = {
  head: (use) => `<skills>\n${use}\n`,
  tail: '</skills>',
  entry: ({ name, description }) => `- ${name}${description === undefined ? '' : `: ${description}`}\n`,
  more: (text) => `${text}\n`,
  escape: escapeTags,
  showsDescriptions: true,
  showsLocations: false,
}

const names: Style = { ...list, showsDescriptions: false }

export const STYLES: Readonly<Record<IndexStyle, Style>> = { markdown, xml, list, names }

/** No text can open or close a tag. Quotes stay: outside XML there is no attribute to leave, and prose is full of them. */
function escapeTags(text: string): string {
  return /[&<>]/.test(text) ? text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;') : text
}
