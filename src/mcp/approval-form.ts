/** The question about a call as a form of the client, and what its answer says. */
import { type ElicitInputParams, inputRequired, inputResponse, type InputRequest } from '@modelcontextprotocol/server'
import { shownCall } from '../authorize/index.ts'
import type { Call } from '../kernel/index.ts'
import type { ApprovalAnswer } from '../runtime/index.ts'
import { APPROVAL } from './messages.ts'

/** The name of the question within the request. */
export const QUESTION = 'approval'

/** Asks about exactly what would run, secrets blanked. Remembering is offered where the answer may be remembered. */
export function approvalForm(call: Call, canRemember: boolean): InputRequest {
  const choices = canRemember ? (['once', 'exact', 'deny'] as const) : (['once', 'deny'] as const)
  const params: ElicitInputParams = {
    mode: 'form',
    message: APPROVAL.question(call.tool, shownCall(call)),
    requestedSchema: {
      type: 'object',
      properties: {
        answer: {
          type: 'string',
          title: APPROVAL.answer(),
          oneOf: choices.map((choice) => ({ const: choice, title: APPROVAL.choices[choice] })),
        },
      },
      required: ['answer'],
    },
  }
  return inputRequired.elicit(params)
}

/** Undefined when the client brought no answer. Everything that is not a clear yes is a no. */
export function answerOf(
  responses: Record<string, unknown> | undefined,
  { by, canRemember }: { readonly by: string; readonly canRemember: boolean },
): ApprovalAnswer | undefined {
  const response = inputResponse(responses, QUESTION)
  if (response.kind === 'missing') return undefined
  const answer = response.kind === 'elicit' && response.action === 'accept' ? response.content?.['answer'] : undefined
  if (answer === 'exact' && canRemember) return { by, isAllowed: true, remember: 'exact' }
  return { by, isAllowed: answer === 'once' || answer === 'exact' }
}
