import assert from 'node:assert/strict'
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { isDue, type KeptSource, keptScope, lockOf, refreshKept } from '../../../src/skills/install/index.ts'
import { skillText, startGitServer } from './git-server.ts'

test('a source at a commit stays there and is asked for once; a source at a tag takes the commit that the tag names now', async (t) => {
  const server = await startGitServer(t)
  const upstream = server.upstream('team').write('a/SKILL.md', skillText('a'))
  const first = upstream.publish()
  upstream.publish('refs/tags/v1')
  const tagged = upstream.onServer('rev-parse', 'v1')
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'nexus-kept-')))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  const refresh = async (at: Pick<KeptSource, 'tag' | 'commit'>) => {
    const source = { url: server.url('team'), refreshMs: 0, follow: false, ...at }
    const scope = keptScope(source, { nexusHome: join(root, 'home'), stateDirectory: root })
    const access = { scope, home: root, workspace: root, hasSettings: () => false }
    const alone = <T>(_: string, work: () => Promise<T>): Promise<T> => work()
    const status = await refreshKept(scope, source, { access, alone, now: new Date(0) })
    const locked = lockOf(scope).get('skills/a')?.source
    return { ...status, locked, isDue: isDue(source, status, new Date(1)) }
  }
  const atCommit = await refresh({ commit: first })
  assert.ok(atCommit.locked?.type === 'git' && atCommit.locked.follows === 'commit' && !atCommit.isDue)
  const atTag = await refresh({ tag: 'v1' })
  assert.ok(atTag.locked?.type === 'git' && atTag.locked.ref === 'v1' && atTag.commit === tagged && atTag.isDue)
  upstream.write('a/SKILL.md', skillText('a', 'license: MIT\n')).publish('refs/tags/v1')
  assert.equal((await refresh({ tag: 'v1' })).commit, upstream.onServer('rev-parse', 'v1'))
  assert.equal((await refresh({ commit: first })).commit, first)
})
