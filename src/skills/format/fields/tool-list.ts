import { nearest } from '../../../kernel/index.ts'

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
  return text[at] !== ',' && /^\s*\(/.test(text.slice(at, at + 8))
}

/** Names with one space between them, and text without spaces in their parentheses: most lists. */
const PLAIN = /^[\w-]+(?:\([^() ]*\))?(?: [\w-]+(?:\([^() ]*\))?)*$/

/**
 * Cuts `Bash(git add:*), Read Write` into its tools: separated by blanks or commas outside parentheses. A parenthesis belongs
 * to the name before it, also after a blank. Duplicates are kept once. With `keepSpaces` only commas separate, as in an entry of a list.
 */
export function splitToolList(text: string, keepSpaces = false): ToolList {
  if (!keepSpaces && PLAIN.test(text)) return { tools: [...new Set(text.split(' '))], balanced: true }
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
    if (depth > 0 || !isSeparator(character, keepSpaces)) current += character
    else if (!isBeforeParenthesis(text, at)) end()
  }
  end()
  return { tools: [...tools], balanced: depth === 0 }
}

/** Names of tools in skills of Claude Code, OpenClaw and Nexus, with those that policy reads as others. */
const KNOWN: readonly string[] = [
  ...['Bash', 'BashOutput', 'KillShell', 'Read', 'Write', 'Edit', 'MultiEdit', 'NotebookEdit', 'Glob', 'Grep', 'LS'],
  ...['WebFetch', 'WebSearch', 'Task', 'TodoWrite', 'Skill', 'AskUserQuestion', 'SlashCommand', 'ExitPlanMode'],
  ...['exec', 'shell', 'sandbox', 'execute_code', 'apply_patch', 'run_command', 'read_file', 'write_file', 'edit_file'],
  ...['list_directory', 'load_skill', 'read_skill_file', 'find_skills', 'web_search', 'web_fetch', 'http_request'],
]
/** Written exactly so, as in most skills, a name needs no closer look. */
const KNOWN_NAMES: ReadonlySet<string> = new Set(KNOWN)
const KNOWN_PLAIN: ReadonlySet<string> = new Set(KNOWN.map((name) => name.toLowerCase()))
/** Shorter names are near to too many words. */
const FEW_LETTERS = 4

/** The known tool that an entry such as `Bahs(git:*)` probably means, with the rest of the entry; undefined for any other. */
export function similarTool(entry: string): string | undefined {
  const end = entry.indexOf('(')
  const name = end < 0 ? entry : entry.slice(0, end)
  if (KNOWN_NAMES.has(name) || KNOWN_PLAIN.has(name.trim().toLowerCase())) return undefined
  if (name.trim().length < FEW_LETTERS || /[:*.]/.test(name)) return undefined
  const right = nearest(name.trim(), KNOWN, 1)
  return right === undefined ? undefined : right + entry.slice(name.length)
}
