import { measure } from '../../../skills/catalog/index.ts'
import { budgetDiagnostics, type Local } from '../../../local/index.ts'
import { choiceFlag, CHOICES, type Invocation, stringFlag } from '../command.ts'
import { envelope } from '../envelope.ts'
import { errorOf, many, MESSAGES, NOTES } from '../messages/index.ts'
import { agentFlag, openFor, printDiagnostics } from '../open.ts'

type Style = (typeof CHOICES.style)[number]

/** `nexus prompt`: the skills section as the model gets it on stdout, its cost on stderr. */
export async function showPrompt(invocation: Invocation): Promise<number> {
  const wished = choiceFlag(invocation, 'style', CHOICES.style)
  const local = await openFor(invocation, {
    record: 'memory',
    readsUses: true,
    ...promptOption(wished, budgetFlag(invocation)),
  })
  try {
    const briefing = briefingOf(local, invocation)
    if (wished !== undefined && wished !== briefing.style) invocation.terminal.note(NOTES.styleIgnored(wished))
    print(briefing, local, invocation)
    return 0
  } finally {
    await local.close()
  }
}

function promptOption(style: Style | undefined, budgetChars: number | undefined) {
  if (style === undefined && budgetChars === undefined) return {}
  return { prompt: { ...(style && { style }), ...(budgetChars !== undefined && { budgetChars }) } }
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

/** What the model of one agent gets about skills, and what it costs. */
interface Briefing {
  readonly text: string
  readonly index: ReturnType<ReturnType<Local['runtime']['openAgent']>['index']>
  readonly style: Style
  readonly budgetChars: number
  readonly tools: readonly string[]
}

function briefingOf({ runtime, config }: Local, invocation: Invocation): Briefing {
  const agentId = agentFlag(invocation)
  const { budgetChars, style } = config.skills.prompt
  const tools = runtime.openAgent({ id: agentId }).definitions()
  return {
    text: runtime.openAgent({ id: agentId }).instructions(),
    index: runtime.openAgent({ id: agentId }).index(),
    // The index is part of that tool's prompt then. Source: seed 003.
    style: tools.some(({ name }) => name === 'Skill') ? 'list' : style,
    budgetChars,
    tools: tools.map(({ wireName }) => wireName),
  }
}

function print(briefing: Briefing, local: Local, invocation: Invocation): void {
  const { terminal, flags } = invocation
  const { text, index, style, budgetChars, tools } = briefing
  const { characters, tokens, items } = index
  const sent = measure(text)
  const inBudget = budgetDiagnostics(local.loaded, index)
  if (flags['json'] === true) {
    const shown = { style, characters, tokens, budgetChars, items: items.map((item) => ({ ...item })) }
    const { diagnostics: ofSkills } = local.runtime.openAgent({ id: agentFlag(invocation) }).catalog()
    const diagnostics = [...local.diagnostics, ...ofSkills, ...inBudget]
    terminal.json(envelope('prompt', { text, ...sent, index: shown, tools: [...tools] }, { diagnostics, exit: 0 }))
  } else if (items.length === 0) {
    terminal.note(NOTES.promptEmpty(terminal.commandLine(['skills', 'check'])))
  } else if (text === '') {
    terminal.note(NOTES.promptNoRoom(budgetChars, items.length))
  } else {
    terminal.line(text)
    const skills = many(items.length, 'skill')
    const cost = `${sent.characters} characters, about ${sent.tokens} tokens with the rules of use`
    const list = `the list has ${characters} of ${budgetChars} characters`
    terminal.note(terminal.paintNote('dim', `${skills}, style ${style}: ${cost}; ${list}. Tools: ${tools.join(', ')}`))
    printDiagnostics(inBudget, terminal)
  }
}
