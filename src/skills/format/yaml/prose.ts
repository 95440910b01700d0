import { splitToolList } from '../fields/tool-list.ts'
import type { Wanted } from '../messages/yaml.ts'

/** Top-level keys whose values are true or false. */
export const FLAGS: ReadonlySet<string> = new Set([
  ...['disable-model-invocation', 'disable_model_invocation', 'user-invocable', 'user_invocable', 'background'],
])
const MAPPINGS: ReadonlySet<string> = new Set(['metadata', 'requires', 'install', 'hooks', 'tools'])
const LISTS: ReadonlySet<string> = new Set([
  ...['allowed-tools', 'allowed_tools', 'disallowed-tools', 'arguments', 'tags', 'triggers', 'paths', 'os', 'anyBins'],
])
/** Their values are flags, lists, mappings or names: text in their place would not do what the YAML says. */
export const NOT_PROSE: ReadonlySet<string> = new Set([...FLAGS, ...MAPPINGS, ...LISTS, 'primaryEnv', 'name'])

/** What the value of the key at an offset must be, where it may not be text. */
export function wantedAt(text: string, offset: number): Wanted | undefined {
  let key = ''
  let start = 0
  for (const match of text.slice(0, offset).matchAll(/^["']?([\w.-]+)["']?[ \t]*:/gm)) {
    key = match[1] ?? ''
    start = match.index
  }
  if (FLAGS.has(key)) return { key, wanted: 'flag' }
  if (MAPPINGS.has(key)) return { key, wanted: 'mapping' }
  if (!LISTS.has(key)) return undefined
  const value = /^[^\n:]*:([^\n]*)/.exec(text.slice(start))?.[1] ?? ''
  const entries = splitToolList(value.replaceAll(/[[\]"']/g, ' ')).tools.join(', ')
  return { key, wanted: 'list', ...(entries !== '' && entries.length <= 200 && { entries }) }
}
