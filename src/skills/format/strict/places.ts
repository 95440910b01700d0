import type { Frontmatter, KeyPath, KeyPlace, Position } from '../front.ts'
import { placeOf } from '../text.ts'

/** Finds the positions of keys in a file. Nothing is computed before the first question: most files have no finding. */
export interface Places {
  /** The key or entry at a path, or the nearest one above it that exists. */
  key(path: KeyPath): KeyPlace
  /** An offset in the body, in characters of the body as the rules are given it. */
  body(offset: number): Position
}

/** The places of a file that was read; `body` is the end of its text. */
export function placesIn(front: Frontmatter, { text, body }: { text: string; body: string }): Places {
  return {
    key: ([key = '', ...below]) => front.place(String(key), below),
    body: (offset) => placeOf(text, text.length - body.length + offset),
  }
}
