import { errorOf } from '../failure.ts'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { nearest, type NexusError, commandFix, toSafeLine } from '../../../kernel/index.ts'
import { packageRoot } from '../../../local/index.ts'
import type { Answer, Invocation } from '../command.ts'
import { paintDiff, type Terminal } from '../terminal.ts'

/** One section of docs/errors.md. Codes that share their text share a section. */
export interface Section {
  readonly codes: readonly string[]
  /** The heading above it, such as `nexus.yaml`. */
  readonly topic: string
  readonly meaning: string
  readonly example: string
  /** The info string behind `diff`, such as `pdf/SKILL.md`, when the example is one. */
  readonly file?: string
  readonly fix: string
}

/** `nexus explain [code]`: the section of docs/errors.md about a code; without a code one line for each. Exit code 4 for an unknown code. */
export function explainCode({ positionals: [asked], terminal }: Invocation): Answer {
  const sections = readSections(errorPage())
  if (asked === undefined) {
    const codes = sections.flatMap((section) => section.codes.map((code) => asData(code, section)))
    return { data: { codes }, show: () => printAll(sections, terminal) }
  }
  const wanted = asked.replace(/^[([`'"]+|[)\]`'":,.]+$/g, '')
  const rows = sections.flatMap((section) => section.codes.map((code) => ({ code, section })))
  const isWanted = ({ code }: { code: string }): boolean => code.toLowerCase() === wanted.toLowerCase()
  const found = rows.find(({ code }) => code === wanted) ?? rows.find(isWanted)
  if (found === undefined) throw unknownCode(asked, sections)
  const { code, section } = found
  return { data: asData(code, section), show: () => printSection(code, section, terminal) }
}

/** The meaning of each code. */
export function meanings(): ReadonlyMap<string, string> {
  const sections = readSections(errorPage())
  return new Map(sections.flatMap(({ codes, meaning }) => codes.map((code) => [code, plain(meaning)] as const)))
}

function errorPage(): string {
  return readFileSync(join(packageRoot(), 'docs/errors.md'), 'utf8')
}

const SECTION =
  /^### (`[^\n]+`)\n\nMeaning: (.+)\n\nExample:(?: (.+)|\n\n```diff ([^\n]+)\n([\s\S]*?)\n```)\n\nFix: (.+)$/

export function readSections(page: string): readonly Section[] {
  let topic = ''
  return page.split(/^(?=##)/m).flatMap((part): Section[] => {
    topic = /^## (.+)/.exec(part)?.[1] ?? topic
    const [, heading = '', meaning = '', line, file, block, fix = ''] = SECTION.exec(part.trim()) ?? []
    const codes = [...heading.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code)
    const example = line ?? block ?? ''
    return codes.length === 0 ? [] : [{ codes, topic, meaning, example, file, fix }]
  })
}

function unknownCode(asked: string, sections: readonly Section[]): NexusError {
  const known = sections.flatMap(({ codes }) => codes)
  const guess = nearest(asked, known)
  const fix =
    guess === undefined ? commandFix('See all codes:', 'explain') : commandFix('Did you mean:', 'explain', guess)
  return errorOf('FILE_NOT_FOUND', `Nexus has no code '${toSafeLine(asked)}'.`, fix)
}

function asData(code: string, { topic, meaning, example, file, fix }: Section) {
  return { code, topic, meaning, example, file, fix }
}

function printAll(sections: readonly Section[], { line, paint }: Terminal): void {
  const width = Math.max(...sections.flatMap(({ codes }) => codes.map(({ length }) => length)))
  let topic = ''
  for (const section of sections) {
    if (section.topic !== topic) line(`${topic === '' ? '' : '\n'}${paint('bold', section.topic)}`)
    topic = section.topic
    const [first = ''] = section.meaning.split(/(?<=[.:]) /, 1)
    for (const code of section.codes) line(`  ${code.padEnd(width)}  ${plain(first)}`)
  }
}

function printSection(code: string, { meaning, example, file, fix }: Section, { line, paint }: Terminal): void {
  const heading = (text: string): string => paint('cyan', text)
  line(paint('bold', code))
  line(`\n${heading('meaning:')} ${plain(meaning)}`)
  if (file === undefined) line(`\n${heading('example:')} ${plain(example)}`)
  else {
    line(`\n${heading('example:')} ${file} (- has the fault, + is right)`)
    for (const text of example.split('\n')) line(`    ${paintDiff(text, paint)}`)
  }
  line(`\n${heading('fix:')} ${plain(fix)}`)
}

/** Without the marks of Markdown that the page uses in sentences. */
function plain(text: string): string {
  return text
    .replaceAll(/\[([^\]]+)\]\([^)]+\)/g, '$1')
    .replaceAll('**', '')
    .replaceAll('`', '')
}
