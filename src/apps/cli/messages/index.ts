/** messages: every sentence of the command line. Helps of commands and options are in `table.ts`. */
import { SKILL_MESSAGES } from './skills.ts'
import { TURN_MESSAGES } from './turns.ts'
import { USAGE_MESSAGES } from './usage.ts'
import { WORKSPACE_MESSAGES } from './workspace.ts'

export { errorOf, type Message } from './message.ts'
export { TEST_FAULTS } from './usage.ts'
export { HEADLINES, many, NOTES } from './notes.ts'

/** Errors, by what happened. */
export const MESSAGES = { ...USAGE_MESSAGES, ...WORKSPACE_MESSAGES, ...SKILL_MESSAGES, ...TURN_MESSAGES }
