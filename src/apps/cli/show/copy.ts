import { entryValues } from '../../../local/index.ts'
import { type Skill, toSafeLine } from '../../../kernel/index.ts'
import { type CopyDiagnosis, diagnoseCopy, type Facts } from '../../../skills/diagnose/index.ts'
import type { InstallProposal } from '../../../skills/format/index.ts'
import { createSkillVariables, type SkillVariables } from '../../../tools/index.ts'
import type { Invocation } from '../command.ts'
import type { Terminal } from '../terminal.ts'
import type { Seen } from './facts.ts'
import { findingsData, withCommands } from './findings.ts'
import { installData, installGround, type installsOf } from './install.ts'
import { skillData } from './skills.ts'

/** One copy of a skill, as `check` and `show` print it. */
export interface DescribedCopy extends CopyDiagnosis {
  readonly skill: Skill
  readonly installs: readonly InstallProposal[]
  readonly variables: Verdicts
}

/** `proposals`: all that a skill proposes to install, or only the missing. */
export function copyDescriber(
  facts: Facts,
  seen: Seen,
  invocation: Invocation,
  proposals: typeof installsOf,
): (skill: Skill) => DescribedCopy {
  const ground = installGround(seen, invocation)
  const variablesOf = variablesIn(seen)
  return (skill) => {
    const { findings, ...copy } = diagnoseCopy(skill, facts)
    return {
      ...copy,
      skill,
      findings: findings.map((found) => withCommands(found, invocation)),
      installs: proposals(skill, ground),
      variables: variablesOf(skill),
    }
  }
}

/** For `--json`. */
export function copyData({ skill, address, verdict, winner, findings, installs, variables }: DescribedCopy) {
  return {
    ...skillData(skill, address),
    verdict,
    winner,
    findings: findingsData(findings),
    install: installs.length > 0 ? installData(installs) : undefined,
    variables: variables.length > 0 ? variables.map(({ key: _, ...variable }) => variable) : undefined,
  }
}

type Verdicts = ReturnType<SkillVariables['verdictsOf']>

/** The variables that nexus.yaml contains for skills of an agent: given or not. Names only: no secret is read for it. */
function variablesIn({ facts, loaded, catalog }: Seen): SkillVariables['verdictsOf'] {
  const noSecrets = { read: async (): Promise<undefined> => undefined }
  return createSkillVariables({ catalog, facts, entries: entryValues(loaded.config, noSecrets) }).verdictsOf
}

/** One line for each. `all` is false where only those matter that are not given. */
export function printVariables(verdicts: Verdicts, terminal: Terminal, all: boolean): void {
  const indent = all ? '' : '    '
  for (const { name, key, from, verdict, why } of verdicts) {
    const place = terminal.paint('dim', `(skills.entries.${toSafeLine(key)}.${from})`)
    if (verdict === 'given' && all) terminal.line(`${indent}${name} is given to its commands ${place}`)
    else if (verdict !== 'given')
      terminal.line(`${indent}${name} is not given to its commands: it ${why ?? verdict} ${place}`)
  }
}
