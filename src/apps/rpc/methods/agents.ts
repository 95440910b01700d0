/** Methods that make, end and list agents, and end the server. */
import { realpath } from 'node:fs/promises'
import { relative, resolve, sep } from 'node:path'
import { z } from 'zod'
import type { CreateRequest } from '../../../agents/pool/index.ts'
import { exceeds, presetPermissions } from '../../../authorize/index.ts'
import { isNexusError, NexusError, type PermissionDelta } from '../../../kernel/index.ts'
import type { AgentRequest, CreatedAgent } from '../../client/index.ts'
import { RPC, RpcError, shown } from '../failures.ts'
import { globalMethod, type MethodContext, type Served } from '../method.ts'
import { messageResult, newRequestId } from './messages.ts'
import { agentListing, listingsOf } from './listing.ts'
import { NONE } from './schemas.ts'

const created = z.strictObject({
  agent_id: z.string(),
  url: z.string(),
  clipped: z.array(z.string()).optional(),
  initial_request_id: z.string().optional(),
  initial_status: z.enum(['queued', 'completed', 'cancelled', 'failed']).optional(),
  response: z.string().optional(),
})

const MOST = 1_000_000_000
const limit = z.int().min(1).max(MOST)

const ID_BYTES = 4
/** The preset of an agent that names none. Source: decisions, "no preset given". */
const PRESET = 'sandboxed'
/** Tools that change files. */
const WRITERS = ['write_file', 'edit_file', 'run_command']

export const AGENT_TREE_METHODS = [
  globalMethod({
    name: 'create_agent',
    summary: 'Makes an agent. Its rights never exceed those of its parent, nor server.ceiling.',
    params: z.strictObject({
      agent_id: z.string().optional(),
      system_prompt: z.string().optional(),
      preset: z.string().optional(),
      disable_tools: z.array(z.string()).optional(),
      parent_agent_id: z.string().optional(),
      cwd: z.string().optional(),
      allowed_write_paths: z.array(z.string()).optional(),
      model: z.string().optional(),
      skills: z.array(z.string()).optional(),
      max_tokens: limit.optional(),
      max_turns: limit.optional(),
      max_seconds: limit.optional(),
      max_children: limit.optional(),
      max_cost: z.number().min(0).max(MOST).optional(),
      initial_message: z.string().optional(),
      wait_for_initial_response: z.boolean().optional(),
    }),
    result: created,
    isWaiting: (params) => (params as AgentRequest).wait_for_initial_response === true,
    run: createAgent,
  }),
  globalMethod({
    name: 'destroy_agent',
    summary: 'Ends an agent with its descendants: turns stop, questions close, tokens of it end. Histories stay.',
    params: z.strictObject({ agent_id: z.string() }),
    result: z.strictObject({ success: z.boolean(), agent_id: z.string() }),
    async run({ agent_id }, { access }) {
      await access.destroy(agent_id)
      return { success: true, agent_id }
    },
  }),
  globalMethod({
    name: 'list_agents',
    summary: 'The living agents that the caller reaches, oldest first; with `ended` those that ended.',
    params: z.strictObject({ ended: z.boolean().optional() }),
    result: z.strictObject({ agents: z.array(agentListing) }),
    run: async ({ ended = false }, context) => ({
      agents: await listingsOf(await context.access.list({ isLiving: !ended }), context),
    }),
  }),
  globalMethod({
    name: 'shutdown_server',
    summary: 'Ends the server: what runs has time to end, then it is cancelled. Agents are saved.',
    params: NONE,
    result: z.strictObject({ success: z.literal(true), message: z.string() }),
    async run(_params, { server }) {
      server.shutdown()
      return { success: true, message: 'Server shutting down' }
    },
  }),
]

