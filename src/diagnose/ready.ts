import { MAX_NAME_POINTS, shownName } from '../catalog/index.ts'
import { nameKey, type Skill, skillAddress } from '../kernel/index.ts'
import type { Facts } from './facts.ts'
import { type Finding, finding, fromDiagnostics, LEFT_OUT_FIX } from './finding.ts'

const MAX_LEFT_OUT = 5

/** How the prompt shows a skill that is ready, who may start it, and what else there is to say. */
export function aboutReady(skill: Skill, facts: Facts): readonly Finding[] {
  return [
    ...aboutLoading(skill, facts),
    ...(facts.canLoad === false ? [noLoader(skill, facts)] : []),
    useOf(skill, facts),
    ...inSession(skill, facts),
    ...aboutLeftOut(skill, facts),
    ...fromDiagnostics(skill.diagnostics),
  ]
}

/** Why it cannot be loaded: the answer, whatever else is true of it. */
export function aboutLoading(skill: Skill, { examined }: Facts): readonly Finding[] {
  const problem = examined?.get(skill)?.problem
  if (!problem) return []
  return [finding(problem.code, 'error', { ...problem, message: `It cannot be loaded: ${problem.message}.` })]
}

/** What of its directory commands and the model do not get. */
export function aboutLeftOut(skill: Skill, { examined }: Facts): readonly Finding[] {
  const leftOut = examined?.get(skill)?.leftOut ?? []
  const [first] = leftOut
  if (!first) return []
  const shown = leftOut.slice(0, MAX_LEFT_OUT).map(({ path, kind }) => `${path} (${kind})`)
  const rest = leftOut.length > shown.length ? ` and ${leftOut.length - shown.length} more` : ''
  return [
    finding('left-out', 'info', {
      path: `${skill.directory}/${first.path}`,
      message: `Not part of the skill, so neither read nor seen by its commands: ${shown.join(', ')}${rest}.`,
      fix: LEFT_OUT_FIX,
    }),
  ]
}

function noLoader({ file }: Skill, { agentId }: Facts): Finding {
  const who = agentId === undefined ? 'the agent' : `agent '${agentId}'`
  return finding('no-loader', 'error', {
    path: file,
    message: `${who} has no tool that loads skills, so it cannot use it.`,
    fix: `Allow group:skills under tools: of ${who} in nexus.yaml; nexus config show agents tells which line denies it.`,
  })
}

function useOf(skill: Skill, facts: Facts): Finding {
  const { file: path, invocation } = skill
  const name = shownName(skill)
  if (invocation.model) {
    const found = inPrompt(skill, facts)
    if (invocation.user || !FINE.has(found.code)) return found
    return { ...found, message: `${found.message} Only the model may start it (user-invocable: false).` }
  }
  const line = 'disable-model-invocation'
  if (invocation.user) {
    const mention = /^[\w-]+$/.test(name) ? `Write $${name} in a message, or take` : 'Take'
    return finding('person-only', 'info', {
      path,
      subject: line,
      message: `It is ready, but not in the prompt: only a person may start it (${line}).`,
      fix: `${mention} ${line} out of its frontmatter.`,
    })
  }
  return finding('nobody', 'error', {
    path,
    subject: line,
    message: `It is ready, but nobody may start it: ${line} keeps the model out, user-invocable: false keeps people out.`,
    fix: 'Take one of the two out of its frontmatter.',
  })
}

/** Findings that only say that all is well. */
export const FINE: ReadonlySet<string> = new Set(['ready', 'in-prompt'])

/** How the prompt shows it. */
function inPrompt(skill: Skill, { catalog, index, prompt }: Facts): Finding {
  const name = shownName(skill)
  const fine = (code: string, message: string): Finding =>
    finding(code, 'info', {
      path: skill.file,
      message,
      fix: 'Read it with:',
      command: ['skills', 'show', catalog.callName(skill)],
    })
  const over = (code: string, message: string, severity: Finding['severity'] = 'info'): Finding =>
    finding(code, severity, { path: skill.file, subject: 'skills.prompt.budgetChars', message, fix: RAISE })
  if (!index) return fine('ready', 'It is ready.')
  const item = index.items.find((each) => each.name === name)
  const limit = prompt?.budgetChars === undefined ? '' : ` of ${prompt.budgetChars} characters`
  const why = `the index is over its budget${limit}`
  const shown = 'It is in the prompt'
  const cost = `(about ${item?.tokens} tokens)`
  switch (item?.shown) {
    case 'full':
      return fine('in-prompt', `${shown} with its whole description ${cost}.`)
    case 'shortened':
      return over('over-budget-shortened', `${shown} with a shortened description ${cost}: ${why}.`)
    case 'name':
      return prompt?.style === 'names'
        ? fine('in-prompt', `${shown} by its name only, as skills.prompt.style: names wants it.`)
        : over('over-budget-name', `${shown} by its name only: ${why}.`)
    default: {
      const isLong = [...name].length > MAX_NAME_POINTS
      const cause = isLong
        ? `its name is longer than ${MAX_NAME_POINTS} characters.`
        : `${why}. The model can find it with find_skills.`
      const found = over('over-budget-omitted', `It is ready, but left out of the prompt: ${cause}`, 'error')
      return isLong ? { ...found, fix: 'Give it a shorter name.' } : found
    }
  }
}

const RAISE =
  'Raise skills.prompt.budgetChars in nexus.yaml (or SKILLS_PROMPT_CHAR_BUDGET), or switch off skills that are not needed; nexus prompt shows the index.'

/** Whether a session that goes on knows it. */
function inSession(skill: Skill, { snapshot }: Facts): readonly Finding[] {
  if (!snapshot) return []
  const key = nameKey(shownName(skill))
  const known = snapshot.skills.find((each) => nameKey(shownName(each)) === key)
  const fix = 'Send the next message: each turn begins with the skills as they are then.'
  const stale = (severity: Finding['severity'], message: string): readonly Finding[] => [
    finding('stale-session', severity, { path: skill.file, message, fix }),
  ]
  if (!known) return stale('error', 'The session does not know it yet: it came after the last turn began.')
  const isSameCopy = known.address === skillAddress(skill)
  if (isSameCopy && known.size === skill.stamp.size && known.description === skill.description) return []
  const what = isSameCopy ? 'an earlier text of it' : `another copy of it, ${known.address}`
  return stale('info', `The session was told of ${what}.`)
}
