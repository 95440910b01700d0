/** What a model, a command beside it, or a racing process tries with the file tools. As root, and as a normal user in layers and in a mirror. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, truncateSync, writeFileSync,
} from 'node:fs' // oxfmt-ignore
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { CallLimits, JsonObject, Outcome } from '../../src/kernel/index.ts'
import { createSandbox, type Sandbox } from '../../src/machine/sandbox/index.ts'
import {
  createRegistry,
  createServices,
  executeTool,
  FILES,
  registerBuiltins,
  SANDBOX,
  WORKSPACE,
} from '../../src/tools/index.ts'
import { noExchange } from '../machine/files/rig.ts'
import { IS_ROOT, localOptions, openDirectory } from '../machine/sandbox/local-rig.ts'
import { whySkipped } from '../machine/sandbox/required.ts'

const skip = whySkipped() ?? false
const SECRET = 'OUTSIDE-SECRET'

interface Desk {
  readonly above: string
  readonly workspace: string
  call(tool: string, args: JsonObject, limits?: CallLimits): Promise<Outcome>
  run(command: string): Promise<string>
}

/** A workspace, and secrets around it. */
function desk(sandbox?: Sandbox): Desk {
  const above = openDirectory('nexus-hostile-')
  const workspace = join(above, 'work')
  for (const name of ['work/sub', 'work-evil', 'outside']) mkdirSync(join(above, name), { recursive: true })
  for (const name of ['outside.txt', 'work-evil/secret', 'outside/secret']) writeFileSync(join(above, name), SECRET)
  writeFileSync(join(workspace, 'sub/in.txt'), 'inside')
  const services = createServices()
  services.register(WORKSPACE, workspace)
  services.register(FILES, { home: join(above, 'home') })
  if (sandbox) services.register(SANDBOX, sandbox)
  const registry = createRegistry(services)
  registerBuiltins(registry)
  const call: Desk['call'] = (name, args, limits = {}) => {
    const tool = registry.get(name)
    assert.ok(tool)
    const { signal } = new AbortController()
    return executeTool(tool, args, { callId: 'c', projectId: 'default', agentId: 'main', services, signal, limits })
  }
  const run = async (command: string): Promise<string> => {
    const { data } = await call('run_command', { command })
    return String(data?.['stdout'] ?? '') + String(data?.['notes'] ?? '')
  }
  return { above, workspace, call, run }
}

const OUTSIDE = [
  '../outside.txt', 'sub/../../outside.txt', '../work-evil/secret', '/etc/passwd', '~/../outside.txt', '~root/.profile', '~',
  'C:\\Windows\\win.ini', 'c:/boot.ini', '\\\\server\\share', 'file:///etc/passwd', 'FILE://x', 'a\0b', '/proc/self/environ', '/dev/zero',
  '/dev/stdin', 'link/secret', 'link-file', 'chain/secret', 'dangling', 'loop', 'sub/up/outside.txt', 'x'.repeat(5_000),
] // oxfmt-ignore

