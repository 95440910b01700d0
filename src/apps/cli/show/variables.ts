import { entryValues } from '../../../local/index.ts'
import { type JsonValue, toSafeLine } from '../../../kernel/index.ts'
import type { Seen } from './facts.ts'
import { createSkillVariables, type SkillVariables } from '../../../tools/index.ts'
import type { Terminal } from '../terminal.ts'

type Verdicts = ReturnType<SkillVariables['verdictsOf']>

/** What happens to the variables that nexus.yaml contains for skills of an agent. Names only: no secret is read for it. */
export function variablesIn({ facts, loaded, catalog }: Seen): SkillVariables['verdictsOf'] {
  const noSecrets = { read: async (): Promise<undefined> => undefined }
  return createSkillVariables({ catalog, facts, entries: entryValues(loaded.config, noSecrets) }).verdictsOf
}

export function variablesData(verdicts: Verdicts): JsonValue {
  return verdicts.map(({ key: _, ...verdict }) => verdict)
}

/** One line for each. `all` is false where only those matter that are not given. */
export function printVariables(
  verdicts: Verdicts,
  { terminal, all }: { readonly terminal: Terminal; readonly all: boolean },
): void {
  const indent = all ? '' : '    '
  for (const { name, key, from, verdict, why } of verdicts) {
    const place = terminal.paint('dim', `(skills.entries.${toSafeLine(key)}.${from})`)
    if (verdict === 'given' && all) terminal.line(`${indent}${name} is given to its commands ${place}`)
    else if (verdict !== 'given')
      terminal.line(`${indent}${name} is not given to its commands: it ${why ?? verdict} ${place}`)
  }
}
