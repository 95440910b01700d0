/** Installs a skill, then a version that does not fit, on a small file system. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { applyPlan, lockOf, openSource, planOf, scopeOf, verifyCopies } from '../../../src/skills/install/index.ts'

const [root = ''] = process.argv.slice(2)
const nexusHome = join(root, 'home')
const directory = join(root, 'workspace')
const scope = scopeOf({ kind: 'workspace', directory, nexusHome, stateDirectory: join(nexusHome, 'state') })

async function install(version: string): Promise<void> {
  await using source = await openSource({ type: 'directory', path: join(root, version) }, { scope, home: root })
  const packages = await source.read(source.candidates)
  const wanted = packages.map((each) => ({ package: each, source: source.lockedAs(each) }))
  await applyPlan(scope, await planOf(scope, wanted, lockOf(scope)), { alone: (_, work) => work(), now: new Date(0) })
}

await install('one')
const code = await install('two').then(
  () => 'installed',
  (error: { code?: string }) => error.code,
)
const text = /license: \w+/.exec(readFileSync(join(directory, 'skills/a/SKILL.md'), 'utf8'))?.[0]
const isWhole = (await verifyCopies(scope)).every(({ drift }) => drift.length === 0)
const others = [...readdirSync(join(directory, 'skills')), ...readdirSync(directory)].filter(
  (name) => !['a', 'skills', 'nexus-skills.lock'].includes(name),
)
process.stdout.write(
  `${code} ${text}, ${isWhole ? 'as the lock has it' : 'not as the lock has it'}, and ${others.join(' ') || 'nothing else'}\n`,
)
