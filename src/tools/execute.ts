import {
  type Clock,
  DEFAULTS,
  failed,
  type FailureCode,
  NexusError,
  type Outcome,
  systemClock,
  type Tool,
  type ToolContext,
} from '../kernel/index.ts'
import { checkArguments } from './arguments.ts'
import { boundOutcome, type OutcomeLimits, plainOutcome } from './bound.ts'
import { toOutcome } from './edge/shapes.ts'
import { toFailure } from './failure.ts'
import { CALLS, failedBy } from './messages.ts'

export interface ExecuteOptions {
  /** Time limit in milliseconds for a tool that names none; 0 = none. Default 30,000. */
  readonly timeoutMs?: number | undefined
  /** How long a tool may take to end after its signal has aborted, in milliseconds. Default 5,000. */
  readonly graceMs?: number
  readonly limits?: OutcomeLimits
  readonly clock?: Clock
  /** A tool of Nexus: its schema is taken as it is. Default false. */
  readonly isShipped?: boolean
}

/** Runs a tool and bounds its outcome; see `runTool`. */
// Four parameters (what, with what, for whom, within which limits) read better than one bundle.
// oxlint-disable-next-line max-params
export async function executeTool(
  tool: Tool,
  given: unknown,
  context: ToolContext,
  options: ExecuteOptions = {},
): Promise<Outcome> {
  const { outcome, notes } = await runTool(tool, given, context, options)
  return withNotes(await boundOutcome(outcome, options.limits), notes)
}

/** An outcome of any length, and notes for the model that stay whole when it is cut. */
export interface ToolRun {
  readonly outcome: Outcome
  readonly notes: readonly string[]
  /** Set when the tool's parameters are no JSON Schema, so that it can never be called. */
  readonly schemaProblem?: string
}

/**
 * The one place where a tool runs: checked arguments, a time limit, an answer whatever happens. Never throws:
 * what goes wrong is a failed outcome without a stack. A tool that ignores its signal is left behind.
 */
// oxlint-disable-next-line max-params
export async function runTool(
  tool: Tool,
  given: unknown,
  context: ToolContext,
  options: ExecuteOptions = {},
): Promise<ToolRun> {
  const checked = await checkArguments(tool, given, options.isShipped === true)
  if (checked.type === 'invalid') return { outcome: failedBy('INVALID_PARAM', checked.message), notes: [] }
  if (checked.type === 'broken')
    return { outcome: failedBy('INTERNAL_ERROR', checked.message), notes: [], schemaProblem: checked.reason }
  const run = (signal: AbortSignal): Promise<Outcome> => outcomeOf(tool, checked.arguments, { ...context, signal })
  return { outcome: plainOutcome(await runWatched(run, { tool, context, options })), notes: checked.notes }
}

/** The failure of a call whose arguments do not fit, so that no person is asked about it; undefined when they fit. */
export async function argumentsFailure(tool: Tool, given: unknown, isShipped: boolean): Promise<Outcome | undefined> {
  const checked = await checkArguments(tool, given, isShipped)
  return checked.type === 'invalid' ? failedBy('INVALID_PARAM', checked.message) : undefined
}

/** A command in the sandbox gets SIGTERM, 2 s, then the kill: that and some room. */
const DEFAULT_GRACE_MS = 5_000

/** Never rejects. */
async function outcomeOf(tool: Tool, args: Parameters<Tool['execute']>[0], context: ToolContext): Promise<Outcome> {
  try {
    return toOutcome(tool.name, await tool.execute(args, context))
  } catch (error) {
    return toFailure(error, tool.name)
  }
}

interface Watched {
  readonly tool: Tool
  readonly context: ToolContext
  readonly options: ExecuteOptions
}

async function runWatched(run: (signal: AbortSignal) => Promise<Outcome>, watched: Watched): Promise<Outcome> {
  const { tool, context, options } = watched
  const { graceMs = DEFAULT_GRACE_MS, clock = systemClock } = options
  const timeoutMs = timeLimit(tool, context, options)
  if (context.signal.aborted) return failedBy('CANCELLED', CALLS.cancelledBefore(tool.name))
  const stop = new AbortController()
  const settled = new AbortController()
  const aborted = Promise.withResolvers<'aborted'>()
  const onAbort = (): void => aborted.resolve('aborted')
  try {
    // Listening begins before the tool does: it may be what leads to the abort.
    context.signal.addEventListener('abort', onAbort)
    const limits: Promise<'aborted' | 'elapsed'>[] = [aborted.promise]
    if (timeoutMs > 0) limits.push(after(clock, timeoutMs, settled.signal))
    const work = run(stop.signal)
    const ended = await Promise.race([work, ...limits])
    if (typeof ended === 'object') return ended
    const stopped = ended === 'aborted' ? cancelled(tool) : timedOut(tool, timeoutMs)
    stop.abort(new NexusError(stopped.code, stopped.message))
    const late = await Promise.race([work, after(clock, graceMs, settled.signal)])
    return typeof late === 'object' ? toEnded(stopped, late) : failedBy(stopped.code, CALLS.notStopped(stopped.message))
  } finally {
    context.signal.removeEventListener('abort', onAbort)
    settled.abort(ENDED)
  }
}

/** The tool's own limit, else the runtime's; a shorter one of the decision goes before both. 0 = none. */
function timeLimit({ options: own }: Tool, { limits }: ToolContext, { timeoutMs: usual }: ExecuteOptions): number {
  const timeoutMs = own?.timeoutMs ?? usual ?? DEFAULTS.toolTimeoutMs
  const most = limits?.timeoutMs ?? 0
  return most > 0 && (timeoutMs === 0 || most < timeoutMs) ? most : timeoutMs
}

/** A reason of its own spares each call a DOMException with its stack. */
const ENDED = 'the call has ended'

interface Stopped {
  readonly code: Extract<FailureCode, 'CANCELLED' | 'TIMEOUT'>
  readonly message: string
}

function cancelled(tool: Tool): Stopped {
  return { code: 'CANCELLED', ...CALLS.cancelled(tool.name) }
}

function timedOut(tool: Tool, timeoutMs: number): Stopped {
  return { code: 'TIMEOUT', ...CALLS.timedOut(tool.name, timeoutMs / 1000) }
}

/** The data of a stopped tool: a result that was reached is kept, as is what a failure knows. */
function toEnded(stopped: Stopped, late: Outcome): Outcome {
  if (late.type !== 'failed' || late.code === stopped.code) return late
  const { type: _type, code: _code, message: _message, fix: _fix, error: _error, ...known } = late
  return failed(stopped.code, stopped.message, known)
}

function after(clock: Clock, ms: number, settled: AbortSignal): Promise<'elapsed'> {
  return new Promise((resolve) => {
    clock.sleep(ms, settled).then(
      () => resolve('elapsed'),
      () => {
        // The call has ended, so nothing waits for this any more.
      },
    )
  })
}

/** The outcome with notes for the model. */
export function withNotes(outcome: Outcome, notes: readonly string[]): Outcome {
  if (notes.length === 0) return outcome
  if (outcome.type === 'failed') {
    const known = Array.isArray(outcome.data?.['notes']) ? outcome.data['notes'] : []
    return { ...outcome, data: { ...outcome.data, notes: [...known, ...notes] } }
  }
  const lines = notes.map((note) => `Note: ${note}`).join('\n')
  return { ...outcome, text: `${outcome.text}\n\n${lines}`.trimStart() }
}
