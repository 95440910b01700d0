/** task: the words of a task, and how its turn ended as the end of a command. */
import { addAbortSignal } from 'node:stream'
import type { TurnResult } from '../../agents/turns/index.ts'
import { commandFix } from '../../kernel/index.ts'
import { argumentMissing, type Invocation } from './command.ts'
import { errorOf, type Failure, toFailure } from './failure.ts'
import { isTerminalAt } from './output.ts'

/** The words of the command line, or standard input for `-`. Throws INVALID_ARGUMENT when there are none. */
export async function readTask({ positionals, rest, signal }: Invocation): Promise<string> {
  const words = [...positionals, ...rest].join(' ').trim()
  if (words === '') throw argumentMissing('run', 'a task', ['Chart data/sales.csv by region'])
  if (words !== '-') return words
  if (isTerminalAt(0)) {
    const message = 'nexus run - reads the task from standard input, which is your terminal.'
    const fix = commandFix('Type the task instead:', 'run', 'Chart data/sales.csv by region')
    throw errorOf('INVALID_ARGUMENT', message, fix)
  }
  const { text } = await import('node:stream/consumers')
  const task = (await text(addAbortSignal(signal, process.stdin))).trim()
  if (task !== '') return task
  const message = 'nexus run - reads the task from standard input, which was empty.'
  throw errorOf('INVALID_ARGUMENT', message, commandFix('Pipe the task into:', 'run', '-'))
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
