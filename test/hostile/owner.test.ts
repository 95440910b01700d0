/** Root in the files of another account: whoever can write settings would decide what root runs. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { type LoadConfigOptions, loadConfig, readEnvironment } from '../../src/config/index.ts'
import { openLocal } from '../../src/local/index.ts'
import { whySkipped } from '../machine/sandbox/required.ts'

const skip = process.getuid?.() === 0 ? false : 'only root can give files to another account'
const OTHER = 200_123
const ROOT = join(import.meta.dirname, '..', '..')
const SOURCE = join(ROOT, 'src')

interface Place {
  readonly home: string
  readonly workspace: string
  readonly options: LoadConfigOptions
}

/** A home and a workspace of ours with a nexus.yaml. */
function openPlace(t: TestContext): Place {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'nexus-owner-')))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  const [home, workspace] = [join(directory, 'home'), join(directory, 'work')]
  mkdirSync(join(home, '.nexus'), { recursive: true })
  mkdirSync(join(workspace, '.nexus', 'agents'), { recursive: true })
  writeFileSync(join(workspace, 'nexus.yaml'), '{}\n')
  writeFileSync(join(workspace, '.nexus', 'agents', 'main.yaml'), '{}\n')
  writeFileSync(join(directory, 'other.yaml'), '{}\n')
  const environment = readEnvironment({ HOME: home, PATH: process.env['PATH'] })
  return { home, workspace, options: { cwd: workspace, environment } }
}

const refusalOf = (path: string): object => ({ code: 'FOREIGN_OWNER', path })

const FOREIGN = ['work', 'work/.nexus', 'work/nexus.yaml', 'work/.nexus/agents/main.yaml', 'other.yaml', 'home/.nexus']
for (const name of FOREIGN)
  test(`root uses no settings where ${name} belongs to another account, unless asked to`, { skip }, async (t) => {
    const { workspace, options } = openPlace(t)
    const path = join(workspace, '..', name)
    const asked = name === 'other.yaml' ? { ...options, configPath: path } : options
    await loadConfig(asked)
    chownSync(path, OTHER, OTHER)
    await assert.rejects(loadConfig(asked), refusalOf(path))
    assert.equal((await loadConfig({ ...asked, asRoot: true })).workspace.directory, workspace)
  })

test('the owner is that of the file to which a link leads', { skip }, async (t) => {
  const { workspace, options } = openPlace(t)
  const real = join(workspace, 'real.yaml')
  writeFileSync(real, '{}\n')
  chownSync(real, OTHER, OTHER)
  rmSync(join(workspace, 'nexus.yaml'))
  symlinkSync('real.yaml', join(workspace, 'nexus.yaml'))
  await assert.rejects(loadConfig(options), refusalOf(join(workspace, 'nexus.yaml')))
})

test('openLocal refuses it too, and takes asRoot', { skip }, async (t) => {
  const { workspace, options } = openPlace(t)
  chownSync(workspace, OTHER, OTHER)
  await assert.rejects(openLocal({ ...options, record: 'memory' }), { code: 'FOREIGN_OWNER', fix: /asRoot: true/ })
  const local = await openLocal({ ...options, record: 'memory', asRoot: true })
  await local.close()
})

test('the refusal prints both commands: as the owner, and with --as-root before --', { skip }, async (t) => {
  const { home, workspace } = openPlace(t)
  const argv = ['skills', 'run', 'x', '--', 'ls']
  const fixOf = async (variables: Record<string, string>): Promise<string> => {
    const environment = readEnvironment({ HOME: home, ...variables }, { argv })
    const error: unknown = await loadConfig({ cwd: workspace, environment }).then(
      undefined,
      (reason: unknown) => reason,
    )
    return (error as { fix: string }).fix
  }
  const consent = /\nTo let root use these files, run: nexus skills run x --as-root -- ls$/
  // An account that every system has.
  chownSync(workspace, 1, 1)
  const fix = await fixOf({})
  assert.match(
    fix,
    /^Run it as the owner: (?:sudo -H -u \w+ nexus skills run x -- ls|su \w+ -s \/bin\/sh -c 'nexus skills run x -- ls')\n/,
  )
  assert.match(fix, consent)
  const bySudo = await fixOf({ SUDO_UID: '1' })
  assert.match(bySudo, /^Run it without sudo: nexus skills run x -- ls\n/)
  assert.match(bySudo, consent)
  chownSync(workspace, OTHER, OTHER)
  assert.equal(await fixOf({}), 'To let root use these files, run: nexus skills run x --as-root -- ls')
})

test('a normal user works with files of another account as before', { skip }, (t) => {
  const { home, workspace } = openPlace(t)
  rmSync(join(workspace, 'nexus.yaml'))
  rmSync(join(workspace, '.nexus', 'agents'), { recursive: true })
  const code = `
    import { loadConfig, readEnvironment } from '${SOURCE}/config/index.ts'
    process.setgid(${OTHER}); process.setuid(${OTHER})
    const { workspace } = await loadConfig({ cwd: '${workspace}', environment: readEnvironment({ HOME: '${home}' }) })
    console.log(workspace.directory)`
  chmodSync(join(workspace, '..'), 0o755)
  chownSync(workspace, OTHER + 1, OTHER + 1)
  const { stdout, stderr } = spawnSync(process.execPath, ['--no-warnings', '--input-type=module', '-e', code], {
    encoding: 'utf8',
  })
  assert.equal(stdout.trim(), workspace, stderr)
})

const HOMES = [
  ['that no list of accounts names', '/home/somebody'],
  ['that /etc/passwd names', '/srv/homes/service'],
] as const
for (const [which, home] of HOMES)
  test(`the .nexus of a home ${which} makes no workspace of it`, { skip: whySkipped() ?? false }, (t) => {
    const directory = mkdtempSync(join(tmpdir(), 'nexus-homes-'))
    t.after(() => rmSync(directory, { recursive: true, force: true }))
    const passwd = join(directory, 'passwd')
    writeFileSync(passwd, 'root:x:0:0:root:/root:/bin/sh\nservice:x:990:990::/srv/homes/service:/bin/sh\n')
    const code = `
      import { findWorkspace, readEnvironment } from '${SOURCE}/config/index.ts'
      const environment = readEnvironment({ HOME: '/root' })
      console.log(JSON.stringify(['${home}/project/sub', '${home}/marked/sub', '/srv/team/project'].map((cwd) => findWorkspace(cwd, environment))))`
    const { stdout, stderr } = spawnSync(
      'bwrap',
      [
        ...[
          '--bind',
          '/',
          '/',
          '--dev',
          '/dev',
          '--tmpfs',
          '/home',
          '--tmpfs',
          '/srv',
          // The checkout may be in a home.
          ...['--ro-bind', ROOT, ROOT],
          '--ro-bind',
          passwd,
          '/etc/passwd',
        ],
        ...['--dir', `${home}/.nexus/apikeys`, '--dir', `${home}/project/sub`, '--dir', `${home}/marked/.nexus`],
        ...['--dir', `${home}/marked/sub`, '--dir', '/srv/team/.nexus', '--dir', '/srv/team/project'],
        ...[process.execPath, '--no-warnings', '--input-type=module', '-e', code],
      ],
      { encoding: 'utf8' },
    )
    assert.deepEqual(JSON.parse(stdout || `"${stderr}"`), [
      { directory: `${home}/project/sub` },
      { directory: `${home}/marked`, marker: '.nexus' },
      { directory: '/srv/team', marker: '.nexus' },
    ])
  })
