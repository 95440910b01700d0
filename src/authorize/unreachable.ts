/** unreachable: lines of a policy that decide nothing, because `deny` covers all that they name. Pure. */
import { leavesOf } from './groups.ts'
import { ALIASES, hasWildcard, isMcpServer } from './names.ts'
import { matchPolicy, type PolicyRules } from './policy.ts'

/** A line that never decides. */
export interface Unreachable {
  readonly list: 'allow' | 'ask'
  readonly index: number
  readonly entry: string
  /** The line that decides, such as `deny: group:web`. */
  readonly by: string
}

/** Entries of `allow` and `ask` of which every tool is denied by a line; `ask` beside `allow` is a habit and no fault. Patterns and servers may name tools to come: they are left out. */
export function findUnreachable(rules: PolicyRules): readonly Unreachable[] {
  return (['allow', 'ask'] as const).flatMap((list) =>
    rules[list].flatMap((entry, index): Unreachable[] => {
      const names = [...leavesOf(entry, rules.groups)].map((leaf) => leaf.entry)
      if (names.length === 0 || names.some((name) => hasWildcard(name) || isMcpServer(name))) return []
      const deciding = names.map((name) => matchPolicy(rules, ALIASES.get(name) ?? name)[0])
      const [first] = deciding
      if (first === undefined || deciding.some((match) => match?.list !== 'deny')) return []
      return [{ list, index, entry: entry.trim(), by: `deny: ${first.entry}` }]
    }),
  )
}
