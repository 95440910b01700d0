/** circuit-breaker: a tool that fails again and again is paused, so that a model does not spend its turn on it. Source: contracts §4.1. */
import type { Clock, Failed, FailureCode, Outcome, Tool } from '../kernel/index.ts'
import { CALLS, failedBy } from './messages.ts'

export interface CircuitBreaker {
  /** Does the work of one call, or refuses it with CIRCUIT_OPEN while the tool is paused. `work` must not reject. */
  run<Ran extends { readonly outcome: Outcome }>(tool: Tool, work: () => Promise<Ran>): Promise<Ran | Refused>
}

export interface Refused {
  readonly outcome: Failed
  readonly notes: readonly string[]
}

/** Consecutive failures that pause a tool, and for how long. */
const MOST_FAILURES = 3
const PAUSE_MS = 300_000

interface Circuit {
  failures: number
  /** Epoch milliseconds at which one call may try again; 0 while the tool is not paused. */
  openUntil: number
  isTrying: boolean
}

/** Its state belongs to the tool: one that is registered again, or of another agent, begins anew. */
export function createCircuitBreaker(clock: Pick<Clock, 'now'>): CircuitBreaker {
  const circuits = new WeakMap<Tool, Circuit>()
  return {
    async run(tool, work) {
      const circuit = circuits.get(tool) ?? { failures: 0, openUntil: 0, isTrying: false }
      circuits.set(tool, circuit)
      const refused = refusal(tool, circuit, clock.now())
      if (refused) return refused
      const isTrial = circuit.openUntil > 0
      circuit.isTrying ||= isTrial
      const ran = await work()
      note(circuit, ran.outcome, clock.now())
      if (isTrial) circuit.isTrying = false
      return ran
    },
  }
}

function refusal(tool: Tool, { failures, openUntil, isTrying }: Circuit, nowMs: number): Refused | undefined {
  if (openUntil === 0 || (nowMs >= openUntil && !isTrying)) return undefined
  const seconds = Math.max(1, Math.ceil((openUntil - nowMs) / 1000))
  return { outcome: failedBy('CIRCUIT_OPEN', CALLS.paused(tool.name, { failures, seconds })), notes: [] }
}

function note(circuit: Circuit, outcome: Outcome, nowMs: number): void {
  const kind = kindOf(outcome)
  if (kind === 'worked') {
    circuit.failures = 0
    circuit.openUntil = 0
  }
  if (kind !== 'broke') return
  circuit.failures += 1
  if (circuit.failures >= MOST_FAILURES) circuit.openUntil = nowMs + PAUSE_MS
}

/** Failures of the tool itself. The others are about what was asked: arguments, denials, things that are not there. */
const BROKE: ReadonlySet<FailureCode> = new Set(['TIMEOUT', 'INTERNAL_ERROR', 'EXECUTION_ERROR'])

/** A failure with data did its work: a command that ran too long, a page that answered with an error. */
function kindOf(outcome: Outcome): 'worked' | 'broke' | 'unknown' {
  if (outcome.type !== 'failed') return 'worked'
  if (!BROKE.has(outcome.code)) return 'unknown'
  return Object.keys(outcome.data ?? {}).length > 0 ? 'worked' : 'broke'
}
