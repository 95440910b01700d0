import { userInfo } from 'node:os'
import { toSafeLine } from '../../../kernel/index.ts'
import { createApprovals } from '../../../runtime/index.ts'
import type { Approval } from '../../../store/index.ts'
import { quoteCommand } from '../show/lines.ts'
import { type Answer, argument, choiceFlag, CHOICES, type Invocation } from '../command.ts'
import { errorOf, MESSAGES, NOTES } from '../messages/index.ts'
import { openStored } from '../stored.ts'

/** `nexus approvals list`: the open questions of every process, and the answers that are remembered. */
export async function listApprovals(invocation: Invocation): Promise<Answer> {
  const { terminal } = invocation
  await using opened = await openBroker(invocation)
  const open = await opened.approvals.list()
  const remembered = await opened.approvals.remembered()
  return {
    data: { open, remembered },
    show: () => {
      if (open.length === 0) terminal.note(NOTES.noQuestion())
      for (const approval of open) terminal.line(describe(approval, invocation))
      for (const { id, tool, match, text, agentPath, scope } of remembered) {
        const kind = match === 'exact' ? 'exactly' : 'beginning with'
        terminal.line(`remembered ${id}  ${toSafeLine(agentPath)}: ${toSafeLine(tool)}${inScope(scope)} ${kind}:`)
        for (const line of quoteCommand(text)) terminal.line(line)
      }
    },
  }
}

function describe(
  { id, agentPath, tool, command, prefix, scope, expiresAt }: Approval,
  { terminal }: Invocation,
): string {
  const lines = [
    `${terminal.paint('bold', id)}  ${toSafeLine(agentPath)} wants to run ${toSafeLine(tool)}${inScope(scope)}`,
    ...quoteCommand(command),
    `  until ${new Date(expiresAt).toISOString().slice(11, 19)}${prefix === undefined ? '' : `; can be remembered for: ${toSafeLine(prefix)} …`}`,
  ]
  return lines.join('\n')
}

/** Where the answer applies; one of an earlier version applies to no call. */
function inScope(scope: string | undefined): string {
  if (scope === undefined) return ' (from an earlier version: applies to no call)'
  return scope === '' ? '' : ` in ${toSafeLine(scope)}`
}

/** `nexus approvals answer <id> --allow|--deny`; a unique beginning of the id is enough. */
export async function answerApproval(invocation: Invocation): Promise<Answer> {
  const { terminal, flags } = invocation
  const remember = choiceFlag(invocation, 'remember', CHOICES.remember)
  const wanted = argument(invocation, 'the id of a question', ['0196f3', '--allow'])
  const isAllowed = flags['allow'] === true
  if (isAllowed === (flags['deny'] === true)) throw errorOf('INVALID_ARGUMENT', MESSAGES.allowOrDeny(wanted))
  await using opened = await openBroker(invocation)
  const { approvals, store } = opened
  // Only a whole id finds a question that is closed: it says how that ended.
  const closed = (await store.approvals.list()).filter(({ id: known }) => known === wanted)
  const { id } = findQuestion(closed.length > 0 ? closed : await approvals.list(), wanted)
  const by = `${userInfo().username} (nexus approvals)`
  const { isApplied, approval } = await approvals.answer(id, { isAllowed, by, ...(remember && { remember }) })
  const { state } = approval
  return {
    data: { applied: isApplied, state, id },
    exit: isApplied ? 0 : 1,
    show: () => terminal.note(isApplied ? NOTES.answered(state) : NOTES.answeredBefore(state)),
  }
}

/** `nexus approvals forget <id>`: ends a remembered answer. */
export async function forgetApproval(invocation: Invocation): Promise<Answer> {
  const id = argument(invocation, 'the id of a remembered answer', ['0196f3'])
  await using opened = await openBroker(invocation)
  if (!(await opened.approvals.forget(id))) throw errorOf('FILE_NOT_FOUND', MESSAGES.answerNotFound(toSafeLine(id)))
  return { data: { id }, show: () => invocation.terminal.note(NOTES.forgotten()) }
}

function findQuestion(all: readonly Approval[], wanted: string): Approval {
  const exact = all.find(({ id }) => id === wanted)
  const matching = exact ? [exact] : all.filter(({ id }) => id.startsWith(wanted))
  const [approval] = matching
  if (approval && matching.length === 1) return approval
  throw errorOf(
    approval ? 'INVALID_ARGUMENT' : 'FILE_NOT_FOUND',
    MESSAGES.questionNotFound(toSafeLine(wanted), matching.length),
  )
}

/** The rule of who may answer is that of the broker, as in the process that asks. */
async function openBroker(invocation: Invocation) {
  const opened = await openStored(invocation)
  await opened.store.reclaim()
  return { ...opened, approvals: createApprovals(opened.store, {}) }
}
