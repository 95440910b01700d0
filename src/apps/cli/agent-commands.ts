/** agent-commands: the rows of the table for agents that are made while Nexus runs. */
import type { Rows } from './command.ts'
import { ANSWERS, flag, MODEL, option, SANDBOX, WHERE } from './options.ts'

const { agent: _ofConfiguration, ...OWN } = WHERE
const PLACE = {
  ...OWN,
  port: option('PORT', 'the server at this port (default: the one that serves this workspace, else none)'),
}

type Looking = typeof import('./commands/agents.ts')
type Working = Pick<typeof import('./commands/agent-messages.ts'), 'sendToAgent' | 'resumeAgent' | 'compactAgent'>

const load = (name: keyof Looking) => async () => (await import('./commands/agents.ts'))[name]
const work = (name: keyof Working) => async () => (await import('./commands/agent-messages.ts'))[name]

export const AGENT_COMMANDS: Rows = {
  'agent create': {
    summary: 'make an agent, with at most the rights of its parent',
    usage: '[id]',
    options: {
      ...MODEL,
      ...PLACE,
      ...SANDBOX,
      parent: option('ID', 'an agent, or one of nexus.yaml (default: a root with the rights of the first one there)'),
      preset: option('NAME', 'yolo, trusted, sandboxed, worker or one of permissions.presets'),
      disable: option('TOOL', 'a tool that it may not call (may be repeated)', { multiple: true }),
      path: option('DIR', 'a directory that it may use, and no others (may be repeated)', { multiple: true }),
      skill: option('NAME', 'a skill that it sees, and no others (may be repeated)', { multiple: true }),
      instructions: option('TEXT', 'its role, for its system prompt'),
      'max-tokens': option('N', 'most tokens of it and its descendants together'),
      'max-turns': option('N', 'most turns'),
      'max-seconds': option('N', 'most time in turns, without that in which you are asked'),
      'max-children': option('N', 'most agents that it and its descendants make'),
      'max-cost': option('MONEY', 'most money, by model.price in nexus.yaml'),
      message: option('TEXT', 'send this first message, and wait for the answer'),
      ...ANSWERS,
    },
    examples: [
      'nexus agent create boss',
      'nexus agent create worker-1 --parent boss --preset sandboxed --max-tokens 20000',
    ],
    load: load('createAgentCommand'),
  },
  'agent send': {
    summary: 'send a message to an agent and wait for its answer; - reads it from standard input',
    usage: '<id> "<message>"|-',
    options: {
      ...MODEL,
      ...PLACE,
      ...SANDBOX,
      request: option('ID', 'your own id of the message: the same message with the same id runs once'),
      ...ANSWERS,
    },
    examples: ['nexus agent send worker-1 "Chart data/sales.csv"'],
    load: work('sendToAgent'),
  },
  'agent resume': {
    summary: 'go on with what ended processes left to an agent: a turn that waits for an answer, then messages',
    usage: '<id>',
    options: { ...MODEL, ...PLACE, ...SANDBOX, ...ANSWERS },
    examples: ['nexus agent resume worker-1'],
    load: work('resumeAgent'),
  },
  'agent compact': {
    summary: 'let the model sum up the history of an agent, so that later turns send less; the messages are kept',
    usage: '<id>',
    options: { ...MODEL, ...PLACE },
    examples: ['nexus agent compact worker-1'],
    load: work('compactAgent'),
  },
  'agent status': {
    summary: 'what an agent does, what it used up with its descendants, what is left, and its open questions',
    usage: '<id>',
    options: PLACE,
    examples: ['nexus agent status worker-1'],
    load: load('agentStatus'),
  },
  'agent cancel': {
    summary: 'cancel a message to an agent, in whatever process it runs',
    usage: '<id> <request>',
    options: PLACE,
    examples: ['nexus agent cancel worker-1 req-7'],
    load: load('cancelMessage'),
  },
  'agent destroy': {
    summary: 'end an agent with its descendants; their histories stay',
    usage: '<id>',
    options: PLACE,
    examples: ['nexus agent destroy boss'],
    load: load('destroyAgent'),
  },
  'agent list': {
    summary: 'the living agents; with --ended those that ended',
    options: { ...PLACE, ended: flag('list the agents that ended') },
    load: load('listAgents'),
  },
  'agent tree': {
    summary: 'living agents below those that made them',
    usage: '[id]',
    options: PLACE,
    examples: ['nexus agent tree', 'nexus agent tree boss'],
    load: load('agentTree'),
  },
  'agent messages': {
    summary: 'the history of an agent, oldest first; an ended one by its key',
    usage: '<id>',
    options: {
      ...PLACE,
      offset: option('N', 'leave out the first ones (default 0)'),
      limit: option('N', 'how many at most (default 200)'),
    },
    examples: ['nexus agent messages worker-1 --offset 20'],
    load: load('agentMessages'),
  },
}
