/** Reads about the skills of the workspace. */
import { z } from 'zod'
import { type HeldSkill, NexusError, type Skill, skillAddress } from '../../../kernel/index.ts'
import type { SkillListing } from '../../client/index.ts'
import { shown } from '../failures.ts'
import { globalMethod, type MethodContext } from '../method.ts'

const listing = z.strictObject({
  name: z.string(),
  address: z.string(),
  description: z.string(),
  status: z.enum(['ready', 'held']),
  reasons: z.array(z.string()),
})

export const SKILL_METHODS = [
  globalMethod({
    name: 'skills.list',
    summary: 'The skills that agents are offered; with `all` also the held ones, with their reasons.',
    params: z.strictObject({ all: z.boolean().optional() }),
    result: z.strictObject({ skills: z.array(listing) }),
    run: async ({ all = false }, context) => ({ skills: skillsOf(context, all) }),
  }),
  globalMethod({
    name: 'skills.get',
    summary: 'One skill by its name or address.',
    params: z.strictObject({ name: z.string() }),
    result: listing,
    async run({ name }, context) {
      const found = skillsOf(context, true).find((skill) => skill.name === name || skill.address === name)
      if (found) return found
      throw new NexusError('SKILL_NOT_FOUND', `Skill not found: ${shown(name)}`)
    },
  }),
]

/** An agent sees its own skills, the key those of the first agent of the configuration. */
function skillsOf({ caller, served }: MethodContext, all: boolean): SkillListing[] {
  const spec = caller.type === 'agent' ? { row: caller.agent, sessionId: caller.agent.sessionId } : {}
  const { skills, held } = served.runtime.openAgent(spec).catalog()
  return [...skills.map(ready), ...(all ? held.map(waiting) : [])]
}

function ready(skill: Skill): SkillListing {
  return { ...named(skill), status: 'ready', reasons: [] }
}

function waiting({ skill, reasons }: HeldSkill): SkillListing {
  return { ...named(skill), status: 'held', reasons: reasons.map(({ text }) => text) }
}

function named(skill: Skill): Pick<SkillListing, 'name' | 'address' | 'description'> {
  return { name: skill.name, address: skillAddress(skill), description: skill.description ?? '' }
}
