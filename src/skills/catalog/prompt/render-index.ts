import { DEFAULTS, NexusError, type Skill, TIERS, type Diagnostic } from '../../../kernel/index.ts'
import type { Catalog, OverBudget, PromptIndex } from '../catalog.ts'
import { PLAIN_NAME } from '../copy.ts'
import { MESSAGES } from '../messages.ts'
import { type Entry, fit, type Fitted } from './ladder.ts'
import { countPoints, estimateTokens, firstPoints, measure, shownName, shownText } from '../shown-text.ts'
import { type IndexStyle, type Style, STYLES } from './styles.ts'

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
  /** How often a skill was used in the workspace of the session: those used most keep their descriptions longest. Default never. */
  readonly usesOf?: (skill: Skill) => number
}

interface Offered {
  readonly skill: Skill
  readonly name: string
  /** The name to load it by, unless that is the address of another skill. */
  readonly called: string
}

/** Without `callName` every skill is called by its shown name. */
export type IndexedCatalog = Pick<Catalog, 'skills'> & Partial<Pick<Catalog, 'callName'>>

/** A model cannot call a skill by a longer label, and one of them must not push out all others. */
export const MAX_NAME_POINTS = 128

/**
 * The index that the model reads before it loads a skill: never longer than the budget, every skill named, or counted in a
 * visible line; `fit` has the rungs. Skills that only a person may start are left out. Throws INVALID_ARGUMENT for a budget
 * that is not a whole number.
 */
export function renderIndex(catalog: IndexedCatalog, options: IndexOptions = {}): PromptIndex {
  const { budgetChars = DEFAULTS.promptBudgetChars } = options
  if (!Number.isSafeInteger(budgetChars) || budgetChars < 0) {
    const { message, fix } = MESSAGES['bad-budget'](budgetChars)
    throw new NexusError('INVALID_ARGUMENT', message, { fix })
  }
  const offered = catalog.skills.filter(({ invocation }) => invocation.model).map((skill) => toOffered(skill, catalog))
  if (offered.length === 0) return { text: '', characters: 0, tokens: 0, items: [] }

  const style = STYLES[options.style ?? 'markdown']
  const frame = { head: style.head(howToLoad(options)), tail: style.tail }
  const more = (count: number): string => style.more(remainder(count, options.findTool ?? false))
  const callable = offered.filter(({ name }) => name.length <= MAX_NAME_POINTS || countPoints(name) <= MAX_NAME_POINTS)
  const entries = toEntries(callable, style, options)
  const frameChars = countPoints(frame.head) + countPoints(frame.tail)
  const fitted = fit(entries, {
    room: budgetChars - frameChars,
    uncounted: offered.length - callable.length,
    moreChars: (count) => countPoints(more(count)),
    canDropLocations: options.loadTool !== false,
  })
  const items = itemsOf(offered, entries, fitted)
  const left = items.filter(({ shown }) => shown === 'omitted').length
  let text = `${frame.head}${fitted.map(({ line }) => line).join('')}${left > 0 ? more(left) : ''}${frame.tail}`
  if (countPoints(text) > budgetChars) {
    // Not even the frame has room: the bare number, or nothing at all.
    const bare = more(left).trim()
    text = countPoints(bare) <= budgetChars ? bare : ''
  }
  const overBudget = overBudgetOf(items, style, {
    budgetChars,
    neededChars: frameChars + entries.reduce((total, { whole }) => total + whole.without, 0),
  })
  return { text, ...measure(text), items, overBudget }
}

function toOffered(skill: Skill, { callName }: IndexedCatalog): Offered {
  const name = shownName(skill)
  return { skill, name, called: PLAIN_NAME.test(name) ? name : (callName?.(skill) ?? name) }
}

function howToLoad({ loadTool = 'load_skill', readTool }: IndexOptions): string {
  if (loadTool === false && readTool === false)
    return 'None of your tools can load or read them: when one would help, tell the user so.'
  if (loadTool === false)
    return `Read SKILL.md${readTool === undefined ? '' : ` with ${readTool}`} for detailed instructions.`
  return `Call ${loadTool} with the name of a skill to read its detailed instructions.`
}

function remainder(count: number, findTool: string | false): string {
  return findTool === false ? `${count} more: not listed here` : `${count} more: call ${findTool}`
}

