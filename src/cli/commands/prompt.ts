import type { Invocation } from '../command.ts'
import { envelope } from '../envelope.ts'
import { agentFlag, openFor } from '../open.ts'

/** `nexus prompt`: the skills section as the model gets it on stdout, its cost on stderr. */
export async function showPrompt(invocation: Invocation): Promise<number> {
  const { terminal } = invocation
  const local = await openFor(invocation, { record: 'memory' })
  try {
    const agentId = agentFlag(invocation)
    const text = local.runtime.instructions(agentId)
    const index = local.runtime.index(agentId)
    const tools = local.runtime.definitions(agentId).map((tool) => tool.wireName)
    if (invocation.flags['json'] === true) {
      const data = {
        text,
        index: {
          characters: index.characters,
          tokens: index.tokens,
          budgetChars: local.config.skills.prompt.budgetChars,
          items: index.items.map((item) => ({ ...item })),
        },
        tools,
      }
      terminal.json(
        envelope('prompt', data, {
          diagnostics: [...local.diagnostics, ...local.runtime.catalog(agentId).diagnostics],
          exit: 0,
        }),
      )
      return 0
    }
    if (text === '') {
      terminal.note('No skill is ready, so the model is told nothing about skills. See: nexus skills check')
      return 0
    }
    terminal.line(text)
    const cut = index.items.filter((item) => item.shown !== 'full').length
    terminal.note(
      terminal.paintNote(
        'dim',
        `${index.items.length} skills, ${index.characters} characters of ${local.config.skills.prompt.budgetChars}, about ${index.tokens} tokens${cut > 0 ? `; ${cut} shortened or left out` : ''}. Tools: ${tools.join(', ')}`,
      ),
    )
    return 0
  } finally {
    await local.close()
  }
}
