import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createTurnDisplay, formatTrace } from '../../../../src/apps/cli/show/turn.ts'
import type { Terminal } from '../../../../src/apps/cli/terminal.ts'
import { failed, type LedgerEntry, type Outcome, succeeded } from '../../../../src/kernel/index.ts'

const plain = (_style: string, text: string): string => text
const TERMINAL = {
  paint: plain,
  paintNote: plain,
  columns: 120,
  noteColumns: 120,
  isWatched: false,
  isDumb: false,
} as unknown as Terminal

const ran = (exitCode: number, notes: readonly string[] = []): Outcome =>
  succeeded(`Exit code: ${exitCode}`, { exit_code: exitCode, ...(notes.length > 0 && { notes: [...notes] }) })

/** A display, and what it said on stderr. */
function display() {
  const notes: string[] = []
  const onEvent = createTurnDisplay(TERMINAL, { say: () => undefined, note: (text) => notes.push(text) })
  const result = (outcome: Outcome): string => {
    onEvent({ type: 'tool-result', callId: 'c', tool: 'run_command', outcome, durationMs: 5 })
    return notes.join('\n')
  }
  const output = (text: string): void => onEvent({ type: 'tool-output', callId: 'c', stream: 'stdout', text })
  return { notes, result, output }
}

test('a command that ended with another exit code than 0 is a ✗, one that went well a ✓', () => {
  assert.match(display().result(ran(127)), /✗ exit code 127 5 ms/)
  assert.match(display().result(ran(0)), /✓ exit code 0 5 ms/)
  const cut: Outcome = { type: 'partial', text: '', data: { exit_code: 1, truncated: true } }
  assert.match(display().result(cut), /✗ exit code 1, output cut/)
})

test('the signal that ended a command has its name', () => {
  assert.match(display().result(ran(139)), /✗ exit code 139 \(SIGSEGV\) 5 ms/)
})

test('output and notes name the files of a skill where the person has them', () => {
  const lines: string[] = []
  const showPaths = (text: string): string => text.replaceAll('/copies/greet', './skills/greet')
  const onEvent = createTurnDisplay(TERMINAL, { say: () => undefined, note: (line) => lines.push(line), showPaths })
  onEvent({ type: 'tool-output', callId: 'c', stream: 'stderr', text: 'at /copies/gre' })
  onEvent({ type: 'tool-output', callId: 'c', stream: 'stderr', text: 'et/a.py\n' })
  const outcome = ran(1, ['no /copies/greet/b.py'])
  onEvent({ type: 'tool-result', callId: 'c', tool: 'run_command', outcome, durationMs: 5 })
  assert.deepEqual(lines, ['  │ at ./skills/greet/a.py', '  ✗ exit code 1 5 ms', '    note: no ./skills/greet/b.py'])
})

test('the trace of a turn marks it too, and counts the notes', () => {
  const call = { id: 'c', projectId: 'p', agentId: 'a', origin: 'model', tool: 'run_command', arguments: {} } as const
  const entry: LedgerEntry = {
    ...{
      call,
      decision: { type: 'allow', rule: 'full', chain: [], limits: {} },
      state: 'done',
      openedAt: 0,
      closedAt: 5,
    },
    outcome: ran(1, ['one', 'two']),
  }
  assert.match(formatTrace([entry], TERMINAL), /✗ exit code 1, 2 notes/)
})

test('notes of a command are shown whole, one a line', () => {
  const long = `The command could not reach a.b: the sandbox has no network. ${'word '.repeat(40)}Do this next.`
  assert.match(
    display().result(ran(6, [long, 'Another.'])),
    /\n {4}note: The command .* Do this next\.\n {4}note: Another\.$/,
  )
})

test('a failure is shown whole, with its fix', () => {
  const message = `Skill 'pdf' not found. ${'Available skills: '.repeat(12)}END`
  const text = display().result(failed('NOT_FOUND', message, { fix: 'It is held: missing binary: gh.' }))
  assert.match(text, /✗ NOT_FOUND: Skill 'pdf' not found\. .*END 5 ms\n {4}fix: It is held: missing binary: gh\.$/)
})

test('the live output of a flood is cut, and says how many lines are missing', () => {
  const shown = display()
  for (let part = 0; part < 100; part++) shown.output('y\n'.repeat(1000))
  const text = shown.result(ran(0))
  assert.ok(text.split('\n').length < 210, `${text.split('\n').length} lines`)
  assert.match(text, /… 99800 more lines are not shown here\./)
  const wide = display()
  wide.output('x'.repeat(500_000))
  assert.ok(wide.result(ran(0)).length < 30_000)
})

test('ordinary live output is shown as it is', () => {
  const shown = display()
  shown.output('one\ntw')
  shown.output('o\nthree')
  assert.match(shown.result(ran(0)), /│ one\n {2}│ two\n {2}│ three\n/)
  assert.doesNotMatch(shown.notes.join('\n'), /not shown/)
})

test('a denial is shown once, in the turn and in the trace', () => {
  const { notes } = (() => {
    const lines: string[] = []
    const onEvent = createTurnDisplay(TERMINAL, { say: () => undefined, note: (text) => lines.push(text) })
    const decision = { type: 'deny', rule: 'deny exec', reason: 'not for you', chain: [], limits: {} } as const
    onEvent({ type: 'tool-decision', callId: 'c', decision })
    const outcome = { type: 'failed', code: 'PERMISSION_DENIED', message: 'not for you' } as const
    onEvent({ type: 'tool-result', callId: 'c', tool: 'run_command', outcome, durationMs: 0 })
    return { notes: lines.join('\n') }
  })()
  assert.equal(notes.split('not for you').length, 2)
  const call = { id: 'c', projectId: 'p', agentId: 'a', origin: 'model', tool: 'run_command', arguments: {} } as const
  const entry: LedgerEntry = {
    ...{ call, decision: { type: 'deny', rule: 'deny exec', reason: 'not for you', chain: [], limits: {} } },
    ...{ state: 'denied', openedAt: 0, closedAt: 0 },
    outcome: { type: 'failed', code: 'PERMISSION_DENIED', message: 'not for you' },
  }
  const trace = formatTrace([entry], TERMINAL)
  assert.equal(trace.split('not for you').length, 2)
  assert.match(trace, /denied \(deny exec\): not for you {2}✗ not run/)
})

test('a message that waits for its session does not claim to wait for the model', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  const written: string[] = []
  const watched = { isWatched: true, noteColumns: 80, paintNote: (_style: string, text: string) => text }
  const terminal = { ...TERMINAL, ...watched, writeNote: (text: string) => written.push(text) } as unknown as Terminal
  const onEvent = createTurnDisplay(terminal, { say: () => undefined, note: () => undefined })
  onEvent({ type: 'notice', code: 'turn-waits', text: 'Session s1 has another turn.' })
  t.mock.timers.tick(1_000)
  assert.match(written.join(''), /waiting for the session/)
  onEvent({ type: 'turn-start', turnId: 't', sessionId: 's1', model: 'm' })
  t.mock.timers.tick(1_000)
  assert.match(written.at(-1) ?? '', /waiting for the model/)
})
