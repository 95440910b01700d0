/** A process that installs, updates, rolls back and removes one skill for ever, also for other programs, until it is killed. */
import './no-links.ts'
import { join } from 'node:path'
import {
  applyPlan,
  lockOf,
  openSource,
  planOf,
  removeSkills,
  rollBack,
  scopeOf,
} from '../../../src/skills/install/index.ts'

const [root = ''] = process.argv.slice(2)
const nexusHome = join(root, 'home')
const scope = scopeOf({
  kind: 'workspace',
  directory: join(root, 'workspace'),
  nexusHome,
  stateDirectory: join(nexusHome, 'state'),
})
const alone = <T>(_: string, work: () => Promise<T>): Promise<T> => work()
const options = { alone, now: new Date(0), clients: ['claude-code', 'codex'] }

async function install(version: string): Promise<void> {
  await using source = await openSource({ type: 'directory', path: join(root, version) }, { scope, home: root })
  const packages = await source.read(source.candidates)
  const wanted = packages.map((each) => ({ package: each, source: source.lockedAs(each) }))
  await applyPlan(scope, await planOf(scope, wanted, lockOf(scope)), options)
}

await install('one')
process.stdout.write('begin\n')
for (;;) {
  await install('two')
  await rollBack(scope, 'a', options)
  await removeSkills(scope, ['a'], options)
  await install('one')
}
