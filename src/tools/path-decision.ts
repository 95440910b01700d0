/** path-decision: whether a call would be refused for the path in its arguments. It asks the functions of the tools. Nothing is read, changed or locked. */
import {
  type CallLimits,
  type Failed,
  type JsonObject,
  type Outcome,
  type Services,
  succeeded,
} from '../kernel/index.ts'
import { checkRequest } from '../machine/sandbox/index.ts'
import { commandPlace } from './builtin/command-request.ts'
import { toFailure } from './failure.ts'
import { isFileTool, lookAtPath, pathUse } from './file-access/at-path.ts'

export interface PathCall {
  readonly tool: string
  readonly arguments: JsonObject
  readonly limits: CallLimits
}

export interface PathDecision {
  /** `ask`: a person would be asked, since a command's change would be held. */
  readonly type: 'allow' | 'ask' | 'deny'
  readonly text: string
}

/** The decision of the limits on paths about a call; undefined when its arguments name no path. A path that does not exist may be allowed. */
export async function decidePath(services: Services, call: PathCall): Promise<PathDecision | undefined> {
  const seen = await lookAtCall(services, call)
  if (seen?.type !== 'failed') return seen && { type: 'allow', text: seen.text }
  const { message, fix } = seen
  if (!isRefused(seen)) return undefined
  return {
    type: seen.data?.['held'] === undefined ? 'deny' : 'ask',
    text: fix === undefined ? message : `${message.replace(/\.?$/, '.')} ${fix}`,
  }
}

/** The failure of a call whose path is refused, so that no person is asked about it. */
export async function pathFailure(services: Services, call: PathCall): Promise<Failed | undefined> {
  const seen = await lookAtCall(services, call)
  return seen?.type === 'failed' && isRefused(seen) && seen.data?.['held'] === undefined ? seen : undefined
}

/** The change of a file tool that would be held if a command made it. */
export interface HeldChange {
  /** The outermost place that decided. */
  readonly place: string
  /** Completes "held, because …". */
  readonly reason: string
}

/** Undefined for a change that a command could make, and for a call that changes no file. */
export async function heldChange(services: Services, call: PathCall): Promise<HeldChange | undefined> {
  const seen = isFileTool(call.tool) ? await lookAtCall(services, call) : undefined
  const held = seen?.type === 'failed' ? seen.data?.['held'] : undefined
  return held as HeldChange | undefined
}

function isRefused({ code }: Failed): boolean {
  return code === 'ACCESS_DENIED' || code === 'PERMISSION_DENIED'
}

async function lookAtCall(
  services: Services,
  { tool, arguments: args, limits }: PathCall,
): Promise<Outcome | undefined> {
  if (tool === 'run_command') return commandStart(services, args, limits)
  if (!isFileTool(tool) || typeof args['path'] !== 'string') return undefined
  return lookAtPath(services, pathUse(tool, args, { limits, signal: new AbortController().signal }))
}

/** Where a command would start: by its tool, then by the sandbox. */
function commandStart(services: Services, args: JsonObject, limits: CallLimits): Outcome {
  const place = commandPlace(services, args, limits)
  if (place.type === 'failed') return place
  try {
    const { workspace, cwd } = checkRequest({ ...place, command: 'true' })
    return succeeded(cwd === '' ? workspace : `${workspace}/${cwd}`)
  } catch (error) {
    return toFailure(error, 'run_command')
  }
}
