import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import type { CallLimits, Outcome } from '../../src/kernel/index.ts'
import { createScriptedSandbox } from '../../src/testing/scripted-sandbox.ts'
import { decidePath, executeTool, createRunCommandTool, SANDBOX } from '../../src/tools/index.ts'
import { unconfined } from './command-rig.ts'
import { answerOf, openFiles } from './file-rig.ts'
import { contextOf } from './rig.ts'

const PATHS = [
  ...['site/a.txt', 'site/new/b.txt', 'site', 'other/c.txt', '.', './site/../other', '../x', '/etc/passwd', '~/x'],
  ...['site/link', 'site/way/x', 'site/a.txt/b', 'site/no/d.txt', 'site/a.bin', '.git/hooks/pre-commit', '.npmrc'],
  ...['C:\\x', 'file:///etc/passwd', 'private/key', '/proc/self/environ', '/dev/null', 'a\0b'],
]
const REFUSING = new Set<string | undefined>(['ask', 'deny'])
const REFUSED = new Set(['ACCESS_DENIED', 'PERMISSION_DENIED'])

/** No test changes a file of this machine. */
function isOfMachine(tool: string, path: string, { writePaths }: CallLimits): boolean {
  return /^(?:edit|write)_file$/.test(tool) && writePaths?.[0] === '/' && /^[/~]|^\.\.\//.test(path)
}

/** Nobody agreed, so that what is asked about is refused too. */
const wasRefused = (outcome: Outcome): boolean => outcome.type === 'failed' && REFUSED.has(outcome.code)

test('a path is decided as the tool itself decides when it runs, for each file tool, path and limit', async (t) => {
  const files = {
    'site/a.txt': 'a',
    'site/a.bin': 'b',
    'site/link': '->/etc/passwd',
    'site/way': '->..',
    'other/c.txt': 'c',
  }
  const asOpened = { 'site/no/d.txt': 'd', '.git/HEAD': 'ref: refs/heads/main', 'private/key': 'k' }
  const settings = { allowedExtensions: ['txt', ''], privatePaths: [] as string[] }
  const rig = openFiles(t, { ...files, ...asOpened }, { settings })
  const at = (path: string): string => join(rig.workspace, path)
  settings.privatePaths.push(at('private'))
  const allLimits: readonly CallLimits[] = [
    {},
    { readPaths: [at('site')], writePaths: [at('site')], blockedPaths: [at('site/no')] },
    { readPaths: ['/'], writePaths: [] },
    { readPaths: ['/'], writePaths: ['/'] },
    { readPaths: [] },
  ]
  const seen = { allow: 0, ask: 0, deny: 0 }
  const more = { content: 'x', old_string: 'a', new_string: 'b' }
  for (const limits of allLimits) {
    for (const path of PATHS) {
      // The tools that write come last, so that each call meets the files as they were decided about.
      for (const tool of ['read_file', 'list_directory', 'edit_file', 'write_file'] as const) {
        if (isOfMachine(tool, path, limits)) continue
        const decision = await decidePath(rig.services, { tool, arguments: { path, ...more }, limits })
        const outcome = await rig.call(tool, { path, ...(tool === 'list_directory' ? {} : more) }, limits)
        const isRefused = wasRefused(outcome)
        const about = `${tool} ${path} ${JSON.stringify(limits)}: ${JSON.stringify(outcome)}`
        // Nobody agreed, so that what is asked about is refused.
        assert.equal(REFUSING.has(decision?.type), isRefused, about)
        const words = answerOf(outcome).replace(/^\w+: |\.$/g, '')
        if (isRefused) assert.ok(decision && decision.text.includes(words), about)
        if (decision) seen[decision.type] += 1
      }
    }
  }
  assert.ok(seen.allow > 40 && seen.ask > 5 && seen.deny > 40, JSON.stringify(seen))
})

test('a directory of a command is decided as the tool and its sandbox decide', async (t) => {
  const rig = openFiles(t, { 'site/a.txt': 'a', 'site/out': '->/tmp', 'other/c.txt': 'c' })
  mkdirSync(join(rig.workspace, 'site/no'))
  const at = (path: string): string => join(rig.workspace, path)
  const sandbox = createScriptedSandbox({})
  const narrow = { readPaths: [at('site')], writePaths: [at('site')], blockedPaths: [at('site/no')] }
  for (const kind of [sandbox.kind, 'none'] as const) {
    rig.services.register(SANDBOX, kind === 'none' ? unconfined(sandbox) : sandbox)
    const tool = createRunCommandTool(rig.services)
    for (const limits of [{}, narrow, { readPaths: [] }] as readonly CallLimits[]) {
      for (const cwd of ['.', 'site', 'site/no', 'other', '..', '/etc', 'site/out', 'absent']) {
        const args = { command: 'true', cwd }
        const decision = await decidePath(rig.services, { tool: 'run_command', arguments: args, limits })
        const outcome = await executeTool(tool, args, { ...contextOf({ services: rig.services }), limits })
        const isRefused = outcome.type === 'failed' && (REFUSED.has(outcome.code) || outcome.error === 'PATH_OUTSIDE')
        assert.equal(decision?.type === 'deny', isRefused, `${kind} ${cwd}: ${JSON.stringify(outcome)}`)
      }
    }
  }
})

test('a call without a path, and a path that is missing, are not decided by their path', async (t) => {
  const { services } = openFiles(t)
  const decide = (tool: string, args: Record<string, string>) =>
    decidePath(services, { tool, arguments: args, limits: {} })
  assert.equal(await decide('read_file', {}), undefined)
  assert.equal(await decide('web_fetch', { path: '../x' }), undefined)
  assert.equal((await decide('read_file', { path: 'absent.txt' }))?.type, 'allow')
})
