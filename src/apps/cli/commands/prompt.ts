import { measure } from '../../../skills/catalog/index.ts'
import { budgetDiagnostics } from '../../../local/index.ts'
import { type Answer, choiceFlag, CHOICES, type Invocation, numberFlag } from '../command.ts'
import { many } from '../failure.ts'
import { agentOf, openFor, printDiagnostics } from '../open.ts'

/** `nexus prompt`: the skills section as the model gets it on stdout, its cost on stderr. */
export async function showPrompt(invocation: Invocation): Promise<Answer> {
  const { terminal } = invocation
  const wished = choiceFlag(invocation, 'style', CHOICES.style)
  const budget = numberFlag(invocation, 'budget', { from: 0, to: MOST_CHARACTERS, example: 12_000 })
  // Members that are undefined would replace the settings.
  const prompt = { ...(wished && { style: wished }), ...(budget !== undefined && { budgetChars: budget }) }
  await using local = await openFor(invocation, { record: 'memory', readsUses: true, prompt })
  const agent = agentOf(local, invocation)
  const tools = agent.definitions()
  const text = agent.instructions()
  const index = agent.index()
  const { characters, tokens, items } = index
  const { budgetChars, style: configured } = local.config.skills.prompt
  // The index is part of that tool's prompt then. Source: seed 003.
  const style = tools.some(({ name }) => name === 'Skill') ? 'list' : configured
  if (wished !== undefined && wished !== style)
    terminal.note(`--style ${wished} has no effect, because the agent has the tool Skill: the style is list.`)
  const sent = measure(text)
  const names = tools.map(({ wireName }) => wireName)
  const inBudget = budgetDiagnostics(local.loaded, index)
  return {
    data: { text, ...sent, index: { style, characters, tokens, budgetChars, items }, tools: names },
    diagnostics: [...local.diagnostics, ...agent.catalog().diagnostics, ...inBudget],
    exit: 0,
    show: () => {
      const skills = many(items.length, 'skill')
      if (items.length === 0)
        return terminal.note(
          `No skill is ready, so the prompt contains nothing about skills. For the reasons: ${terminal.commandLine(['skills', 'check'])}`,
        )
      if (text === '')
        return terminal.note(
          `Over budget: ${budgetChars} characters have no room for ${skills}, so the prompt contains none. Raise --budget or skills.prompt.budgetChars.`,
        )
      terminal.line(text)
      const cost = `${sent.characters} characters, about ${sent.tokens} tokens with the rules of use`
      const list = `the list has ${characters} of ${budgetChars} characters`
      terminal.note(
        terminal.paintNote('dim', `${skills}, style ${style}: ${cost}; ${list}. Tools: ${names.join(', ')}`),
      )
      printDiagnostics(inBudget, terminal)
    },
  }
}

const MOST_CHARACTERS = 1_000_000_000
