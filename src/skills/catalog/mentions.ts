import { nameKey, type ProposedCommand, type Skill, skillAddress, type Words as Whole } from '../../kernel/index.ts'
import type { Catalog } from './catalog.ts'
import { MESSAGES } from './messages.ts'
import { shownName, shownText } from './shown-text.ts'

/** Some say all in one sentence. */
type Words = Partial<Whole> & Pick<Whole, 'message'>

export interface Mentions {
  /** Each skill once, in the order of the text; at most 8. */
  readonly skills: readonly Skill[]
  /** For the person who wrote it: mentions that lead nowhere. */
  readonly problems: readonly MentionProblem[]
}

export interface MentionProblem {
  /** Without the `$`. */
  readonly name: string
  /** Why it leads nowhere, with the fix. */
  readonly text: string
  /** The command that the text ends with. */
  readonly proposal?: ProposedCommand
}

/** Source: contracts §2.4. */
const MAX_MENTIONS = 8
const MAX_PROBLEMS = 8
const VARIABLE = /^[A-Z_][A-Z0-9_]*$/
/** `$HOME/bin` and `$5.99` are no misspelt skills. */
const RARELY_MEANT = /^(?:[A-Z_][A-Z0-9_]*(?![A-Za-z0-9_])|[0-9])/

/**
 * The skills a message names as `$skill-name` or `$source/skill-name`, those that only a person may start included.
 * `\$name` is not a mention, nor is an upper-case `$HOME`; words that no skill has as its name are left alone.
 * A skill that cannot be used and every one beyond 8 is a problem to show. Source: contracts §2.4.
 */
export function mentions(text: string, catalog: Catalog): Mentions {
  const skills = new Map<string, Skill>()
  const problems = new Map<string, MentionProblem>()
  const beyond = new Set<string>()
  let hidden: ReadonlyMap<string, Words> | undefined
  // A `$` without a backslash, letter or other `$` before it; `${…}` and `$(…)` are the shell's.
  const mention = /(?<![\\\p{L}\p{N}_$])\$([\p{L}\p{N}][\p{L}\p{M}\p{N}_.:/-]{0,199})/gu
  for (const [, written = ''] of text.matchAll(mention)) {
    if (VARIABLE.test(bareName(written))) continue
    const skill = firstOf(readings(written), catalog.find)
    if (skill?.invocation.user === true) {
      const address = catalog.addressOf(skill)
      if (skills.has(address) || skills.size < MAX_MENTIONS) skills.set(address, skill)
      else beyond.add(catalog.callName(skill))
    } else if (problems.size < MAX_PROBLEMS && !RARELY_MEANT.test(written)) {
      hidden ??= hiddenSkills(catalog)
      const problem = problemOf(written, hidden)
      if (problem) problems.set(problem.name, problem)
    }
  }
  return { skills: [...skills.values()], problems: [...problems.values(), ...tooMany([...beyond])] }
}

/** A sentence goes on after a name, and a name may hold such a sign. */
function readings(written: string): readonly string[] {
  const bare = bareName(written)
  const beforeSign = bare.replace(/[.:].*$/, '')
  return [...new Set([written, bare, beforeSign])].filter((reading) => reading !== '')
}

function bareName(written: string): string {
  return written.replace(/[.:/-]+$/, '')
}

function firstOf(names: readonly string[], find: Catalog['find']): Skill | undefined {
  for (const name of names) {
    const skill = find(name)
    if (skill) return skill
  }
  return undefined
}

/** Why a skill that exists cannot be named, by its name and its address. */
function hiddenSkills({ skills, held, invalid }: Catalog): ReadonlyMap<string, Words> {
  const why = new Map<string, Words>()
  const add = (thing: Pick<Skill, 'name' | 'origin'>, words: Words): void => {
    for (const key of [nameKey(shownText(thing.name)), nameKey(skillAddress(thing))])
      if (!why.has(key)) why.set(key, words)
  }
  for (const skill of skills) if (!skill.invocation.user) add(skill, MESSAGES.mention.modelOnly())
  for (const { skill, reasons } of held) {
    const texts = reasons.map(({ text }) => text)
    add(skill, MESSAGES.mention.held(texts, shownName(skill)))
  }
  for (const broken of invalid) add(broken, MESSAGES.mention.invalid(shownText(broken.name)))
  return why
}

function problemOf(written: string, hidden: ReadonlyMap<string, Words>): MentionProblem | undefined {
  for (const name of readings(written)) {
    const words = hidden.get(nameKey(name))
    if (words) return { name, ...textOf(name, words) }
  }
  return undefined
}

function textOf(name: string, { message, fix, proposal }: Words): Omit<MentionProblem, 'name'> {
  const text = `$${name}: ${message}`
  if (!proposal) return { text }
  return { text: `${text} ${fix}`, proposal: { ...proposal, lead: `${text} ${proposal.lead}` } }
}

function tooMany(names: readonly string[]): readonly MentionProblem[] {
  const [name] = names
  if (name === undefined) return []
  const listed = names.slice(0, MAX_MENTIONS).map((each) => `$${each}`)
  const more = names.length > listed.length ? ` and ${names.length - listed.length} more` : ''
  return [{ name, text: MESSAGES.mention.tooMany(MAX_MENTIONS, `${listed.join(', ')}${more}`).message }]
}