describe('outside of the workspace', () => {
  const { above, workspace, call } = desk()
  after(() => rmSync(above, { recursive: true, force: true }))
  before(() => {
    for (const [name, target] of [
      ['link', '../outside'],
      ['link-file', '../outside.txt'],
      ['chain', 'link'],
      ['dangling', '../outside/new'],
      ['loop', 'loop'],
      ['sub/up', '../..'],
    ] as const)
      symlinkSync(target, join(workspace, name))
  })

  for (const path of OUTSIDE)
    it(`${JSON.stringify(path.slice(0, 40))} is neither read, listed, written nor edited`, async () => {
      for (const [tool, args] of [
        ['read_file', {}],
        ['list_directory', {}],
        ['write_file', { content: 'evil' }],
        ['write_file', { content: 'evil', append: true }],
        ['edit_file', { old_string: 'SECRET', new_string: 'evil' }],
      ] as const) {
        const outcome = await call(tool, { path, ...args })
        assert.equal(outcome.type === 'failed' && outcome.code, 'ACCESS_DENIED', `${tool}: ${JSON.stringify(outcome)}`)
        assert.doesNotMatch(JSON.stringify(outcome), new RegExp(SECRET))
      }
      assert.deepEqual(readdirSync(join(above, 'outside')), ['secret'])
      for (const name of ['outside.txt', 'work-evil/secret', 'outside/secret'])
        assert.equal(readFileSync(join(above, name), 'utf8'), SECRET)
    })

  for (const path of ['..%2foutside.txt', '..%c0%af..', '．．/outside.txt', '%2e%2e/outside.txt', '..;/outside.txt'])
    it(`${path} is the name of a file here, and decoded by nobody`, async () => {
      const outcome = await call('read_file', { path })
      assert.equal(outcome.type === 'failed' && outcome.code, 'NOT_FOUND')
    })

  for (const path of ['sub/../sub/in.txt', './sub//in.txt', 'sub\\in.txt', join(workspace, 'sub/in.txt')])
    it(`${path.replace(above, '…')} is inside`, async () => {
      const outcome = await call('read_file', { path })
      assert.equal(outcome.type === 'success' && outcome.text, 'inside')
    })

  for (const path of ['a..b', 'a...', '-rf', '#x', 'a b', 'ü'])
    it(`${path} is written and read as any other name`, async () => {
      assert.equal((await call('write_file', { path, content: 'inside' })).type, 'success')
      const outcome = await call('read_file', { path })
      assert.equal(outcome.type === 'success' && outcome.text, 'inside')
    })

  it('names with line breaks, escapes and hidden characters are one visible line each', async () => {
    mkdirSync(join(workspace, 'names'))
    for (const name of ['one\ntwo (file, size 1)', '\u001b[31mred', 'a\u202eb'])
      writeFileSync(join(workspace, 'names', name), '')
    const outcome = await call('list_directory', { path: 'names' })
    assert.equal(
      outcome.type === 'success' && outcome.text,
      'red (file, size 0)\nab (file, size 0)\none two (file, size 1) (file, size 0)',
    )
  })

  it('a file of 5 GiB is refused before it is read', async () => {
    writeFileSync(join(workspace, 'big'), '')
    truncateSync(join(workspace, 'big'), 5 * 2 ** 30)
    const outcome = await call('read_file', { path: 'big' })
    assert.equal(outcome.type === 'failed' && outcome.code, 'EXECUTION_ERROR')
    rmSync(join(workspace, 'big'))
  })

  it(
    'a file that nobody may read is a failure with its name',
    { skip: IS_ROOT && 'root reads everything' },
    async () => {
      writeFileSync(join(workspace, 'closed'), 'x', { mode: 0 })
      const outcome = await call('read_file', { path: 'closed' })
      assert.equal(
        outcome.type === 'failed' && `${outcome.code}: ${outcome.message}`,
        'PERMISSION_DENIED: Permission denied: closed',
      )
    },
  )
})

/** Each round is a race of six calls, four of which make a change set. */
const ROUNDS = process.env['TEST_ROUNDS'] === undefined ? 40 : 300

describe('while a directory and a link change places', { skip: noExchange }, () => {
  it('no tool reads, lists or changes what is outside', async (t) => {
    const { above, workspace, call } = desk()
    writeFileSync(join(above, 'outside/in.txt'), SECRET)
    symlinkSync('../outside', join(workspace, 'evil'))
    const script = `import ctypes, sys
exchange = ctypes.CDLL(None).renameat2
print("ready" if exchange(-100, sys.argv[1].encode(), -100, sys.argv[2].encode(), 2) == 0 else "unable", flush=True)
while True: exchange(-100, sys.argv[1].encode(), -100, sys.argv[2].encode(), 2)`
    const racer = spawn('python3', ['-c', script, join(workspace, 'sub'), join(workspace, 'evil')])
    t.after(async () => {
      racer.kill('SIGKILL')
      await once(racer, 'exit')
      rmSync(above, { recursive: true, force: true })
    })
    const [said] = (await once(racer.stdout, 'data')) as [Buffer]
    if (!said.toString().startsWith('ready')) return t.skip('this file system cannot exchange names')
    let met = 0
    for (let round = 0; round < ROUNDS; round++)
      for (const [tool, args] of [
        ['read_file', { path: 'sub/in.txt' }],
        ['list_directory', { path: 'sub' }],
        ['write_file', { path: 'sub/in.txt', content: 'inside' }],
        ['write_file', { path: 'sub/a/b', content: 'inside' }],
        ['write_file', { path: 'sub/log', content: 'inside', append: true }],
        ['edit_file', { path: 'sub/in.txt', old_string: 'inside', new_string: 'inside too', replace_all: true }],
      ] as const) {
        const outcome = await call(tool, args)
        assert.doesNotMatch(JSON.stringify(outcome), new RegExp(`${SECRET}|"secret"`))
        if (outcome.type === 'success') met++
      }
    t.diagnostic(`${met} of ${ROUNDS * 6} calls met the directory`)
    assert.deepEqual(readdirSync(join(above, 'outside')).toSorted(), ['in.txt', 'secret'])
    for (const name of ['in.txt', 'secret']) assert.equal(readFileSync(join(above, 'outside', name), 'utf8'), SECRET)
  })
})

