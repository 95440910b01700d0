import { commandFix } from '../../../kernel/index.ts'
import type { Messages } from './message.ts'

/** Errors of tasks, models and turns. */
export const TURN_MESSAGES = {
  stdinEmpty: () => ({
    message: 'nexus run - reads the task from standard input, which was empty.',
    ...commandFix('Pipe the task into:', 'run', '-'),
  }),
  stdinTerminal: () => ({
    message: 'nexus run - reads the task from standard input, which is your terminal.',
    ...commandFix('Type the task instead:', 'run', 'Chart data/sales.csv by region'),
  }),
  recordedModel: () => ({
    message: 'The recorded model answers only the task of the demo.',
    ...commandFix('Name a model such as openai/gpt-5.1, or play the recording:', 'demo', '--model', 'recorded'),
  }),
  modelMissing: () => ({
    message: 'No model is configured: neither --model, nor model: in nexus.yaml, nor a key variable is set.',
    fix: 'Type: export ANTHROPIC_API_KEY=… (or OPENAI_API_KEY), then type the same command again. For a model of your own: --model openai-compatible/NAME --base-url URL',
  }),
  allowOrDeny: (id: string) => ({
    message: 'nexus approvals answer needs one of --allow and --deny.',
    ...commandFix('To allow it:', 'approvals', 'answer', id, '--allow'),
  }),
  questionNotFound: (id: string, number: number) => ({
    message: number === 0 ? `There is no question ${id}.` : `${number} questions begin with ${id}.`,
    ...commandFix('See the open questions:', 'approvals', 'list'),
  }),
  answerNotFound: (id: string) => ({
    message: `There is no remembered answer ${id}.`,
    ...commandFix('See the remembered answers:', 'approvals', 'list'),
  }),
  turnNotFound: (id: string, number: number) => ({
    message: number === 0 ? `No message ${id} waits or runs.` : `${number} messages begin with ${id}.`,
    ...commandFix('See the sessions:', 'sessions', 'list', '--all'),
  }),
  outputMissing: (id: string) => ({
    message: `No saved output has the id ${id}, or it was removed: outputs are kept for 7 days.`,
    ...commandFix('The outcome of a call names its output. See the sessions:', 'sessions', 'list', '--all'),
  }),
  outputIsNoJson: () => ({
    message: 'A saved output is printed as it is, so --output and --json cannot be used together.',
    fix: 'Leave out --json.',
  }),
  recordingUnavailable: () => ({ message: 'The recorded model could not be started.' }),
  turnFailed: () => ({ message: 'The turn failed.' }),
  turnCancelled: () => ({ message: 'Cancelled. The session was kept.' }),
  stepLimit: (steps: number, session: string) => ({
    message: `The turn was stopped after ${steps} steps, the limit limits.maxIterations.`,
    ...commandFix('Raise limits.maxIterations in nexus.yaml, or go on:', 'run', '--session', session, 'go on'),
  }),
} satisfies Messages