/** In the order of the skills. Rank: tier, then use, then name. Source: decisions, "budget ladder". */
function toEntries(callable: readonly Offered[], style: Style, options: IndexOptions): readonly Entry[] {
  const { usesOf = () => 0 } = options
  const location = options.loadTool === false && options.readTool === false ? false : options.location
  const ranked = callable.toSorted(
    (a, b) =>
      TIERS.indexOf(a.skill.origin.tier) - TIERS.indexOf(b.skill.origin.tier) || usesOf(b.skill) - usesOf(a.skill),
  )
  const rankOf = new Map(ranked.map((each, rank) => [each, rank]))
  const sizes = {
    named: countPoints(style.entry({ name: '' })),
    described: countPoints(style.entry({ name: '', description: '' })),
  }
  return callable.map((each) => entryOf(each, { style, sizes, location, rank: rankOf.get(each) ?? 0 }))
}

function entryOf(
  { skill, name, called }: Offered,
  {
    style,
    sizes,
    location,
    rank,
  }: {
    readonly style: Style
    /** Code points of a line besides what it shows, with the name alone and with a description. */
    readonly sizes: { readonly named: number; readonly described: number }
    readonly location: IndexOptions['location']
    readonly rank: number
  },
): Entry {
  const shown = { name: style.escape(called) }
  const locationOf = (): string | undefined => {
    const path = style.showsLocations ? locate(skill, location) : undefined
    return path === undefined ? undefined : style.escape(shownText(path))
  }
  const line: Entry['line'] = (how) => {
    if (how === undefined) return style.entry(shown)
    const { description, hasLocation } = how
    return style.entry({
      ...shown,
      location: hasLocation ? locationOf() : undefined,
      description: description === '' ? undefined : style.escape(description),
    })
  }
  const nameChars = countPoints(shown.name)
  const nameOnly = sizes.named + nameChars
  const entry = { name, rank, line, nameOnly }
  if (!style.showsDescriptions) {
    return { ...entry, whole: { withLocation: () => nameOnly, without: nameOnly }, atCap: () => nameOnly }
  }
  const description = shownText(skill.description)
  const escaped = style.escape(description)
  let withLocation: number | undefined
  const whole = {
    withLocation: () => (withLocation ??= countPoints(line({ description, hasLocation: true }))),
    // No line is made to know its size: most skills of a large index are not shown as a whole.
    without: description === '' ? nameOnly : sizes.described + nameChars + countPoints(escaped),
  }
  const points = countPoints(description)
  const isPlain = escaped === description
  const atCap = (cap: number, hasLocation: boolean): number => {
    const full = hasLocation ? whole.withLocation() : whole.without
    if (points <= cap) return full
    // Escaped text grows, so only such a line has to be made to know its size.
    if (isPlain) return full - points + cap
    return countPoints(line({ description: `${firstPoints(description, cap - 1)}…`, hasLocation }))
  }
  return { ...entry, description, whole, atCap }
}

function locate(skill: Skill, location: IndexOptions['location'] = true): string | undefined {
  if (typeof location === 'function') return location(skill)
  return location ? skill.file : undefined
}

/** Entries are the callable ones among the offered, in the same order. */
function itemsOf(offered: readonly Offered[], entries: readonly Entry[], fitted: Fitted): PromptIndex['items'] {
  let next = 0
  return offered.map(({ name }) => {
    const { line, shown } = (entries[next]?.name === name ? fitted[next++] : undefined) ?? {
      line: '',
      shown: 'omitted',
    }
    return { name, shown, tokens: estimateTokens(line) }
  })
}

/** Undefined when each skill is shown as the style shows it. */
function overBudgetOf(
  items: PromptIndex['items'],
  style: Style,
  sizes: Pick<OverBudget, 'budgetChars' | 'neededChars'>,
): OverBudget | undefined {
  const count = (shown: PromptIndex['items'][number]['shown']): number =>
    items.filter((item) => item.shown === shown).length
  const [shortened, nameOnly, omitted] = [
    count('shortened'),
    style.showsDescriptions ? count('name') : 0,
    count('omitted'),
  ]
  return shortened + nameOnly + omitted === 0 ? undefined : { shortened, nameOnly, omitted, ...sizes }
}

/** A warning when the budget shortens skills or leaves some out. `path` is the file for the setting. */
export function aboutBudget({ overBudget }: Pick<PromptIndex, 'overBudget'>, path: string): Diagnostic | undefined {
  if (!overBudget) return undefined
  const words = MESSAGES['over-budget'](overBudget)
  return { code: 'over-budget', severity: 'warning', subject: 'skills.prompt.budgetChars', path, ...words }
}
