import { measure } from '../../../skills/catalog/index.ts'
import { budgetDiagnostics } from '../../../local/index.ts'
import { type Answer, choiceFlag, CHOICES, type Invocation, stringFlag } from '../command.ts'
import { errorOf, many, MESSAGES, NOTES } from '../messages/index.ts'
import { agentFlag, openFor, printDiagnostics } from '../open.ts'

/** `nexus prompt`: the skills section as the model gets it on stdout, its cost on stderr. */
export async function showPrompt(invocation: Invocation): Promise<Answer> {
  const { terminal } = invocation
  const wished = choiceFlag(invocation, 'style', CHOICES.style)
  const prompt = promptOption(wished, budgetFlag(invocation))
  await using local = await openFor(invocation, { record: 'memory', readsUses: true, prompt })
  const agent = local.runtime.openAgent({ id: agentFlag(invocation) })
  const tools = agent.definitions()
  const text = agent.instructions()
  const index = agent.index()
  const { characters, tokens, items } = index
  const { budgetChars, style: configured } = local.config.skills.prompt
  // The index is part of that tool's prompt then. Source: seed 003.
  const style = tools.some(({ name }) => name === 'Skill') ? 'list' : configured
  if (wished !== undefined && wished !== style) terminal.note(NOTES.styleIgnored(wished))
  const sent = measure(text)
  const names = tools.map(({ wireName }) => wireName)
  const inBudget = budgetDiagnostics(local.loaded, index)
  return {
    data: { text, ...sent, index: { style, characters, tokens, budgetChars, items }, tools: names },
    diagnostics: [...local.diagnostics, ...agent.catalog().diagnostics, ...inBudget],
    exit: 0,
    show: () => {
      if (items.length === 0) return terminal.note(NOTES.promptEmpty(terminal.commandLine(['skills', 'check'])))
      if (text === '') return terminal.note(NOTES.promptNoRoom(budgetChars, items.length))
      terminal.line(text)
      const skills = many(items.length, 'skill')
      const cost = `${sent.characters} characters, about ${sent.tokens} tokens with the rules of use`
      const list = `the list has ${characters} of ${budgetChars} characters`
      terminal.note(
        terminal.paintNote('dim', `${skills}, style ${style}: ${cost}; ${list}. Tools: ${names.join(', ')}`),
      )
      printDiagnostics(inBudget, terminal)
    },
  }
}

/** The parts of `skills.prompt` that flags replace. */
function promptOption(style: (typeof CHOICES.style)[number] | undefined, budgetChars: number | undefined) {
  return { ...(style && { style }), ...(budgetChars !== undefined && { budgetChars }) }
}

const MOST_CHARACTERS = 1_000_000_000

function budgetFlag(invocation: Invocation): number | undefined {
  const text = stringFlag(invocation, 'budget')
  if (text === undefined) return undefined
  const budget = /^\d+$/.test(text) ? Number(text) : Number.NaN
  if (budget <= MOST_CHARACTERS) return budget
  const range = `a whole number of characters from 0 to ${MOST_CHARACTERS}`
  throw errorOf('INVALID_ARGUMENT', MESSAGES.notANumber('budget', text, { range, example: '12000' }))
}
