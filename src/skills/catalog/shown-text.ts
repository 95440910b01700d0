import { toSafeLine } from '../../kernel/index.ts'

/** Printable ASCII words with single spaces: nothing in it can hide, move or need folding. */
const SIMPLE = /^[!-~]+(?: [!-~]+)*$/
const FENCE = /`{3,}|~{3,}/g

/** Text of a skill as one line of a prompt: `toSafeLine`, without code fences and without piles of combining marks. */
export function shownText(text: string): string {
  const line = SIMPLE.test(text) ? text : withoutPiles(toSafeLine(text))
  return line.includes('```') || line.includes('~~~') ? line.replace(FENCE, (run) => run.slice(0, 1)) : line
}

/** Without more combining marks than any script stacks on one letter. */
function withoutPiles(text: string): string {
  // Inside of the function: a pattern over all of Unicode is compiled when it is reached, and few texts need it.
  return text.replace(/(\p{M}{8})\p{M}+/gu, '$1')
}

/** The name the model sees and calls; the directory's name when nothing visible is left of the label. */
export function shownName(skill: { readonly name: string; readonly directory: string }): string {
  return shownText(skill.name) || shownText(skill.directory.slice(skill.directory.lastIndexOf('/') + 1)) || 'unnamed'
}

export function countPoints(text: string): number {
  let surrogatePairs = 0
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index)
    if (unit >= 0xd800 && unit <= 0xdbff) surrogatePairs++
  }
  return text.length - surrogatePairs
}

/** The first `cap` code points, the last of them `…` when something was cut off. */
export function cutPoints(text: string, cap: number): string {
  return countPoints(text) <= cap ? text : `${firstPoints(text, cap - 1).trimEnd()}…`
}

export function firstPoints(text: string, count: number): string {
  let end = 0
  for (let kept = 0; kept < count; kept++) end += (text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1
  return text.slice(0, end)
}

/**
 * Tokens a text costs, estimated without a tokenizer: 4 ASCII characters, 2 of other alphabets, or 1 of Chinese, Japanese,
 * Korean or emoji make one token, rounded up. For English prose usually within 20 % of what models count.
 */
export function estimateTokens(text: string): number {
  return Math.ceil(quartersOf(text) / 4)
}

/** Code points, and tokens as `estimateTokens` counts them. */
export function measure(text: string): { readonly characters: number; readonly tokens: number } {
  return { characters: countPoints(text), tokens: estimateTokens(text) }
}

/** The `estimateTokens` of the line of a skill that the index shows whole, without making that line. */
export function estimateLine(name: string, description: string): number {
  return Math.ceil((SHOWN_WHOLE + quartersOf(name) + quartersOf(description)) / 4)
}

/** The marks of such a line. */
const SHOWN_WHOLE = '- ****: '.length

// oxlint-disable-next-line no-control-regex
const ASCII = /^[\0-\x7f]*$/

function quartersOf(text: string): number {
  if (ASCII.test(text)) return text.length
  let quarters = 0
  for (const character of text) {
    const point = character.codePointAt(0) ?? 0
    const other = point < 0x2e80 ? 2 : 4
    quarters += point < 0x80 ? 1 : other
  }
  return quarters
}
