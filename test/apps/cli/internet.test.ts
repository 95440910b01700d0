/** What commands reach, through the real command and real host names: stand-in servers in a second network namespace. As root and as a normal user. */
import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, chmodSync, constants, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { IS_ROOT, openDirectory } from '../../machine/sandbox/local-rig.ts'
import { whySkipped } from '../../machine/sandbox/required.ts'
import { ROOT } from '../../source-tree.ts'
import { whyNoTerminal } from './terminal.ts'

const USER = '65534'
const HERE = join(ROOT, 'test/apps/cli/internet')
const NAMES = 'api.lab-weather.com api.github.com github.com pypi.org files.pythonhosted.org registry.npmjs.org'

const canUnshare =
  spawnSync('unshare', [IS_ROOT ? '-nm' : '-Urnm', 'ip', 'link', 'show'], { stdio: 'ignore' }).status === 0
const skip = whySkipped() ?? ((!canUnshare && 'no network namespaces, or no ip (iproute2)') || whyNoTerminal())

/** A directory with what the servers need. */
function lab(): string {
  const directory = openDirectory('nexus-lab-')
  const alternative = ['evil.lab-other.com', ...NAMES.split(' ')].map((name) => `DNS:${name}`).join(',')
  execFileSync(
    'openssl',
    [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:prime256v1',
      '-nodes',
      '-days',
      '2',
      '-keyout',
      'key.pem',
      '-out',
      'cert.pem',
      '-subj',
      '/CN=lab',
      '-addext',
      `subjectAltName=${alternative}`,
    ],
    { cwd: directory, stdio: 'ignore' },
  )
  writeFileSync(
    join(directory, 'hosts'),
    `127.0.0.1 localhost ${hostname()}\n140.82.112.77 ${NAMES}\n140.82.112.78 evil.lab-other.com\n10.77.0.2 inside.lab-weather.com\n`,
  )
  writeFileSync(join(directory, 'requests'), '')
  makePackages(join(directory, 'packages'))
  mkdirSync(join(directory, 'tmp'))
  chmodSync(join(directory, 'tmp'), 0o1777)
  return directory
}

/** A wheel for pip and an archive for npm, as their registries give them. */
function makePackages(directory: string): void {
  mkdirSync(join(directory, 'package'), { recursive: true })
  const shout = { name: 'shout', version: '1.0.0', type: 'module', exports: './index.mjs' }
  writeFileSync(join(directory, 'package/package.json'), JSON.stringify(shout))
  writeFileSync(join(directory, 'package/index.mjs'), 'export const shout = (text) => text.toUpperCase()\n')
  execFileSync('tar', ['-czf', 'shout-1.0.0.tgz', 'package'], { cwd: directory })
  const wheel = `
import zipfile
about = 'greeting-1.0.dist-info/'
with zipfile.ZipFile('greeting-1.0-py3-none-any.whl', 'w') as made:
    made.writestr('greeting.py', 'def greet(): return "hello from a package"\\n')
    made.writestr(about + 'METADATA', 'Metadata-Version: 2.1\\nName: greeting\\nVersion: 1.0\\n')
    made.writestr(about + 'WHEEL', 'Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
    made.writestr(about + 'RECORD', 'greeting.py,,\\n' + ''.join(about + name + ',,\\n' for name in ('METADATA', 'WHEEL', 'RECORD')))
`
  execFileSync('/usr/bin/python3', ['-c', wheel], { cwd: directory })
}

/** False where another user cannot read the checkout. */
function isOpen(path: string): boolean {
  for (let at = path; ; at = dirname(at)) {
    if ((statSync(at).mode & 0o001) === 0) return false
    if (at === '/') return true
  }
}

async function runInside(t: TestContext, as: readonly string[]): Promise<void> {
  const directory = lab()
  accessSync(join(HERE, 'internet.sh'), constants.R_OK)
  const inner = [...as, process.execPath, '--test', '--test-reporter=tap', join(HERE, 'inside.ts')]
  const child = spawn(
    'unshare',
    [IS_ROOT ? '-nm' : '-Urnm', 'bash', join(HERE, 'internet.sh'), process.execPath, directory, ...inner],
    {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...{
          PATH: `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin`,
          HOME: directory,
          TMPDIR: join(directory, 'tmp'),
        },
        ...{ NEXUS_LAB: directory, NEXUS_LAB_ALL: process.env['NEXUS_LAB_ALL'] ?? '' },
      },
    },
  )
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk.toString()))
  const [code] = (await once(child, 'close')) as [number]
  rmSync(directory, { recursive: true, force: true, maxRetries: 5 })
  assert.equal(code, 0, said.slice(-20_000))
  assert.match(said, /# fail 0\n# cancelled 0/)
  t.diagnostic((said.match(/^# (?:pass|skipped) \d+|^ok .* # SKIP.*/gm) ?? []).join('; '))
}

test('commands reach the hosts that are allowed, and no others', { skip }, async (t) => {
  await runInside(
    t,
    IS_ROOT ? [] : ['unshare', '-U', `--map-user=${process.getuid?.()}`, `--map-group=${process.getgid?.()}`],
  )
})

const skipUser =
  skip || (!IS_ROOT && 'we are a normal user already') || (!isOpen(ROOT) && 'a normal user cannot read the checkout')
test('so they do as a normal user', { skip: skipUser }, async (t) => {
  await runInside(t, ['setpriv', `--reuid=${USER}`, `--regid=${USER}`, '--clear-groups'])
})
