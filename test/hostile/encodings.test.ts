/** Names that are not UTF-8 hide nothing and lose nothing. As root in a mirror; as a normal user in layers and in a mirror. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { IS_ROOT, openRig } from '../machine/sandbox/local-rig.ts'
import { whySkipped } from '../machine/sandbox/required.ts'

const skip = whySkipped() ?? false
const raw = (directory: string, name: string): Buffer =>
  Buffer.concat([Buffer.from(`${directory}/`), Buffer.from(name, 'latin1')])

for (const workspaceMode of IS_ROOT ? (['auto'] as const) : (['auto', 'mirror'] as const)) {
  test(`names that are not UTF-8 come in and go back, mode ${workspaceMode}`, { skip }, async (context) => {
    const { workspace, run } = await openRig(context, { workspaceMode })
    mkdirSync(raw(workspace, 'd\xff'))
    writeFileSync(raw(workspace, 'd\xff/in\xfe'), 'in')
    const { stdout, notes } = await run(
      String.raw`cat $'d\xff/in\xfe'; echo out > $'d\xff/out\xfd'; rm $'d\xff/in\xfe'`,
    )
    assert.deepEqual([stdout, notes], ['in', []])
    assert.equal(readFileSync(raw(workspace, 'd\xff/out\xfd'), 'utf8'), 'out\n')
    assert.throws(() => readFileSync(raw(workspace, 'd\xff/in\xfe')), /ENOENT/)
  })

  test(`protected places below them are taken back, mode ${workspaceMode}`, { skip }, async (context) => {
    const { workspace, run } = await openRig(context, { workspaceMode })
    const { notes } = await run(
      String.raw`mkdir -p $'\xff/.vscode' $'\xff\xfe/b'; echo x | tee $'\xff/.vscode/tasks.json' $'\xff\xfe/.envrc' $'\xff\xfe/b/nexus.yaml'; git init -q $'\xff/r' 2> /dev/null || mkdir -p $'\xff/r/.git/hooks'; echo x > $'\xff/r/.git/hooks/pre-commit'`,
    )
    for (const name of ['.vscode', '.envrc', 'nexus.yaml', '/r'])
      assert.ok(
        notes.some((note) => note.includes(name)),
        `${name}: ${notes.join('\n')}`,
      )
    const left = execFileSync(
      'find',
      ['.', '-name', '.vscode', '-o', '-name', '.envrc', '-o', '-name', 'nexus.yaml', '-o', '-name', 'hooks'],
      {
        cwd: workspace,
        encoding: 'utf8',
      },
    )
    assert.equal(left, '')
  })
}
