import { type Catalog, explainOffered } from '../../../catalog/index.ts'
import type { HeldReason, Skill } from '../../../kernel/index.ts'
import { examineSkill } from '../../../load/index.ts'
import type { Look } from '../../../local/index.ts'
import type { Invocation } from '../../command.ts'
import { agentFlag } from '../../open.ts'
import { prepareAdvice } from '../../show/advice.ts'
import type { SkillState } from '../../show/skills.ts'

/** A held skill with its reasons as `nexus skills why` gives them. */
export async function held(
  skill: Skill,
  { look, catalog, invocation }: { readonly look: Look; readonly catalog: Catalog; readonly invocation: Invocation },
): Promise<Omit<SkillState, 'address'>> {
  const reasons = catalog.held.find((each) => each.skill === skill)?.reasons ?? []
  const { loaded, facts } = look
  const { environment } = invocation
  const agentId = agentFlag(invocation) ?? loaded.config.agents[0]?.id
  const advise = await prepareAdvice([skill], { loaded, facts, environment, agentId })
  return { state: 'held', reasons: reasons.map((reason: HeldReason) => ({ ...reason, ...advise(skill, reason) })) }
}

/** A skill that is ready as far as a list knows, and what loading it meets. */
export async function ready(skill: Skill): Promise<Omit<SkillState, 'address'>> {
  const examined = await examineSkill(skill)
  const about = ['left-out', examined.problem?.code]
  const findings = explainOffered(skill, { examined: () => examined }).filter(({ code }) => about.includes(code))
  return {
    state: examined.problem ? 'unloadable' : 'ready',
    reasons: findings.map(({ code, text, fix, file, line }) => ({
      ...{ code, text, fix },
      ...(file !== undefined && { file }),
      ...(line !== undefined && { line }),
    })),
  }
}