for (const mode of IS_ROOT ? (['auto'] as const) : (['auto', 'mirror'] as const))
  describe(`beside commands, workspace mode ${mode}`, { skip }, () => {
    let sandbox: Sandbox
    before(async () => {
      sandbox = await createSandbox(localOptions({ workspaceMode: mode }))
    })
    after(() => sandbox.close())
    const open = (t: { after: (work: () => void) => void }): Desk => {
      const made = desk(sandbox)
      t.after(() => rmSync(made.above, { recursive: true, force: true }))
      return made
    }

    it('tools and commands see what the other did', async (t) => {
      const { call, run } = open(t)
      await call('write_file', { path: 'new/a.txt', content: 'one\n' })
      assert.equal(await run('cat new/a.txt; echo two >> new/a.txt; echo three > b.txt; rm sub/in.txt'), 'one\n')
      const read = async (path: string) => (await call('read_file', { path })).data?.['content']
      assert.deepEqual(
        [await read('new/a.txt'), await read('b.txt'), await read('sub/in.txt')],
        ['one\ntwo\n', 'three\n', undefined],
      )
      await call('edit_file', { path: 'new/a.txt', old_string: 'two', new_string: 'zwei' })
      assert.equal(await run('cat new/a.txt; ls'), 'one\nzwei\nb.txt\nnew\nsub\n')
      const { data } = await call('list_directory', {})
      assert.deepEqual(
        (data?.['items'] as JsonObject[]).map(({ name }) => name),
        ['b.txt', 'new', 'sub'],
      )
    })

    it('what both change at the same time is lost on neither side', async (t) => {
      const { call, run, workspace } = open(t)
      const running = run('for i in 1 2 3 4 5; do sleep 0.1; done; echo c > command.txt')
      for (let index = 0; index < 10; index++) await call('write_file', { path: `tool-${index}.txt`, content: 't' })
      await running
      assert.equal(readFileSync(join(workspace, 'command.txt'), 'utf8'), 'c\n')
      assert.equal((await run('ls tool-*.txt | wc -l')).trim(), '10')
    })

    it('a link that a command made leads no tool anywhere', async (t) => {
      const { call, run, above } = open(t)
      await run(`ln -s ../outside.txt a; ln -s ${above}/outside b; ln -s sub c`)
      for (const path of ['a', 'b/secret', 'c/in.txt']) {
        assert.equal((await call('read_file', { path })).type, 'failed', path)
        await call('write_file', { path, content: 'evil' })
      }
      assert.equal(readFileSync(join(above, 'work/sub/in.txt'), 'utf8'), 'inside')
      assert.equal(readFileSync(join(above, 'outside.txt'), 'utf8'), SECRET)
      assert.equal(readFileSync(join(above, 'outside/secret'), 'utf8'), SECRET)
    })

    for (const path of [
      '.git/hooks/pre-commit',
      '.git/config',
      'sub/.git',
      '.claude/settings.json',
      '.CLAUDE/settings.json',
      '.vscode/tasks.json',
      '.bashrc',
      'sub/.envrc',
      '.npmrc',
      'nexus.yaml',
      '.nexus/agents/a.yaml',
      'skills/a/SKILL.md',
      '.husky/pre-commit',
      'a.code-workspace',
      '.hg/hgrc',
    ])
      // oxfmt-ignore
      it(`${path} is written by neither a tool nor a command`, async (t) => {
        const { call, run, workspace } = open(t)
        await run(`mkdir -p "$(dirname ${path})"; echo evil > ${path}`)
        const outcome = await call('write_file', { path, content: 'evil' })
        assert.match(outcome.type === 'failed' ? outcome.message : '', /may not change|would hold the change/)
        assert.equal(existsSync(join(workspace, path)), false)
      })

    it('limits on paths are the same for both', async (t) => {
      const { call, workspace } = open(t)
      for (const name of ['a', 'b', 'c']) {
        mkdirSync(join(workspace, name))
        writeFileSync(join(workspace, name, 'x'), name)
      }
      const at = (name: string): string => join(workspace, name)
      const limits = { readPaths: [at('a'), at('b')], writePaths: [at('a')], blockedPaths: [at('a/x')] }
      const { data } = await call(
        'run_command',
        { command: 'cat a/x b/x c/x; echo n > a/n; echo n > b/n; true' },
        limits,
      )
      assert.equal(data?.['stdout'], 'b')
      const types = async (tool: string, args: JsonObject, paths: string[]) =>
        Promise.all(paths.map(async (path) => (await call(tool, { path, ...args }, limits)).type))
      assert.deepEqual(await types('read_file', {}, ['a/x', 'b/x', 'c/x', 'a/n']), [
        'failed',
        'success',
        'failed',
        'success',
      ])
      assert.deepEqual(await types('write_file', { content: '' }, ['a/x', 'b/n', 'c/n', 'a/m']), [
        'failed',
        'failed',
        'failed',
        'success',
      ])
      assert.ok(!existsSync(at('b/n')) && statSync(at('a/n')).isFile())
    })
  })
