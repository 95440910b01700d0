import { measure } from '../../catalog/index.ts'
import { NexusError, toSafeLine } from '../../kernel/index.ts'
import { budgetDiagnostics, type Local } from '../../local/index.ts'
import { choiceFlag, CHOICES, type Invocation, stringFlag } from '../command.ts'
import { envelope } from '../envelope.ts'
import { agentFlag, openFor, printDiagnostics } from '../open.ts'

type Style = (typeof CHOICES.style)[number]

/** `nexus prompt`: the skills section as the model gets it on stdout, its cost on stderr. */
export async function showPrompt(invocation: Invocation): Promise<number> {
  const wished = choiceFlag(invocation, 'style', CHOICES.style)
  const local = await openFor(invocation, { record: 'memory', ...promptOption(wished, budgetFlag(invocation)) })
  try {
    const told = briefingOf(local, invocation)
    if (wished !== undefined && wished !== told.style)
      invocation.terminal.note(
        `--style ${wished} has no effect: the tool Skill is on the surface, so the style is list.`,
      )
    print(told, local, invocation)
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
  throw new NexusError(
    'INVALID_ARGUMENT',
    `--budget ${toSafeLine(text)}: give a whole number of characters, at most ${MOST_CHARACTERS}.`,
    { fix: '--budget 12000' },
  )
}

/** What the model of one agent is told, and what it costs. */
interface Told {
  readonly text: string
  readonly index: ReturnType<Local['runtime']['index']>
  readonly style: Style
  readonly budgetChars: number
  readonly tools: readonly string[]
}

function briefingOf({ runtime, config }: Local, invocation: Invocation): Told {
  const agentId = agentFlag(invocation)
  const { budgetChars, style } = config.skills.prompt
  const tools = runtime.definitions(agentId)
  return {
    text: runtime.instructions(agentId),
    index: runtime.index(agentId),
    // The index is part of that tool's prompt then. Source: seed 003.
    style: tools.some(({ name }) => name === 'Skill') ? 'list' : style,
    budgetChars,
    tools: tools.map(({ wireName }) => wireName),
  }
}

function print(told: Told, local: Local, invocation: Invocation): void {
  const { terminal, flags } = invocation
  const { text, index, style, budgetChars, tools } = told
  const { characters, tokens, items } = index
  const sent = measure(text)
  const inBudget = budgetDiagnostics(local.loaded, index)
  if (flags['json'] === true) {
    const shown = { style, characters, tokens, budgetChars, items: items.map((item) => ({ ...item })) }
    const diagnostics = [...local.diagnostics, ...local.runtime.catalog(agentFlag(invocation)).diagnostics, ...inBudget]
    terminal.json(envelope('prompt', { text, ...sent, index: shown, tools: [...tools] }, { diagnostics, exit: 0 }))
  } else if (items.length === 0) {
    terminal.note('No skill is ready, so the model is told nothing about skills. See: nexus skills check')
  } else if (text === '') {
    terminal.note(
      `A budget of ${budgetChars} characters has no room for the ${items.length} skills: the model is told nothing.`,
    )
  } else {
    terminal.line(text)
    const skills = `${items.length} ${items.length === 1 ? 'skill' : 'skills'}`
    const cost = `${sent.characters} characters, about ${sent.tokens} tokens with the rules of use`
    const list = `the list has ${characters} of ${budgetChars} characters`
    terminal.note(terminal.paintNote('dim', `${skills}, style ${style}: ${cost}; ${list}. Tools: ${tools.join(', ')}`))
    printDiagnostics(inBudget, terminal)
  }
}
