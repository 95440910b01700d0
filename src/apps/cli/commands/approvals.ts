import { userInfo } from 'node:os'
import { commandFix, toSafeLine } from '../../../kernel/index.ts'
import { createApprovals, whyHeld } from '../../../runtime/index.ts'
import type { Approval } from '../../../store/index.ts'
import { quoteCommand } from '../show/lines.ts'
import { type Answer, argument, choiceFlag, CHOICES, type Invocation } from '../command.ts'
import { errorOf } from '../failure.ts'
import { openStored, theOne } from '../stored.ts'

/** `nexus approvals list`: the open questions of every process, and the answers that are remembered. */
export async function listApprovals(invocation: Invocation): Promise<Answer> {
  const { terminal } = invocation
  await using opened = await openBroker(invocation)
  const open = await Promise.all(
    (await opened.approvals.list()).map(async (approval) => {
      const entry = await opened.store.ledger.get(approval.callId)
      return { ...approval, why: entry && whyHeld(entry.decision) }
    }),
  )
  const remembered = await opened.approvals.remembered()
  return {
    data: { open, remembered },
    show: () => {
      if (open.length === 0) terminal.note('There is no open question.')
      for (const approval of open) print(approval, invocation)
      for (const { id, tool, match, text, agentPath, scope } of remembered) {
        const kind = match === 'exact' ? 'exactly' : 'beginning with'
        terminal.line(`remembered ${id}  ${toSafeLine(agentPath)}: ${toSafeLine(tool)}${inScope(scope)} ${kind}:`)
        for (const line of quoteCommand(text)) terminal.line(line)
      }
    },
  }
}

function print(approval: Approval & { readonly why?: string }, { terminal: { line, paint } }: Invocation): void {
  const { id, agentPath, tool, command, prefix, scope, createdAt, expiresAt, why } = approval
  line(`${paint('bold', id)}  ${toSafeLine(agentPath)} wants to run ${toSafeLine(tool)}${inScope(scope)}`)
  quoteCommand(command).forEach((each) => line(each))
  if (why !== undefined) line(`  ${toSafeLine(why)}`)
  const remember = prefix === undefined ? '' : `; can be remembered for: ${toSafeLine(prefix)} …`
  const [asked, until] = [createdAt, expiresAt].map((at) => new Date(at).toISOString().slice(0, 16).replace('T', ' '))
  line(`  asked ${asked}, until ${until} UTC${remember}`)
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
  if (isAllowed === (flags['deny'] === true)) {
    const fix = commandFix('To allow it:', 'approvals', 'answer', wanted, '--allow')
    throw errorOf('INVALID_ARGUMENT', 'nexus approvals answer needs one of --allow and --deny.', fix)
  }
  await using opened = await openBroker(invocation)
  const { approvals, store } = opened
  // Only a whole id finds a question that is closed: it says how that ended.
  const closed = (await store.approvals.list()).filter(({ id: known }) => known === wanted)
  const open = closed.length > 0 ? closed : await approvals.list()
  const { id } = theOne(open, wanted, { noun: 'question', list: ['approvals', 'list'] })
  const by = `${userInfo().username} (nexus approvals)`
  const { isApplied, approval } = await approvals.answer(id, { isAllowed, by, kind: 'person', remember })
  const { state, sessionId } = approval
  const [turn] = sessionId === undefined ? [] : await store.turns.list({ sessionId, states: ['running', 'waiting'] })
  return {
    data: { applied: isApplied, state, id },
    exit: isApplied ? 0 : 1,
    show: () => {
      terminal.note(isApplied ? `Answered: ${state}.` : `Nothing was changed: the question is ${state} already.`)
      if (!turn || !isApplied) return
      const lead = turn.state === 'waiting' ? 'Its process ended. To go on' : 'If its process ended, go on'
      terminal.note(`${lead}: ${terminal.commandLine(['sessions', 'resume', turn.sessionId])}`)
    },
  }
}

/** `nexus approvals forget <id>`: ends a remembered answer. */
export async function forgetApproval(invocation: Invocation): Promise<Answer> {
  const id = argument(invocation, 'the id of a remembered answer', ['0196f3'])
  await using opened = await openBroker(invocation)
  if (!(await opened.approvals.forget(id))) {
    const fix = commandFix('See the remembered answers:', 'approvals', 'list')
    throw errorOf('FILE_NOT_FOUND', `There is no remembered answer ${toSafeLine(id)}.`, fix)
  }
  return { data: { id }, show: () => invocation.terminal.note('Nexus asks again from now on.') }
}

/** The rule of who may answer is that of the broker, as in the process that asks. */
async function openBroker(invocation: Invocation) {
  const opened = await openStored(invocation)
  await opened.store.reclaim()
  return { ...opened, approvals: createApprovals(opened.store, {}) }
}
