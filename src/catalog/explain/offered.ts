import { nameKey, shellWord, type Skill, skillAddress } from '../../kernel/index.ts'
import type { Catalog, PromptIndex } from '../catalog.ts'
import type { IndexStyle } from '../prompt/styles.ts'
import { countPoints, shownName } from '../shown-text.ts'
import type { CatalogSnapshot } from '../snapshot.ts'
import { type Finding, finding, fromDiagnostic } from './finding.ts'

export interface OfferedParts {
  /** Without it a skill is called by its shown name. */
  readonly catalog?: Pick<Catalog, 'callName'>
  readonly index?: Pick<PromptIndex, 'items'>
  /** What the index was made with, for saying what to change. */
  readonly prompt?: { readonly budgetChars?: number; readonly style?: IndexStyle }
  readonly snapshot?: Pick<CatalogSnapshot, 'skills'>
  readonly agentId?: string
  readonly loadTool?: string | false
}

const MAX_NOTES = 20
/** As the index has it: longer labels are counted and not shown. */
const MAX_NAME_POINTS = 128

/** How the prompt shows a skill that is offered, who may start it, and what else there is to say. */
export function explainOffered(skill: Skill, parts: OfferedParts): Finding[] {
  const { file } = skill
  const notes = skill.diagnostics.slice(0, MAX_NOTES).map(fromDiagnostic)
  // A link is listed, but refused when it is loaded: that is the answer, whatever the prompt says.
  const refused = notes.filter(({ code }) => code === 'link-followed')
  const findings = [
    ...refused.map((note): Finding => ({ ...note, severity: 'problem' })),
    ...(parts.loadTool === false ? [noLoader(file, parts.agentId)] : []),
    whoAndWhere(skill, parts),
    ...inSession(skill, parts),
  ]
  return [...findings, ...notes.filter((note) => !refused.includes(note))]
}

function noLoader(file: string, agentId: string | undefined): Finding {
  const who = agentId === undefined ? 'the agent' : `agent '${agentId}'`
  return finding('no-loader', 'problem', {
    text: `${who} has no tool that loads skills, so it cannot use it.`,
    file,
    fix: `Allow group:skills under tools: of ${who} in nexus.yaml; nexus config show agents tells which line denies it.`,
  })
}

function whoAndWhere(skill: Skill, parts: OfferedParts): Finding {
  const { file, invocation } = skill
  const name = shownName(skill)
  if (invocation.model) {
    const found = inPrompt(skill, parts)
    if (invocation.user || found.severity !== 'ok') return found
    return { ...found, text: `${found.text} Only the model may start it (user-invocable: false).` }
  }
  const line = 'disable-model-invocation'
  if (!invocation.user) {
    return finding('nobody', 'problem', {
      text: `It is ready, but nobody may start it: ${line} keeps the model out, user-invocable: false keeps people out.`,
      file,
      fix: `Take one of the two out of its frontmatter.`,
    })
  }
  const mention = /^[\w-]+$/.test(name) ? `Write $${name} in a message, or take` : 'Take'
  return finding('person-only', 'note', {
    text: `It is ready, but not in the prompt: only a person may start it (${line}).`,
    file,
    fix: `${mention} ${line} out of its frontmatter.`,
  })
}

/** How the prompt shows it. */
function inPrompt(skill: Skill, { catalog, index, prompt }: OfferedParts): Finding {
  const { file } = skill
  const name = shownName(skill)
  const read = `Read it with: nexus skills show ${shellWord(catalog?.callName(skill) ?? name)}`
  if (!index) return finding('ready', 'ok', { text: 'It is ready.', file, fix: read })
  const item = index.items.find((each) => each.name === name)
  const over = `the index is over its budget${prompt?.budgetChars === undefined ? '' : ` of ${prompt.budgetChars} characters`}`
  const fix =
    'Raise skills.prompt.budgetChars in nexus.yaml (or SKILLS_PROMPT_CHAR_BUDGET), or switch off skills that are not needed; nexus prompt shows the index.'
  switch (item?.shown) {
    case 'full':
      return finding('in-prompt', 'ok', {
        text: `It is in the prompt with its whole description (about ${item.tokens} tokens).`,
        file,
        fix: read,
      })
    case 'shortened':
      return finding('over-budget-shortened', 'note', {
        text: `It is in the prompt with a shortened description (about ${item.tokens} tokens): ${over}.`,
        file,
        fix,
      })
    case 'name':
      return prompt?.style === 'names'
        ? finding('in-prompt', 'ok', {
            text: 'It is in the prompt by its name only, as skills.prompt.style: names wants it.',
            file,
            fix: read,
          })
        : finding('over-budget-name', 'note', {
            text: `It is in the prompt by its name only: ${over}.`,
            file,
            fix,
          })
    default:
      return countPoints(name) > MAX_NAME_POINTS ? tooLong(file) : omitted(file, { over, fix })
  }
}

function tooLong(file: string): Finding {
  const text = `It is ready, but left out of the prompt: its name is longer than ${MAX_NAME_POINTS} characters.`
  return finding('over-budget-omitted', 'problem', { text, file, fix: 'Give it a shorter name.' })
}

function omitted(file: string, { over, fix }: { over: string; fix: string }): Finding {
  const text = `It is ready, but left out of the prompt: ${over}. The model can find it with find_skills.`
  return finding('over-budget-omitted', 'problem', { text, file, fix })
}

/** Whether a session that goes on knows it. */
function inSession(skill: Skill, { snapshot }: OfferedParts): Finding[] {
  if (!snapshot) return []
  const key = nameKey(shownName(skill))
  const told = snapshot.skills.find((each) => nameKey(shownName(each)) === key)
  const { file } = skill
  const fix = 'Send the next message: each turn begins with the skills as they are then.'
  if (!told) {
    const text = 'The session does not know it yet: it came after the last turn began.'
    return [finding('stale-session', 'problem', { text, file, fix })]
  }
  const isSame = told.size === skill.stamp.size && told.description === skill.description
  if (isSame && told.address === skillAddress(skill)) return []
  const what = told.address === skillAddress(skill) ? 'an earlier text of it' : `another copy of it, ${told.address}`
  return [finding('stale-session', 'note', { text: `The session was told of ${what}.`, file, fix })]
}
