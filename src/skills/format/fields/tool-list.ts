/** A list of tool names as skills write it, cut apart. */
export interface ToolList {
  readonly tools: readonly string[]
  /** False when a parenthesis is not closed; its tool then reaches to the end of the text. */
  readonly balanced: boolean
}

function isSeparator(character: string, keepSpaces: boolean): boolean {
  if (character === ',') return true
  if (keepSpaces) return false
  return character === ' ' || ((character < ' ' || character > '~') && /\s/.test(character))
}

/** True for a blank between a name and its parenthesis. */
function isBeforeParenthesis(text: string, at: number): boolean {
  return (
    text[at] !== ',' &&
    text
      .slice(at, at + 8)
      .trimStart()
      .startsWith('(')
  )
}

/**
 * Cuts `Bash(git add:*), Read Write` into its tools: separated by blanks or commas outside parentheses. A parenthesis belongs
 * to the name before it, also after a blank. Duplicates are kept once. With `keepSpaces` only commas separate, as in an entry of a list.
 */
export function splitToolList(text: string, keepSpaces = false): ToolList {
  const tools = new Set<string>()
  let depth = 0
  let start = 0
  let current = ''
  for (let at = 0; at <= text.length; at++) {
    const character = text[at]
    if (character === '(') depth++
    if (character === ')' && depth > 0) depth--
    if (character !== undefined && (depth > 0 || !isSeparator(character, keepSpaces))) continue
    current += text.slice(start, at)
    start = at + 1
    if (isBeforeParenthesis(text, at)) continue
    const name = current.trim()
    if (name !== '') tools.add(name)
    current = ''
  }
  return { tools: [...tools], balanced: depth === 0 }
}
