/** task: the words of a task, and how its turn ended as the end of a command. */
import { addAbortSignal } from 'node:stream'
import type { TurnResult } from '../../agents/turns/index.ts'
import { commandFix, type NexusError, toSafeLine } from '../../kernel/index.ts'
import { argumentMissing, type Invocation } from './command.ts'
import { errorOf, type Failure, toFailure } from './failure.ts'
import { isTerminalAt } from './output.ts'

const EXAMPLE = 'Chart data/sales.csv by region'

/** The words behind the ones `before`, or standard input for `-`. Throws INVALID_ARGUMENT when there are none. */
export async function readTask(invocation: Invocation, ...before: readonly string[]): Promise<string> {
  const { command, positionals, rest, signal } = invocation
  const words = [...positionals.slice(before.length), ...rest].join(' ').trim()
  if (words === '') throw argumentMissing(command, 'a task', [...before, EXAMPLE])
  if (words !== '-') return words
  const typed = [...command.split(' '), ...before].map(toSafeLine)
  const from = `nexus ${typed.join(' ')} - reads the task from standard input`
  if (isTerminalAt(0))
    throw errorOf(
      'INVALID_ARGUMENT',
      `${from}, which is your terminal.`,
      commandFix('Type the task instead:', ...typed, EXAMPLE),
    )
  const { text } = await import('node:stream/consumers')
  const task = (await text(addAbortSignal(signal, process.stdin))).trim()
  if (task !== '') return task
  throw errorOf('INVALID_ARGUMENT', `${from}, which was empty.`, commandFix('Pipe the task into:', ...typed, '-'))
}

/** Whether a question of this command can be answered: at the terminal, for the policy, or by another process. */
export function canAnswer({ flags, terminal }: Invocation): boolean {
  return flags['yes'] === true || flags['wait'] === true || terminal.isInteractive
}

export function waitsForAnswer(approvalId: string, about: string): NexusError {
  return errorOf(
    'CONFLICT',
    `The turn did not go on: it waits for an answer about ${toSafeLine(about)}`,
    commandFix('Answer it, then try again:', 'approvals', 'answer', approvalId, '--allow'),
  )
}

export function failureOf({ end, error, usage, sessionId }: TurnResult): Failure | undefined {
  switch (end) {
    case 'done':
      return undefined
    case 'cancelled':
      return { code: 'CANCELLED', message: 'Cancelled. The session was kept.' }
    case 'max-iterations':
      return {
        code: 'LIMIT_EXCEEDED',
        message: `The turn was stopped after ${usage.steps} steps, the limit limits.maxIterations.`,
        ...commandFix(
          'Raise limits.maxIterations in nexus.yaml, or go on:',
          ...['run', '--session', sessionId.slice(0, 13), 'go on'],
        ),
      }
    case 'stopped':
    case 'failed':
      return toFailure(error ?? errorOf('MODEL_FAILED', 'The turn failed.'))
  }
}
