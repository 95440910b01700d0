import { userInfo } from 'node:os'
import { toSafeLine } from '../../../kernel/index.ts'
import { openConfiguredStore } from '../../../local/index.ts'
import { type ApprovalsBroker, createApprovals } from '../../../runtime/index.ts'
import type { Approval, Store } from '../../../store/index.ts'
import { quoteCommand } from '../show/lines.ts'
import { choiceFlag, CHOICES, type Invocation } from '../command.ts'
import { envelope } from '../envelope.ts'
import { errorOf, MESSAGES, NOTES } from '../messages/index.ts'

/** `nexus approvals list`: the open questions of every process, and the answers that are remembered. */
export async function listApprovals(invocation: Invocation): Promise<number> {
  const { terminal } = invocation
  return withBroker(invocation, async (approvals) => {
    const open = await approvals.list()
    const remembered = await approvals.remembered()
    if (invocation.flags['json'] === true) {
      const data = { open: open.map((each) => ({ ...each })), remembered: remembered.map((each) => ({ ...each })) }
      terminal.json(envelope('approvals list', data))
      return 0
    }
    if (open.length === 0) terminal.note(NOTES.noQuestion())
    for (const approval of open) terminal.line(describe(approval, invocation))
    for (const { id, tool, match, text, agentPath, scope } of remembered) {
      const kind = match === 'exact' ? 'exactly' : 'beginning with'
      terminal.line(`remembered ${id}  ${toSafeLine(agentPath)}: ${toSafeLine(tool)}${inScope(scope)} ${kind}:`)
      for (const line of quoteCommand(text)) terminal.line(line)
    }
    return 0
  })
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
export async function answerApproval(invocation: Invocation): Promise<number> {
  const { terminal, flags, positionals } = invocation
  const remember = choiceFlag(invocation, 'remember', CHOICES.remember)
  const [wanted] = positionals
  if (wanted === undefined)
    throw errorOf(
      'INVALID_ARGUMENT',
      MESSAGES.argumentMissing('approvals answer', 'the id of a question', ['0196f3', '--allow']),
    )
  const isAllowed = flags['allow'] === true
  if (isAllowed === (flags['deny'] === true)) throw errorOf('INVALID_ARGUMENT', MESSAGES.allowOrDeny(wanted))
  return withBroker(invocation, async (approvals, store) => {
    // Only a whole id finds a question that is closed: it says how that ended.
    const closed = (await store.approvals.list()).filter(({ id: known }) => known === wanted)
    const { id } = await findQuestion(closed.length > 0 ? closed : await approvals.list(), wanted)
    const by = `${userInfo().username} (nexus approvals)`
    const { isApplied, approval } = await approvals.answer(id, { isAllowed, by, ...(remember && { remember }) })
    const data = { applied: isApplied, state: approval.state, id }
    if (flags['json'] === true) terminal.json(envelope('approvals answer', data, { exit: isApplied ? 0 : 1 }))
    else terminal.note(isApplied ? NOTES.answered(approval.state) : NOTES.answeredBefore(approval.state))
    return isApplied ? 0 : 1
  })
}

/** `nexus approvals forget <id>`: ends a remembered answer. */
export async function forgetApproval(invocation: Invocation): Promise<number> {
  const { terminal, flags, positionals } = invocation
  const [id] = positionals
  if (id === undefined)
    throw errorOf(
      'INVALID_ARGUMENT',
      MESSAGES.argumentMissing('approvals forget', 'the id of a remembered answer', ['0196f3']),
    )
  return withBroker(invocation, async (approvals) => {
    if (!(await approvals.forget(id))) throw errorOf('FILE_NOT_FOUND', MESSAGES.answerNotFound(toSafeLine(id)))
    if (flags['json'] === true) terminal.json(envelope('approvals forget', { id }))
    else terminal.note(NOTES.forgotten())
    return 0
  })
}

async function findQuestion(all: readonly Approval[], wanted: string): Promise<Approval> {
  const exact = all.find(({ id }) => id === wanted)
  const matching = exact ? [exact] : all.filter(({ id }) => wanted !== '' && id.startsWith(wanted))
  const [approval] = matching
  if (approval && matching.length === 1) return approval
  throw errorOf(
    approval ? 'INVALID_ARGUMENT' : 'FILE_NOT_FOUND',
    MESSAGES.questionNotFound(toSafeLine(wanted), matching.length),
  )
}

/** The rule of who may answer is that of the broker, as in the process that asks. */
async function withBroker(
  invocation: Invocation,
  use: (approvals: ApprovalsBroker, store: Store) => Promise<number>,
): Promise<number> {
  const { store } = await openConfiguredStore(invocation)
  try {
    await store.reclaim()
    return await use(createApprovals(store, {}), store)
  } finally {
    await store.close()
  }
}
