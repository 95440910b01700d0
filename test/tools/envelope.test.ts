import assert from 'node:assert/strict'
import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import {
  failed,
  type FailureCode,
  type JsonObject,
  type Outcome,
  type Services,
  succeeded,
} from '../../src/kernel/index.ts'
import { createScriptedSandbox } from '../../src/testing/scripted-sandbox.ts'
import {
  createRegistry,
  createServices,
  executeTool,
  registerBuiltins,
  type Registry,
  toEnvelope,
  validateEnvelope,
} from '../../src/tools/index.ts'
import { contextOf, loaderOver, SKILLS } from './rig.ts'

const OPTIONS = { timeMs: 12.4, cwd: '.', input: { a: 1 }, root: '/project' }
const PARTIAL: Outcome = {
  type: 'partial',
  text: 'Cut: only the first line.',
  data: { truncated: true, truncation: {}, content: 'a' },
}

const errorsOf = (value: unknown): string[] =>
  validateEnvelope(value)
    .filter(({ severity }) => severity === 'error')
    .map(({ rule }) => rule)

describe('toEnvelope', () => {
  it('gives exactly the keys of the protocol for a success', () => {
    const outcome = succeeded('Read the file.', { content: 'x' }, { stats: { bytes: 1 }, path: '/project/docs/a.md' })
    assert.deepEqual(toEnvelope(outcome, OPTIONS), {
      status: 'success',
      data: { content: 'x' },
      text: 'Read the file.',
      stats: { bytes: 1, time_ms: 12 },
      context: { cwd: '.', params_input: { a: 1 }, path_resolved: 'docs/a.md' },
    })
  })

  it('gives an error with its code, an object as data and the next step', () => {
    const { status, data, text, error } = toEnvelope(failed('NOT_FOUND', `Skill 'x' not found.`), OPTIONS)
    assert.deepEqual([status, data, error], ['error', {}, { code: 'NOT_FOUND', message: `Skill 'x' not found.` }])
    assert.match(text, /^Skill 'x' not found\. Check the name/)
  })

  it('counts at least a millisecond, whatever a tool claims', () => {
    const outcome = succeeded('Quick and done.', {}, { stats: { time_ms: -5 } })
    assert.equal(toEnvelope(outcome, { ...OPTIONS, timeMs: 0 }).stats.time_ms, 1)
  })

  it('writes no absolute path', () => {
    const outcome = succeeded('Read the file.', {}, { path: '/elsewhere/a.md' })
    assert.equal(toEnvelope(outcome, { timeMs: 1, cwd: '.', input: {} }).context.path_resolved, undefined)
    assert.equal(toEnvelope(outcome, OPTIONS).context.path_resolved, '../elsewhere/a.md')
  })
})

describe('validateEnvelope', () => {
  const sound = toEnvelope(succeeded('It is done now.', { content: 'x' }), OPTIONS)
  const partial = toEnvelope(PARTIAL, OPTIONS)
  const error = toEnvelope(failed('TIMEOUT', 'Took too long.'), OPTIONS)

  it('finds nothing in a sound envelope of each status', () => {
    for (const envelope of [sound, partial, error]) assert.deepEqual(validateEnvelope(envelope), [])
  })

  it('bears an error that is null on input', () => {
    assert.deepEqual(validateEnvelope({ ...sound, error: null }), [])
  })

  const broken: readonly (readonly [string, unknown])[] = [
    ['V001', null],
    ['V001', []],
    ['V002', { ...sound, extra: 1 }],
    ['V003', { ...sound, status: 'ok' }],
    ['V004', { ...sound, data: null }],
    ['V005', { ...sound, text: 7 }],
    ['V006', { ...sound, error: { code: 'TIMEOUT', message: 'x' } }],
    ['V007', { ...error, error: 'too long' }],
    ['V008', { ...error, error: { code: 'BAD_LUCK', message: 'Took too long.' } }],
    ['V009', { ...sound, stats: {} }],
    ['V009', { ...sound, stats: { time_ms: '5' } }],
    ['V010', { ...sound, stats: { time_ms: 5, more: [] } }],
    ['V011', { ...sound, context: { params_input: {} } }],
    ['V011', { ...sound, context: { cwd: '/root', params_input: {} } }],
    ['V012', { ...sound, context: { cwd: '.' } }],
    ['V012', { ...sound, context: { cwd: '.', params_input: {}, path_resolved: 'C:\\x' } }],
    ['S001', { ...sound, data: { truncated: true, truncation: {} } }],
    ['S002', { ...sound, data: { fallback: 'grep' } }],
    ['S003', { ...sound, data: { failed_items: ['a'] } }],
    ['S004', { ...sound, data: { applied: false } }],
    ['S005', { ...partial, data: {} }],
    ['S006', { ...error, data: { applied: true } }],
    ['S007', { ...sound, stats: { time_ms: 0 } }],
    ['S008', { ...partial, data: { truncated: true } }],
    ['T001', { ...error, text: ' ' }],
    ['T002', { ...sound, text: 'ok' }],
    ['T003', { ...partial, text: 'Here is the file.' }],
    ['T004', { ...error, text: 'Something went wrong.' }],
    ['D001', { ...sound, data: { entries: [{ path: 'a', type: 'socket' }] } }],
    ['D002', { ...sound, data: { paths: ['/abs'] } }],
    ['D003', { ...sound, data: { matches: [{ file: 'a', line: '1', text: 'x' }] } }],
    ['D004', { ...sound, data: { content: 1 } }],
    ['D005', { ...sound, data: { applied: 'yes' } }],
    ['D006', { ...sound, data: { truncated: 'no' } }],
    ['D007', { ...sound, data: { failed_items: 'a' } }],
  ]
  for (const [rule, value] of broken) {
    it(`reports ${rule} for ${JSON.stringify(value).slice(0, 70)}`, () => {
      assert.ok(
        validateEnvelope(value).some((issue) => issue.rule === rule),
        JSON.stringify(validateEnvelope(value)),
      )
    })
  }

  it('knows the data names of the protocol', () => {
    const data = {
      entries: [{ path: 'a', type: 'file' }],
      paths: ['a/b'],
      matches: [{ file: 'a', line: 1, text: 'x' }],
      applied: true,
    }
    assert.deepEqual(validateEnvelope({ ...sound, data }), [])
  })
})

