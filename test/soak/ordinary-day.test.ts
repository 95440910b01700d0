/** A day of work with real tools, from npm and PyPI at exact versions, in a workspace that has their packages: all of it works without `keep`. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { createSandbox } from '../../src/machine/sandbox/index.ts'
import { localOptions, openPlace } from '../machine/sandbox/local-rig.ts'
import { whySkipped } from '../machine/sandbox/required.ts'
import { ROOT } from '../source-tree.ts'

const NPM = ['vite@8.3.8', 'eslint@10.15.0']
const PYTHON = 'pytest==8.4.2'
const INSTALLED = join(ROOT, 'node_modules/.cache', `ordinary-day-${[...NPM, PYTHON].join('-')}`)
const GO = '/usr/bin/go'

const FILES = {
  'index.html': '<script type="module" src="/src/main.js"></script>\n',
  'vite.config.js': 'export default { build: { minify: false } }\n',
  'eslint.config.js': 'export default [{ rules: { "no-undef": "error" } }]\n',
  'src/main.js': 'export const answer = 6 * 7\n',
  'test_day.py': 'def test_day():\n    assert 6 * 7 == 42\n',
  'go.mod': 'module day\n',
  'main.go': 'package main\n\nfunc answer() int { return 6 * 7 }\n\nfunc main() { println(answer()) }\n',
  'main_test.go':
    'package main\n\nimport "testing"\n\nfunc TestAnswer(t *testing.T) {\n\tif answer() != 42 {\n\t\tt.Fatal()\n\t}\n}\n',
}

/** Where they are installed once; or why they cannot be. */
function whyNoTools(): string | undefined {
  if (existsSync(join(INSTALLED, 'done'))) return undefined
  mkdirSync(INSTALLED, { recursive: true })
  writeFileSync(join(INSTALLED, 'package.json'), '{ "name": "day", "private": true, "type": "module" }\n')
  const steps: readonly (readonly string[])[] = [
    ['npm', 'install', '--no-audit', '--no-fund', '--save-exact', ...NPM],
    ['/usr/bin/python3', '-m', 'pip', 'install', '--quiet', '--target', 'python', PYTHON],
  ]
  for (const [program = '', ...args] of steps) {
    const { status, stderr, error } = spawnSync(program, args, { cwd: INSTALLED, encoding: 'utf8' })
    if (status !== 0) return `${args.join(' ')} failed: ${error?.message ?? stderr.slice(-300)}`
  }
  writeFileSync(join(INSTALLED, 'done'), '')
  return undefined
}

test('vite build, eslint --cache, pytest, go build, go test and npm install come back without keep, twice', async (context) => {
  const why = whySkipped() ?? whyNoTools()
  if (why !== undefined) return context.skip(why)
  const { stateDir, workspace } = openPlace(context)
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(workspace, path)), { recursive: true })
    writeFileSync(join(workspace, path), text)
  }
  for (const name of ['package.json', 'package-lock.json', 'node_modules'])
    cpSync(join(INSTALLED, name), join(workspace, name), { recursive: true, verbatimSymlinks: true })
  const site = join(workspace, '.venv/lib/python3/site-packages')
  cpSync(join(INSTALLED, 'python'), site, { recursive: true })
  writeFileSync(join(workspace, '.venv/pyvenv.cfg'), 'home = /usr/bin\n')
  mkdirSync(join(workspace, 'lib'))
  writeFileSync(join(workspace, 'lib/package.json'), '{ "name": "lib", "version": "1.0.0" }\n')
  const packages = readdirSync(join(workspace, 'node_modules')).length
  const steps = [
    'node_modules/.bin/vite build --logLevel warn',
    'node_modules/.bin/eslint --cache src',
    'node_modules/.bin/eslint --cache --cache-location node_modules/.cache/eslint/ src',
    'PYTHONPATH=.venv/lib/python3/site-packages python3 -m pytest -q',
    ...(existsSync(GO) ? ['go build -o built . && ./built', 'go test .'] : []),
    'npm install --offline --no-audit --no-fund --no-save --silent --install-links ./lib',
    'ls node_modules/lib/package.json .eslintcache node_modules/.cache/eslint',
  ]
  for (const round of [1, 2]) {
    // A process of its own each time.
    const sandbox = await createSandbox(localOptions({ stateDir }))
    for (const command of steps) {
      const { exitCode, stdout, stderr, changes } = await sandbox.run({ command, workspace, timeoutMs: 120_000 })
      assert.deepEqual([exitCode, changes?.held ?? []], [0, []], `${round}: ${command}: ${stdout}${stderr}`)
    }
    await sandbox.close()
    assert.match(readFileSync(join(workspace, 'dist/index.html'), 'utf8'), /assets/)
  }
  assert.equal(readdirSync(join(workspace, 'node_modules')).length, packages)
  for (const name of ['.eslintcache', '.pytest_cache', '__pycache__', 'node_modules/lib', '.cache', 'go'])
    assert.ok(!existsSync(join(workspace, name)), name)
})
