import type { Messages } from './message.ts'

/** Errors of tasks, models and turns. */
export const TURN_MESSAGES = {
  modelMissing: () => ({
    message: 'No model is configured: neither --model, nor model: in nexus.yaml, nor a key variable is set.',
    fix: 'Type: export ANTHROPIC_API_KEY=… (or OPENAI_API_KEY), then type the same command again. For a model of your own: --model openai-compatible/NAME --base-url URL',
  }),
  recordingUnavailable: () => ({ message: 'The recorded model could not be started.' }),
  turnFailed: () => ({ message: 'The turn failed.' }),
} satisfies Messages
