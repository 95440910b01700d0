import type { Diagnostic, JsonObject } from '../../../kernel/index.ts'
import type { DocumentHead } from '../document.ts'
import type { Frontmatter, KeyPath, KeyPlace, Position } from '../front.ts'
import { FORMAT_LIMITS } from '../limits.ts'
import { type Facts, STRICT_CODES, type StrictCode, wordsOf } from '../messages/messages.ts'
import { LAST } from '../report.ts'
import { placeOf } from '../text.ts'
import { asMember, type Profile } from '../messages/words.ts'

/** Where a finding is: at a key of the frontmatter or at an offset of the body. */
export type At = { readonly key: KeyPath } | { readonly body: number }

/** What every rule for frontmatters gets: what was read, and where to say what is wrong. */
export interface Subject {
  readonly document: DocumentHead
  /** The frontmatter as parsed. */
  readonly front: JsonObject
  readonly profile: Profile
  add<C extends StrictCode>(code: C, at: At, ...facts: Facts<C>): void
}

/** Collects findings with the severity of a profile, at most `maxFindings` of one code. */
export function createCollector(
  path: string,
  profile: Profile,
  places: Places,
): { add: Subject['add']; found: Diagnostic[] } {
  const found: Diagnostic[] = []
  const counts = new Map<StrictCode, number>()
  return {
    found,
    add(code, at, ...facts) {
      const severity = STRICT_CODES[code][profile]
      const count = (counts.get(code) ?? 0) + 1
      counts.set(code, count)
      if (severity === 'off' || count > FORMAT_LIMITS.maxFindings) return
      const [words, fix] = wordsOf({ code, facts })
      const message = count === FORMAT_LIMITS.maxFindings ? `${words} ${LAST}` : words
      const place = 'key' in at ? places.key(at.key) : places.body(at.body)
      found.push({ code, severity, message, path, ...place, ...asMember(fix) })
    },
  }
}

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
