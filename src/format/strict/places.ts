import type { ParsedNode } from 'yaml'
import type { KeyPath, Place } from '../front.ts'
import { readLeniently } from '../frontmatter.ts'
import { splitFrontmatter } from '../split.ts'
import { asBuffer, placeOf } from '../text.ts'
import { offsetOf } from '../yaml/key-offset.ts'

/** Finds where things stand in a file. Nothing is computed before the first question: most files have no finding. */
export interface Places {
  /** The key or entry at a path, or the nearest one above it that exists. */
  key(path: KeyPath): Place
  /** An offset in the body. */
  body(offset: number): Place
}

interface Head {
  readonly lines: readonly string[]
  readonly firstLine: number
}

export function createPlaces(input: string | Uint8Array): Places {
  let head: Head | undefined
  let body: { readonly text: string; readonly start: number } | undefined
  let tree: { readonly text: string; readonly root: ParsedNode | null | undefined } | undefined
  return {
    key(path) {
      const { lines, firstLine } = (head ??= readHead(input))
      const found = inBlockStyle(lines, path)
      if (found !== undefined) return { line: firstLine + found.line, column: found.column }
      if (tree === undefined) {
        const { text, read } = readLeniently(lines.join('\n'))
        tree = { text, root: read.root }
      }
      const offset = offsetOf(tree.root, path)
      if (offset === undefined) return { line: Math.max(1, firstLine - 1), column: 1 }
      const place = placeOf(tree.text, offset)
      return { line: firstLine - 1 + place.line, column: place.column }
    },
    body(offset) {
      body ??= readBody(input)
      return placeOf(body.text, body.start + offset)
    },
  }
}

function decode(input: string | Uint8Array): string {
  const text = typeof input === 'string' ? input.toWellFormed() : asBuffer(input).toString('utf8')
  return text.startsWith('\uFEFF') ? text.slice(1) : text
}

const CLOSER = '\n---\n'

/** The frontmatter alone; of bytes mostly without decoding the body. */
function readHead(input: string | Uint8Array): Head {
  const closer = typeof input === 'string' ? input.indexOf(CLOSER) : asBuffer(input).indexOf(CLOSER, 0, 'latin1')
  const end = closer + CLOSER.length
  const part = closer < 0 ? input : typeof input === 'string' ? input.slice(0, end) : input.subarray(0, end)
  const text = decode(part)
  const plain = closer < 0 ? undefined : plainLines(text)
  if (plain !== undefined) return { lines: plain, firstLine: 2 }
  const split = splitFrontmatter(text)
  return split.kind === 'found'
    ? { lines: split.yaml.split('\n'), firstLine: split.firstLine }
    : { lines: [], firstLine: 1 }
}

/** The lines between the markers when both are plain and LF ends every line, as nearly always. */
function plainLines(text: string): readonly string[] | undefined {
  if (!text.startsWith('---\n') || text.includes('\r')) return undefined
  const lines = text.slice(4, -CLOSER.length).split('\n')
  return lines.some((line) => line.startsWith('---') || line.startsWith('...')) ? undefined : lines
}

function readBody(input: string | Uint8Array): { text: string; start: number } {
  const text = decode(input)
  const split = splitFrontmatter(text)
  return { text, start: split.kind === 'found' ? text.length - split.body.length : text.length }
}

/**
 * The line (from 0) and column of a key in block style, without the YAML library: the lines of a value are indented deeper than
 * its key, so a line at the depth of the keys is a key. Undefined for anything else.
 */
function inBlockStyle(lines: readonly string[], path: KeyPath): { line: number; column: number } | undefined {
  let line = -1
  let indent = -1
  for (const step of path) {
    if (typeof step === 'number') return undefined
    const from = line + 1
    const first = lines.findIndex((text, index) => index >= from && /^ *[^ #]/.test(text))
    const depth = first < 0 ? 0 : indentOf(lines[first] ?? '')
    if (first < 0 || depth <= indent) return undefined
    line = findKey(lines, { from: first, depth, key: step })
    if (line < 0) return undefined
    indent = depth
  }
  return line < 0 ? undefined : { line, column: indent + 1 }
}

/** Index of the line that begins with a key at a depth, before the first line that is less deep; -1 when there is none. */
function findKey(lines: readonly string[], { from, depth, key }: { from: number; depth: number; key: string }): number {
  for (let index = from; index < lines.length; index++) {
    const line = lines[index] ?? ''
    const own = indentOf(line)
    if (own < depth && own < line.length && line[own] !== '#') return -1
    if (
      own === depth &&
      line.startsWith(key, own) &&
      /^ *:(?:[ \t]|$)/.test(line.slice(own + key.length, own + key.length + 9))
    )
      return index
  }
  return -1
}

function indentOf(line: string): number {
  let at = 0
  while (line.charCodeAt(at) === 32) at++
  return at
}
