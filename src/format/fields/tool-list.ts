/** A list of tool names as skills write it, cut apart. */
export interface ToolList {
  readonly tools: readonly string[]
  /** False when a parenthesis is not closed; its tool then reaches to the end of the text. */
  readonly balanced: boolean
}

function isSeparator(character: string): boolean {
  return character === ' ' || character === ',' || ((character < ' ' || character > '~') && /\s/.test(character))
}

/** Names with one blank between them, and what stands in their parentheses: nearly all lists. */
const PLAIN = /^[\w-]+(?:\([^()]*\))?(?: [\w-]+(?:\([^()]*\))?)*$/
const PLAIN_TOOL = /[\w-]+(?:\([^()]*\))?/g

/**
 * Cuts `Bash(git add:*), Read Write` into its tools: separated by blanks or commas outside parentheses. A parenthesis belongs
 * to the name before it, also after a blank. Duplicates are kept once.
 */
export function splitToolList(text: string): ToolList {
  if (PLAIN.test(text)) return { tools: [...new Set(text.match(PLAIN_TOOL))], balanced: true }
  const tools = new Set<string>()
  let depth = 0
  let current = ''
  const end = (): void => {
    const name = current.trim()
    if (name !== '') tools.add(name)
    current = ''
  }
  for (let at = 0; at < text.length; at++) {
    const character = text[at] ?? ''
    if (character === '(') depth++
    if (character === ')' && depth > 0) depth--
    const separator = depth === 0 && isSeparator(character)
    if (!separator) current += character
    else if (character === ',' || !/^\s*\(/.test(text.slice(at, at + 8))) end()
  }
  end()
  return { tools: [...tools], balanced: depth === 0 }
}
