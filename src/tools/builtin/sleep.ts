import { type Services, succeeded, systemClock, type Tool, toSafeLine } from '../../kernel/index.ts'
import { defineTool } from '../define.ts'
import { CLOCK } from '../services.ts'

/** `sleep{seconds*, label?}`: waits; ends at once when the call is cancelled. Source: contracts §1.8. */
export function createSleepTool(services: Services): Tool {
  return defineTool({
    name: 'sleep',
    description: 'Wait for a number of seconds, such as until a service is ready or a rate limit has passed.',
    parameters: {
      type: 'object',
      properties: {
        seconds: { type: 'number', minimum: 0, maximum: MAX_SECONDS, description: 'How long to wait' },
        label: { type: 'string', maxLength: 200, description: 'What you wait for' },
      },
      required: ['seconds'],
    },
    options: { timeoutMs: (MAX_SECONDS + ROOM_SECONDS) * 1000 },
    execute: async ({ seconds, label }, { signal }) => {
      const { sleep } = services.get(CLOCK) ?? systemClock
      await sleep(Number(seconds) * 1000, signal)
      const about = toSafeLine(String(label ?? ''))
      return succeeded(`Slept ${String(seconds)}s${about === '' ? '' : ` (${about})`}`)
    },
  })
}

const MAX_SECONDS = 3600
/** The limit of the call is never shorter than what the tool allows. */
const ROOM_SECONDS = 10
