import { MAX_NAME_POINTS, shownName } from '../catalog/index.ts'
import { nameKey, type Skill, skillAddress } from '../../kernel/index.ts'
import type { Facts } from './facts.ts'
import { type Finding, finding, fromDiagnostics } from './finding.ts'
import { aboutHosts } from './hosts.ts'
import { MESSAGES } from './messages.ts'

const MAX_LEFT_OUT = 5

/** How the prompt shows a skill that is ready, who may start it, and what else there is to say. */
export function aboutReady(skill: Skill, facts: Facts): readonly Finding[] {
  return [
    ...aboutLoading(skill, facts),
    ...(facts.canLoad === false ? [noLoader(skill, facts)] : []),
    ...waitingForTrust(skill, facts),
    useOf(skill, facts),
    ...inSession(skill, facts),
    ...aboutLeftOut(skill, facts),
    ...aboutHosts(skill, facts),
    ...aboutSetup(skill, facts),
    ...fromDiagnostics(skill.diagnostics),
  ]
}

/** Packages that it lists and nothing installs. */
export function aboutSetup(skill: Skill, { withoutSetup, host }: Facts): readonly Finding[] {
  const found = withoutSetup?.get(skill)
  if (!found) return []
  const words = MESSAGES['setup-missing']({ ...found, settings: host?.settingsFile ?? 'nexus.yaml' })
  return [finding('setup-missing', 'info', { path: `${skill.directory}/${found.file}`, ...words })]
}

/** Why it cannot be loaded: the answer, whatever else is true of it. */
export function aboutLoading(skill: Skill, { examined }: Facts): readonly Finding[] {
  const problem = examined?.get(skill)?.problem
  if (!problem) return []
  return [finding(problem.code, 'error', { ...problem, ...MESSAGES['cannot-load'](problem.message) })]
}

/** Files in its directory that commands and the model do not get. */
export function aboutLeftOut(skill: Skill, { examined }: Facts): readonly Finding[] {
  const leftOut = examined?.get(skill)?.leftOut ?? []
  const [first] = leftOut
  if (!first) return []
  const shown = leftOut.slice(0, MAX_LEFT_OUT).map(({ path, kind }) => `${path} (${kind})`)
  const more = leftOut.length > shown.length ? ` and ${leftOut.length - shown.length} more` : ''
  const words = MESSAGES['left-out'](`${shown.join(', ')}${more}`)
  return [finding('left-out', 'info', { path: `${skill.directory}/${first.path}`, ...words })]
}

function noLoader({ file }: Skill, { agentId }: Facts): Finding {
  const agent = agentId === undefined ? 'the agent' : `agent '${agentId}'`
  return finding('no-loader', 'error', {
    path: file,
    ...MESSAGES['no-loader'](agent),
    command: ['config', 'show', 'agents'],
  })
}

function waitingForTrust({ file }: Skill, { untrustedWorkspace }: Facts): readonly Finding[] {
  if (untrustedWorkspace === undefined) return []
  const words = MESSAGES['workspace-untrusted']()
  return [finding('workspace-untrusted', 'warning', { path: file, ...words, command: ['trust', untrustedWorkspace] })]
}

function useOf(skill: Skill, facts: Facts): Finding {
  const { file: path, invocation } = skill
  const name = shownName(skill)
  if (invocation.model) {
    const found = inPrompt(skill, facts)
    if (invocation.user || !FINE.has(found.code)) return found
    return { ...found, message: MESSAGES.modelOnly(found.message) }
  }
  const subject = 'disable-model-invocation'
  if (!invocation.user) return finding('not-invocable', 'error', { path, subject, ...MESSAGES['not-invocable']() })
  const mention = /^[\w-]+$/.test(name) ? name : ''
  return finding('person-only', 'info', { path, subject, ...MESSAGES['person-only'](mention) })
}

/** Findings of a skill that is used as its author meant. */
export const FINE: ReadonlySet<string> = new Set(['ready', 'in-prompt'])

/** How the prompt shows it. */
function inPrompt(skill: Skill, { catalog, index, prompt }: Facts): Finding {
  const name = shownName(skill)
  const fine = (code: string, words: Pick<Finding, 'message' | 'fix'>): Finding =>
    finding(code, 'info', { path: skill.file, ...words, command: ['skills', 'show', catalog.callName(skill)] })
  const over = (code: string, words: Pick<Finding, 'message' | 'fix'>): Finding =>
    finding(code, code === 'over-budget-omitted' ? 'error' : 'info', {
      ...{ path: skill.file, subject: 'skills.prompt.budgetChars' },
      ...words,
    })
  if (!index) return fine('ready', MESSAGES.ready())
  const { shown, tokens } = index.items.find((each) => each.name === name) ?? { shown: 'omitted', tokens: 0 }
  const { overBudget } = index
  const budget = prompt?.budgetChars
  const words = MESSAGES['over-budget']
  switch (shown) {
    case 'full':
      return fine('in-prompt', MESSAGES['in-prompt'].whole(tokens))
    case 'shortened':
      return over('over-budget-shortened', words.shortened(tokens, budget, overBudget))
    case 'name':
      return prompt?.style === 'names'
        ? fine('in-prompt', MESSAGES['in-prompt'].byName())
        : over('over-budget-name', words.name(budget, overBudget))
    case 'omitted': {
      const isLong = [...name].length > MAX_NAME_POINTS
      return over('over-budget-omitted', isLong ? words.longName() : words.omitted(budget, overBudget))
    }
  }
}

/** Whether a session that goes on has it. */
function inSession(skill: Skill, { catalog, snapshot, loaded }: Facts): readonly Finding[] {
  if (!snapshot) return []
  const key = nameKey(shownName(skill))
  const known = snapshot.skills.find((each) => nameKey(shownName(each)) === key)
  const words = MESSAGES['stale-session']
  const stale = (severity: Finding['severity'], said: Pick<Finding, 'message' | 'fix'>): readonly Finding[] => [
    finding('stale-session', severity, { path: skill.file, ...said }),
  ]
  // A loaded skill counts, also when it came after the turn began.
  const files = loaded?.get(catalog.addressOf(skill))
  if (files !== undefined) return files === 'same' ? [] : stale('info', words.loaded())
  if (!known) return stale('error', words.added())
  if (known.address !== skillAddress(skill)) return stale('info', words.otherCopy(known.address))
  const isSameText = known.size === skill.stamp.size && known.description === skill.description
  return isSameText ? [] : stale('info', words.changed())
}
