/** The question about a call as a form of the client, and what its answer says. */
import type { ElicitRequestFormParams } from '@modelcontextprotocol/server'
import { shownCall } from '../../authorize/index.ts'
import type { Call } from '../../kernel/index.ts'
import type { ApprovalAnswer } from '../../runtime/index.ts'
import { APPROVAL } from './messages.ts'

/** The name of the question within the request. */
export const QUESTION = 'approval'

/** Asks about exactly what would run, secrets blanked. Remembering is offered where the answer may be remembered. */
export function approvalForm(
  call: Call,
  { canRemember, why }: { readonly canRemember: boolean; readonly why: string | undefined },
): ElicitRequestFormParams {
  const choices = canRemember ? (['once', 'exact', 'deny'] as const) : (['once', 'deny'] as const)
  return {
    mode: 'form',
    message: APPROVAL.question(call.tool, { ...shownCall(call), why }),
    requestedSchema: {
      type: 'object',
      properties: {
        answer: {
          type: 'string',
          title: 'Answer',
          oneOf: choices.map((choice) => ({ const: choice, title: APPROVAL.choices[choice] })),
        },
      },
      required: ['answer'],
    },
  }
}

/**
 * A form that was sent back is an answer, and `decline` of a client with a person. All else, and no response, closes the question
 * without one.
 */
export function answerOf(
  { action, content }: { readonly action?: string; readonly content?: Readonly<Record<string, unknown>> | undefined },
  asked: {
    readonly canRemember: boolean
    readonly client: { readonly name: string; readonly hasPerson: boolean }
  },
): ApprovalAnswer {
  const { canRemember, client } = asked
  const by = `mcp client ${client.name}`
  if (action === 'decline' && client.hasPerson) return { by, isAllowed: false }
  switch (action === 'accept' && content?.['answer']) {
    case 'once':
      return { by, isAllowed: true }
    case 'exact':
      return canRemember ? { by, isAllowed: true, remember: 'exact' } : undefined
    case 'deny':
      return { by, isAllowed: false }
    default:
      return undefined
  }
}