describe('the envelope of every tool that ships', () => {
  let workspace = ''
  let registry: Registry
  let services: Services
  before(async () => {
    workspace = await realpath(await mkdtemp(join(tmpdir(), 'nexus-tools-')))
    services = createServices()
    services.register('loader', await loaderOver())
    services.register('workspace', workspace)
    services.register(
      'sandbox',
      createScriptedSandbox({
        script: ({ command }) => {
          if (command === 'big') return { stdout: 'x\n'.repeat(40_000) }
          if (command === 'killed') return { end: 'killed', exitCode: 137, stdout: 'so far' }
          return command === 'hang' ? { hang: true, stdout: 'so far' } : { exitCode: 1, stderr: 'no' }
        },
      }),
    )
    registry = createRegistry(services)
    registerBuiltins(registry)
  })
  after(() => rm(workspace, { recursive: true, force: true }))

  const calls: readonly (readonly [string, JsonObject, 'success' | 'partial' | 'error'])[] = [
    ['load_skill', { skill_name: 'report' }, 'success'],
    ['load_skill', { skill_name: 'report', unknown: 1 }, 'success'],
    ['load_skill', { skill_name: 'long' }, 'partial'],
    ['load_skill', { skill_name: 'nothing' }, 'error'],
    ['load_skill', {}, 'error'],
    ['read_skill_file', { skill_name: 'report', file_path: 'guide.md' }, 'success'],
    ['read_skill_file', { skill_name: 'report', file_path: 'empty.md' }, 'success'],
    ['read_skill_file', { skill_name: 'report', file_path: 'dot.png' }, 'success'],
    ['read_skill_file', { skill_name: 'report', file_path: 'long.md' }, 'partial'],
    ['read_skill_file', { skill_name: 'report', file_path: 'nothing.md' }, 'error'],
    ['read_skill_file', { skill_name: 'report', file_path: '../greet/SKILL.md' }, 'error'],
    ['Skill', { name: 'greet', args: 'Ada' }, 'success'],
    ['Skill', { name: 'long' }, 'partial'],
    ['Skill', { name: '' }, 'error'],
    ['run_command', { command: 'false' }, 'success'],
    ['run_command', { command: 'big' }, 'partial'],
    ['run_command', { command: 'hang', timeout_sec: 0.01 }, 'error'],
    ['run_command', { command: 'killed' }, 'error'],
    ['run_command', { command: 'rm x' }, 'error'],
  ]
  for (const [name, input, status] of calls) {
    it(`is sound: ${name} ${JSON.stringify(input)} is ${status}`, async () => {
      const tool = registry.get(name)
      assert.ok(tool)
      const outcome = await executeTool(tool, input, contextOf({ services }))
      const envelope = toEnvelope(outcome, { timeMs: 3, cwd: '.', input, root: SKILLS })
      assert.equal(envelope.status, status)
      assert.deepEqual(validateEnvelope(envelope), [])
    })
  }

  it('covers every tool that ships', () => {
    assert.deepEqual([...new Set(calls.map(([name]) => name))].toSorted(), [...registry.names].toSorted())
  })

  it('is sound for every way to fail', () => {
    const codes: readonly FailureCode[] = [
      ...([
        'NOT_FOUND',
        'ACCESS_DENIED',
        'PERMISSION_DENIED',
        'INVALID_PARAM',
        'TIMEOUT',
        'CANCELLED',
        'INTERNAL_ERROR',
      ] as const),
      ...(['EXECUTION_ERROR', 'CONFLICT', 'IS_DIRECTORY', 'BINARY_FILE', 'CIRCUIT_OPEN', 'INTERRUPTED'] as const),
    ]
    for (const code of codes) assert.deepEqual(errorsOf(toEnvelope(failed(code, 'It failed.'), OPTIONS)), [], code)
  })
})
