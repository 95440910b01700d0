/** Files that a module of the user runs on the host, besides its own: what it imports, and what would be imported instead. */
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import test from 'node:test'
import { readEnvironment } from '../../src/config/index.ts'
import { openLocal } from '../../src/local/index.ts'
import { whySkipped } from '../machine/sandbox/required.ts'

const skip = whySkipped() ?? false

const FILES = {
  'nexus.yaml': 'skills: { custom: [./a/tools/mine.mjs] }\n',
  'a/tools/mine.mjs': `import { lib } from '../../lib/lib.mjs'
import { top } from '../../top.mjs'
import { dependency } from 'dependency'
import { mapped } from '#mapped'
import { createRequire } from 'node:module'
const { bare } = createRequire(import.meta.url)('../../bare')
const parameters = { type: 'object', properties: {} }
const text = [lib, top, dependency, mapped, bare].join()
export default { name: 'mine', description: 'Reports.', parameters, execute: () => text }
`,
  'lib/lib.mjs': "export const lib = 'lib'\n",
  'top.mjs': "export const top = 'top'\n",
  'bare.json': '{ "bare": "bare" }\n',
  'mapped.mjs': "export const mapped = 'mapped'\n",
  'package.json': '{ "imports": { "#mapped": "./mapped.mjs" } }\n',
  'node_modules/dependency/package.json': '{ "name": "dependency", "exports": "./index.mjs" }\n',
  'node_modules/dependency/index.mjs': "export const dependency = 'dependency'\n",
  'src/own.mjs': 'export {}\n',
} as const

/** Not there before: each would be found first at the next start. */
const PLANTED = ['a/node_modules/dependency/index.js', 'bare', 'bare.js', 'lib/more.mjs', 'a/tools/node_modules/x/y.js']
const USED = Object.keys(FILES).filter((path) => path !== 'nexus.yaml' && path !== 'src/own.mjs')

test(
  'commands and file tools change nothing that a module of the user imports, and plant nothing in its way',
  { skip },
  async (t) => {
    const directory = realpathSync(mkdtempSync(join(tmpdir(), 'nexus-modules-')))
    t.after(() => rmSync(directory, { recursive: true, force: true }))
    const cwd = join(directory, 'work')
    for (const [path, text] of Object.entries(FILES)) {
      mkdirSync(dirname(join(cwd, path)), { recursive: true })
      writeFileSync(join(cwd, path), text)
    }
    const environment = readEnvironment({ HOME: directory, PATH: process.env['PATH'] })
    const nexus = await openLocal({ cwd, environment, trusted: true, record: 'memory' })
    t.after(() => nexus.close())
    const agent = nexus.runtime.openAgent()
    const { outcome } = await agent.call({ tool: 'mine', arguments: {} })
    assert.equal(outcome.type === 'success' && outcome.text, 'lib,top,dependency,mapped,bare')

    for (const path of [...USED, ...PLANTED]) {
      const command = `mkdir -p ${dirname(path)}; echo evil > ${path}; echo '// more' >> src/own.mjs`
      await agent.call({ tool: 'run_command', arguments: { command } })
      await agent.call({ tool: 'write_file', arguments: { path, content: 'evil' } })
      const before = (FILES as Readonly<Record<string, string>>)[path]
      if (before === undefined) assert.equal(existsSync(join(cwd, path)), false, `${path} was planted`)
      else assert.equal(readFileSync(join(cwd, path), 'utf8'), before)
    }
    assert.match(readFileSync(join(cwd, 'src/own.mjs'), 'utf8'), /more/)
  },
)
