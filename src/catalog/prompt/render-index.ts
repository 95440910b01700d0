import { DEFAULTS, NexusError, type Skill } from '../../kernel/index.ts'
import type { Catalog, PromptIndex } from '../catalog.ts'
import { PLAIN_NAME } from '../copy.ts'
import { climb, type Entry, type Rung } from './ladder.ts'
import { countPoints, estimateTokens, shownName, shownText } from '../shown-text.ts'
import { type IndexStyle, type Style, STYLES } from './styles.ts'

/** How the index is written. */
export interface IndexOptions {
  /** Default `markdown`. */
  readonly style?: IndexStyle
  /** Most code points of the whole text; default 12,000. Source: seed 003, SKILLS_PROMPT_CHAR_BUDGET. */
  readonly budgetChars?: number
  /** Name of the tool that loads a skill, as the model sees it; false when there is none. Default `load_skill`. */
  readonly loadTool?: string | false
  /** Without `loadTool`: the tool that reads SKILL.md, or false when none can. Absent: the model knows how to read files. */
  readonly readTool?: string | false
  /** Name of the tool that searches skills; false when there is none. Default false. */
  readonly findTool?: string | false
  /** Where the model finds a skill: its SKILL.md (default), nothing, or what the function returns. Only `markdown` and `xml` show it. */
  readonly location?: boolean | ((skill: Skill) => string | undefined)
}

interface Offered {
  readonly skill: Skill
  readonly name: string
  /** What loads it: the name, unless that is the address of another skill. */
  readonly called: string
}

/** What the index is made of; without `callName` every skill is called by its shown name. */
export type IndexedCatalog = Pick<Catalog, 'skills'> & Partial<Pick<Catalog, 'callName'>>

/** A longer label is no name that a model could call, and one of them must not push out all others. */
export const MAX_NAME_POINTS = 128

/**
 * What the model is told about skills before it loads one: never longer than the budget, every skill named or counted in a
 * visible line. Ladder: whole descriptions, descriptions cut evenly (80 or more characters), names, as many names as fit.
 * Skills that only a person may start are left out. Throws INVALID_ARGUMENT for a budget that is no whole number.
 */
export function renderIndex(catalog: IndexedCatalog, options: IndexOptions = {}): PromptIndex {
  const { budgetChars = DEFAULTS.promptBudgetChars } = options
  if (!Number.isSafeInteger(budgetChars) || budgetChars < 0) {
    throw new NexusError(
      'INVALID_ARGUMENT',
      `The prompt budget must be a whole number of characters, not ${budgetChars}.`,
      {
        fix: 'Set skills.prompt.budgetChars or SKILLS_PROMPT_CHAR_BUDGET to a number such as 12000.',
      },
    )
  }
  const offered = catalog.skills.filter(({ invocation }) => invocation.model).map((skill) => toOffered(skill, catalog))
  if (offered.length === 0) return { text: '', characters: 0, tokens: 0, items: [] }

  const style = STYLES[options.style ?? 'markdown']
  const head = style.head(howToLoad(options))
  const more = (count: number): string => style.more(remainder(count, options.findTool ?? false))
  const callable = offered.filter(({ name }) => name.length <= MAX_NAME_POINTS || countPoints(name) <= MAX_NAME_POINTS)
  const location = isOutOfReach(options) ? false : options.location
  const entries = callable.map((each) => entryOf(each, style, location))
  const frame = countPoints(head) + countPoints(style.tail)
  const rung = climb(entries, {
    room: budgetChars - frame,
    uncounted: offered.length - callable.length,
    moreChars: (count) => countPoints(more(count)),
  })
  return assemble({ offered, entries, rung, head, tail: style.tail, more, budgetChars })
}

function toOffered(skill: Skill, { callName }: IndexedCatalog): Offered {
  const name = shownName(skill)
  return { skill, name, called: PLAIN_NAME.test(name) ? name : (callName?.(skill) ?? name) }
}

/** Nothing that the model has leads to the text of a skill. */
function isOutOfReach({ loadTool, readTool }: IndexOptions): boolean {
  return loadTool === false && readTool === false
}

function howToLoad({ loadTool = 'load_skill', readTool }: IndexOptions): string {
  if (loadTool === false && readTool === false)
    return 'None of your tools can load or read them: when one would help, tell the user so.'
  if (loadTool === false)
    return `Read SKILL.md${readTool === undefined ? '' : ` with ${readTool}`} for detailed instructions.`
  return `Call ${loadTool} with the name of a skill to read its detailed instructions.`
}

function remainder(count: number, findTool: string | false): string {
  return `${count} more: ${findTool === false ? 'run nexus skills list' : `call ${findTool}`}`
}

function entryOf({ skill, name, called }: Offered, style: Style, location: IndexOptions['location']): Entry {
  const path = style.showsLocations ? locate(skill, location) : undefined
  const shown = { name: style.escape(called) }
  const described = { ...shown, ...(path !== undefined && { location: style.escape(shownText(path)) }) }
  const line = (description?: string): string => {
    if (description === undefined) return style.entry(shown)
    return style.entry({ ...described, ...(description !== '' && { description: style.escape(description) }) })
  }
  return { name, line, ...(style.showsDescriptions && { description: shownText(skill.description) }) }
}

function locate(skill: Skill, location: IndexOptions['location'] = true): string | undefined {
  if (typeof location === 'function') return location(skill)
  return location ? skill.file : undefined
}

interface Parts {
  readonly offered: readonly Offered[]
  readonly entries: readonly Entry[]
  readonly rung: Rung
  readonly head: string
  readonly tail: string
  readonly more: (count: number) => string
  readonly budgetChars: number
}

function assemble({ offered, entries, rung, head, tail, more, budgetChars }: Parts): PromptIndex {
  const left = offered.length - rung.lines.length
  let text = `${head}${rung.lines.join('')}${left > 0 ? more(left) : ''}${tail}`
  if (countPoints(text) > budgetChars) {
    // Not even the frame has room: the bare count, or nothing at all.
    const bare = more(left).trim()
    text = countPoints(bare) <= budgetChars ? bare : ''
  }
  return { text, characters: countPoints(text), tokens: estimateTokens(text), items: itemsOf(offered, entries, rung) }
}

/** Entries are the callable ones among the offered, in the same order, and lines belong to the first entries. */
function itemsOf(offered: readonly Offered[], entries: readonly Entry[], { lines, shown }: Rung): PromptIndex['items'] {
  let next = 0
  return offered.map(({ name }) => {
    const index = entries[next]?.name === name ? next++ : -1
    const line = lines[index]
    return line === undefined
      ? { name, shown: 'omitted', tokens: 0 }
      : { name, shown: shown[index] ?? 'name', tokens: estimateTokens(line) }
  })
}