async function createAgent(params: AgentRequest, context: MethodContext): Promise<CreatedAgent> {
  const { access, server } = context
  const request = await toRequest(params, context)
  const { agent, clipped } = await access.create(request).catch(noParent)
  const { id } = agent
  const made = { agent_id: id, url: `/agent/${id}`, ...(clipped.length > 0 && { clipped: [...clipped] }) }
  if (params.initial_message === undefined) return made
  const requestId = newRequestId()
  const sent = access.send(id, params.initial_message, { requestId })
  if (params.wait_for_initial_response !== true) {
    server.background(sent)
    return { ...made, initial_request_id: requestId, initial_status: 'queued' }
  }
  try {
    const { cancelled, content = '' } = messageResult(await sent)
    const status = cancelled ? 'cancelled' : 'completed'
    return { ...made, initial_request_id: requestId, initial_status: status, response: content }
  } catch {
    // The agent exists: its caller must learn that, and reads why in its history.
    return { ...made, initial_request_id: requestId, initial_status: 'failed' }
  }
}

/** A parent that is not there is a wrong param. Source: contracts §1.3. */
function noParent(error: unknown): never {
  throw isNexusError(error) && error.code === 'AGENT_NOT_FOUND' ? new RpcError(RPC.wrongParam(error)) : error
}

/** Permission data of the request only narrows: what the parent may is looked up in the pool. */
async function toRequest(params: AgentRequest, { caller, served }: MethodContext): Promise<CreateRequest> {
  const { agent_id, parent_agent_id, system_prompt, model, skills } = params
  checkCeiling(params.preset ?? PRESET, served)
  const permissions = await narrowing(params, served)
  return {
    id: agent_id ?? newRequestId().slice(0, 2 * ID_BYTES),
    preset: params.preset ?? PRESET,
    permissions,
    // The parent of an agent's child is the agent, whatever it says.
    parent: caller.type === 'key' ? parent_agent_id : undefined,
    instructions: system_prompt,
    model,
    skills,
    budget: {
      maxTokens: params.max_tokens,
      maxTurns: params.max_turns,
      maxTimeMs: params.max_seconds === undefined ? undefined : params.max_seconds * 1_000,
      maxChildren: params.max_children,
      maxCost: params.max_cost,
    },
  }
}

/** Source: decisions, "over RPC at most server.ceiling". */
function checkCeiling(preset: string, { config, workspace }: Served): void {
  const { presets } = config.permissions
  const most = config.server.ceiling
  const context = { presets, workspace }
  const base = presetPermissions(preset, context)
  const ceiling = presetPermissions(most, context)
  const valid = ['yolo', 'trusted', 'sandboxed', 'worker', ...Object.keys(presets)].filter((name) => {
    const each = presetPermissions(name, context)
    return !('problem' in each) && !('problem' in ceiling) && !exceeds(ceiling, { base: each }, new Map())
  })
  if ('problem' in base || 'problem' in ceiling || !valid.includes(preset))
    throw new RpcError(RPC.invalidPreset(preset, valid))
}

async function narrowing(params: AgentRequest, { workspace }: Served): Promise<PermissionDelta> {
  const { cwd, disable_tools, allowed_write_paths } = params
  const inside = async (path: string): Promise<string> => withinWorkspace(path, workspace)
  const writable = allowed_write_paths && (await Promise.all(allowed_write_paths.map(inside)))
  return {
    disableTools: disable_tools,
    allowedPaths: cwd === undefined ? undefined : [await inside(cwd)],
    toolOverrides: writable && Object.fromEntries(WRITERS.map((tool) => [tool, { allowedPaths: writable }])),
  }
}

/** Links are followed: a directory of the workspace that leads elsewhere is elsewhere. */
async function withinWorkspace(path: string, workspace: string): Promise<string> {
  const asked = resolve(workspace, path)
  const [real, root] = await Promise.all([realpath(asked).catch(() => asked), realpath(workspace)])
  const from = relative(root, real)
  if (path.includes('\0') || from === '..' || from.startsWith(`..${sep}`))
    throw new NexusError('PATH_OUTSIDE', `${shown(path)} is outside of the workspace of the server.`)
  return real
}
