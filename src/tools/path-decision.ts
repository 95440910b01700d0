/** path-decision: whether a call would be refused for the path in its arguments. It asks the functions of the tools. Nothing is read, changed or locked. */
import { type CallLimits, isNexusError, type JsonObject, type Services } from '../kernel/index.ts'
import { checkRequest } from '../machine/sandbox/index.ts'
import { commandPlace } from './builtin/command-paths.ts'
import { isFileTool, lookAtPath, pathUse } from './file-access/at-path.ts'

/** A call that may use a path. */
export interface PathCall {
  readonly tool: string
  readonly arguments: JsonObject
  readonly limits: CallLimits
}

/** The decision about a path: why it is refused, or where it is. */
export interface PathDecision {
  readonly type: 'allow' | 'deny'
  readonly text: string
}

/** The decision of the limits on paths about a call; undefined when its arguments name no path. A path that does not exist may be allowed. */
export async function decidePath(services: Services, call: PathCall): Promise<PathDecision | undefined> {
  const { tool, arguments: args, limits } = call
  if (tool === 'run_command') return commandStart(services, args, limits)
  if (!isFileTool(tool) || typeof args['path'] !== 'string') return undefined
  const seen = await lookAtPath(services, pathUse(tool, args, { limits, signal: new AbortController().signal }))
  if (seen.type !== 'failed') return { type: 'allow', text: seen.text }
  const isRefused = seen.code === 'ACCESS_DENIED' || seen.code === 'PERMISSION_DENIED'
  return isRefused ? { type: 'deny', text: sentences(seen) } : undefined
}

/** Where a command would start: by its tool, then by the sandbox. */
function commandStart(services: Services, args: JsonObject, limits: CallLimits): PathDecision | undefined {
  const place = commandPlace(services, args, limits)
  if (place.type === 'failed') return { type: 'deny', text: sentences(place) }
  try {
    const { workspace, cwd } = checkRequest({ ...place, command: 'true' })
    return { type: 'allow', text: cwd === '' ? workspace : `${workspace}/${cwd}` }
  } catch (error) {
    if (!isNexusError(error)) throw error
    return error.code === 'PATH_OUTSIDE' ? { type: 'deny', text: sentences(error) } : undefined
  }
}

function sentences({ message, fix }: { readonly message: string; readonly fix?: string | undefined }): string {
  return fix === undefined ? message : `${message.replace(/\.?$/, '.')} ${fix}`
}
