import { succeeded, type Tool } from '../../kernel/index.ts'
import { defineTool } from '../define.ts'

/** `echo{message*}`: gives the message back, to try a model or a front. Not registered by itself. Source: contracts §1.8. */
export function createEchoTool(): Tool {
  return defineTool({
    name: 'echo',
    description: 'Give a message back as it is.',
    parameters: {
      type: 'object',
      properties: { message: { type: 'string', description: 'What to give back' } },
      required: ['message'],
    },
    execute: ({ message }) => succeeded(String(message)),
  })
}
