import type MiniSearch from 'minisearch'

import { compareUtf8, isJsonObject, type JsonValue, nameKey, type Skill, skillAddress } from '../../kernel/index.ts'
import { shownName, shownText } from './shown-text.ts'

/** Skills that match some words, the best first. */
export interface SkillMatches {
  /** At most `limit`. */
  readonly skills: readonly Skill[]
  /** How many match in all. */
  readonly total: number
}

/** Searches a fixed list of skills by name, tags and description. */
export interface SkillSearch {
  /** `limit` defaults to 10. The same list and query give the same answer, whatever the list's order. */
  find(query: string, options?: { readonly limit?: number }): Promise<SkillMatches>
  /** The name that loads a skill that was found. */
  readonly callName: (skill: Skill) => string
}

interface Entry {
  readonly id: number
  readonly name: string
  readonly tags: string
  readonly description: string
}

interface Index {
  readonly skills: readonly Skill[]
  readonly ranked: MiniSearch<Entry>
  readonly words: ReadonlySet<string>
  /** Ids by name and by address; an address wins over a name that looks like it. */
  readonly named: ReadonlyMap<string, number>
}

const FIELDS = ['name', 'tags', 'description'] as const
/** A word in the name says more than one in a tag, and that more than one in the description. */
const BOOST = { name: 5, tags: 2, description: 1 }
const DEFAULT_LIMIT = 10
/** In UTF-16 units: enough for every valid one, bounded for a hostile one. */
const MAX_UNITS = { name: 256, tags: 1024, description: 2048 }
const MAX_QUERY_UNITS = 500
const MAX_QUERY_WORDS = 16
const MAX_WORD_UNITS = 48
/** Words of a question that say nothing about a skill. */
const STOP_WORDS: ReadonlySet<string> = new Set(
  'a an and are as at be by can do for from how i in into is it me my of on or that the this to use want when which with you'.split(
    ' ',
  ),
)

export interface SkillSearchOptions {
  /** False for a skill that is not to be found. Asked by the first `find`. */
  readonly isFound?: (skill: Skill) => boolean
  /** Default the shown name. */
  readonly callName?: (skill: Skill) => string
}

/**
 * A search by BM25 over name, tags or keywords of the frontmatter, and description; it forgives small typos and completes words.
 * The index is built by the first `find`.
 */
export function createSkillSearch(skills: readonly Skill[], options: SkillSearchOptions = {}): SkillSearch {
  let index: Promise<Index> | undefined
  return {
    callName: options.callName ?? shownName,
    async find(query, { limit = DEFAULT_LIMIT } = {}) {
      const built = await (index ??= build(skills, options))
      const ids = rank(built, query)
      const named = built.named.get(nameKey(shownText(query.slice(0, MAX_QUERY_UNITS).trim().replace(/^\$/, ''))))
      const found = named === undefined ? ids : [named, ...ids.filter((id) => id !== named)]
      return { skills: found.slice(0, limit).map((id) => built.skills[id] as Skill), total: found.length }
    },
  }
}

/** The average length of a field is counted as skills come, so their order must not depend on the caller. */
function inOrder(skills: readonly Skill[]): readonly Skill[] {
  return skills.toSorted(
    (a, b) =>
      compareUtf8(a.name, b.name) || compareUtf8(skillAddress(a), skillAddress(b)) || compareUtf8(a.file, b.file),
  )
}

async function build(all: readonly Skill[], { isFound = () => true }: SkillSearchOptions): Promise<Index> {
  const { default: Search } = await import('minisearch')
  const skills = inOrder(all.filter(isFound))
  const words = new Set<string>()
  const ranked = new Search<Entry>({
    fields: [...FIELDS],
    tokenize: wordsOf,
    processTerm: (word) => {
      words.add(word)
      return word
    },
  })
  for (const [id, skill] of skills.entries()) {
    ranked.add({
      id,
      name: shownName(skill).slice(0, MAX_UNITS.name),
      tags: shownText(tagsOf(skill).slice(0, MAX_UNITS.tags)),
      description: shownText(skill.description.slice(0, MAX_UNITS.description)),
    })
  }
  return { skills, ranked, words, named: byName(skills) }
}

function byName(skills: readonly Skill[]): ReadonlyMap<string, number> {
  const named = new Map<string, number>()
  const add = (key: string, id: number): void => {
    if (!named.has(key)) named.set(key, id)
  }
  for (const [id, skill] of skills.entries()) add(nameKey(skillAddress(skill)), id)
  for (const [id, skill] of skills.entries()) add(nameKey(shownName(skill)), id)
  return named
}

/** `tags` and `keywords`, at the top of the frontmatter or under `metadata`, as a list or as one text. */
function tagsOf({ frontmatter }: Skill): string {
  const places = [frontmatter, frontmatter['metadata']].filter(isJsonObject)
  return places.flatMap((place) => ['tags', 'keywords'].flatMap((key) => textsOf(place[key]))).join(' ')
}

function textsOf(value: JsonValue | undefined): readonly string[] {
  if (typeof value === 'string') return [value]
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}

/** Ids of what matches, best first; of equals the first in order. */
function rank({ ranked, words }: Index, query: string): readonly number[] {
  const asked = [...new Set(wordsOf(query.slice(0, MAX_QUERY_UNITS)))].slice(0, MAX_QUERY_WORDS)
  const telling = asked.filter((word) => !STOP_WORDS.has(word))
  const found = ranked.search((telling.length > 0 ? telling : asked).join(' '), {
    tokenize: (text) => text.split(' ').filter((word) => word !== ''),
    processTerm: (word) => word,
    boost: BOOST,
    prefix: (word) => word.length > 1 && telling.length > 0,
    // A word that some skill uses is not a typo.
    fuzzy: (word) => (words.has(word) ? false : typosIn(word)),
  })
  const order = found.map(({ id, score }) => ({ id: id as number, score }))
  return order.sort((a, b) => b.score - a.score || a.id - b.id).map(({ id }) => id)
}

/** How many letters of a word may differ; two letters that changed places are two. */
function typosIn(word: string): number | false {
  if (word.length < 4) return false
  return word.length < 5 ? 1 : 2
}

// oxlint-disable-next-line no-control-regex
const ASCII = /^[\u0000-\u007f]*$/

/** The words of a text as they are compared: folded, without accents, in the singular. */
function wordsOf(text: string): string[] {
  if (ASCII.test(text)) return (text.toLowerCase().match(/[a-z0-9]+/g) ?? []).map(toWord)
  const folded = text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .normalize('NFC')
    .toLowerCase()
  // Scripts without blanks between words: their text is searched by pairs of letters.
  const unspaced = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}\p{sc=Myanmar}]+/gu
  const spaced = folded.replace(unspaced, (run) => ` ${pairs(run).join(' ')} `)
  return (spaced.match(/[\p{L}\p{N}]+/gu) ?? []).map(toWord)
}

function pairs(run: string): readonly string[] {
  const letters = [...run]
  return letters.length < 2 ? letters : letters.slice(1).map((letter, index) => `${letters[index]}${letter}`)
}

/** English plurals are the one ending worth knowing: `reports` asks for `report`. */
function toWord(word: string): string {
  const short = word.slice(0, MAX_WORD_UNITS)
  if (short.length < 4 || !short.endsWith('s') || /(?:ss|us|is)$/.test(short)) return short
  return short.endsWith('ies') && short.length > 4 ? `${short.slice(0, -3)}y` : short.slice(0, -1)
}
