import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { removeAppeared } from '../../../src/machine/sandbox/guard/clean.ts'
import { enterDirectly } from '../../../src/machine/sandbox/local/workspace.ts'
import { IS_ROOT, openDirectory, openRig, type Rig } from './local-rig.ts'
import { whySkipped } from './required.ts'

const skip =
  (whySkipped() ?? false) || (IS_ROOT && 'root works in a mirror; normal-user.test.ts runs this file as a normal user')

const direct = (context: TestContext): Promise<Rig> => openRig(context, { workspaceMode: 'direct' })

test('a workspace that is too large to be looked at is refused, and the look afterwards goes further than the one before', async (context) => {
  const workspace = openDirectory()
  context.after(() => rmSync(workspace, { recursive: true, force: true }))
  mkdirSync(join(workspace, 'zz'))
  for (let index = 0; index < 300; index++) writeFileSync(join(workspace, 'zz', String(index)), '')
  await assert.rejects(enterDirectly(workspace, { maxEntries: 200 }), {
    code: 'LIMIT_EXCEEDED',
    fix: /smaller directory/,
  })
  const { guard } = await enterDirectly(workspace, { maxEntries: 400 })
  assert.ok(guard)
  for (let index = 0; index < 300; index++) writeFileSync(join(workspace, 'zz', `more${index}`), '')
  mkdirSync(join(workspace, 'zz/.vscode'))
  assert.deepEqual(await removeAppeared(guard), [
    'zz/.vscode: removed. Commands may not create it. Create it outside the sandbox.',
  ])
})

test('a look that could not see everything removes what stands at the top, and says so', async (context) => {
  const workspace = openDirectory()
  context.after(() => rmSync(workspace, { recursive: true, force: true }))
  for (const name of Array.from({ length: 60 }, (_, index) => `a${index}`)) writeFileSync(join(workspace, name), '')
  mkdirSync(join(workspace, '.git/hooks'), { recursive: true })
  for (const name of ['nexus.yaml', '.mcp.json', '.git/config', 'kept.vscode'])
    writeFileSync(join(workspace, name), 'x')
  writeFileSync(join(workspace, '.envrc'), 'own')
  const before = {
    ...{ workspace, mode: 0o755, found: ['.envrc'], closed: [] },
    ...{ repositories: [], links: [], places: { paths: [], writable: [] } },
  }
  const notes = await removeAppeared(before, { maxEntries: 10 })
  assert.deepEqual(readdirSync(join(workspace, '.git')), [])
  assert.deepEqual(
    [existsSync(join(workspace, 'nexus.yaml')), existsSync(join(workspace, '.mcp.json'))],
    [false, false],
  )
  assert.equal(readFileSync(join(workspace, '.envrc'), 'utf8'), 'own')
  assert.match(notes.at(-1) ?? '', /^ATTENTION: /)
})

test(
  'a command that closes the workspace, or what holds a protected place, does not keep it',
  { skip },
  async (context) => {
    const { run, workspace } = await direct(context)
    await run(
      'mkdir -p a/.claude b/.claude; echo x | tee nexus.yaml a/.claude/x b/.claude/x; chmod 500 a; chmod 444 b; chmod 000 .',
    )
    assert.equal(statSync(workspace).mode & 0o700, 0o700)
    assert.deepEqual(readdirSync(workspace).sort(), ['a', 'b'])
    assert.deepEqual([readdirSync(join(workspace, 'a')), readdirSync(join(workspace, 'b'))], [[], []])
  },
)

test(
  'a protected place that is too deep to be removed at once has at least lost its name',
  { skip },
  async (context) => {
    const { run, workspace } = await direct(context)
    const { notes } = await run(
      `mkdir .claude; echo x > .claude/settings.json; cd .claude; node -e "for (let i = 0; i < 600; i++) { require('fs').mkdirSync('d'); process.chdir('d') }"`,
      { timeoutMs: 60_000 },
    )
    assert.equal(existsSync(join(workspace, '.claude')), false)
    assert.match(notes.join('\n'), /^\.claude: (?:moved|removed)/m)
  },
)
