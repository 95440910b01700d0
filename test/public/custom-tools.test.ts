/** P5 and P6 as a user of the package meets them: a module in nexus.yaml becomes a tool, and whose it is can be asked. */
import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { toModelText } from '../../src/public/index.ts'
import { openLocal, readEnvironment } from '../../src/public/local.ts'

test('P5, P6: a module of nexus.yaml gives a tool, a broken one is named, and the registry says whose a tool is', async (t) => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'nexus-module-')))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  const [home, cwd] = [join(root, 'home'), join(root, 'work')]
  for (const directory of [home, cwd]) mkdirSync(directory)
  writeFileSync(join(home, 'nexus.yaml'), 'skills:\n  custom: [./weather.ts, ./wether.ts]\n')
  writeFileSync(
    join(home, 'weather.ts'),
    `export default class Weather {
      getTools(): object[] {
        return [{ name: 'weather', description: 'The weather.', parameters: { type: 'object', properties: { city: { type: 'string' } } } }]
      }
      execute(tool: string, { city }: { city?: string }): object {
        if (city === undefined) return { success: false, output: '', error: 'no city' }
        return { success: true, output: \`Sun in \${city}\`, error: null }
      }
    }`,
  )
  const environment = readEnvironment({ HOME: root, NEXUS_HOME: home, PATH: '' })
  const local = await openLocal({ cwd, environment, sandbox: 'none', record: 'memory' })
  t.after(() => local.close())
  const agent = local.runtime.openAgent()
  const call = async (args: { city?: string }) => (await agent.call({ tool: 'weather', arguments: args })).outcome
  assert.equal(toModelText(await call({ city: 'Bonn' })), 'Sun in Bonn')
  const failed = await call({})
  assert.deepEqual([failed.type, /no city/.test(toModelText(failed))], ['failed', true])
  assert.deepEqual(
    [agent.registry.ownerOf('weather'), agent.registry.ownerOf('load_skill')],
    [join(home, 'weather.ts'), 'nexus'],
  )
  const [broken, ...others] = local.diagnostics
  assert.equal(others.length, 0)
  assert.deepEqual([broken?.code, broken?.path, broken?.line], ['custom-tool-broken', join(home, 'nexus.yaml'), 2])
  assert.match(broken?.message ?? '', /wether\.ts are left out: the file does not exist/)
})
