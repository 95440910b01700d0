import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { findPrograms, type LocalOptions } from '../../../src/machine/sandbox/index.ts'
import { inBoundNamespace } from '../../../src/machine/sandbox/local/bound.ts'
import { IS_ROOT, localOptions, openDirectory, openRig } from './local-rig.ts'
import { whySkipped } from './required.ts'

const skip = whySkipped() ?? false

interface Home {
  readonly path: string
  options(...names: readonly string[]): Pick<LocalOptions, 'programs'>
}

/** A home that nobody else enters, with real installations: Node in the layout of nvm, `npm -g`, an environment as pipx and uv make it. */
function makeHome(context: TestContext): Home {
  // Not below /tmp, where commands have their own directory.
  const path = mkdtempSync('/var/tmp/nexus-home-')
  context.after(() => rmSync(path, { recursive: true, force: true }))
  const at = (name: string): string => join(path, name)
  mkdirSync(at('.nvm/versions/node/v24.0.0/bin'), { recursive: true })
  mkdirSync(at('.local/bin'), { recursive: true })
  placeNode(at('.nvm/versions/node/v24.0.0/bin/node'))
  installTool(at('.nvm/versions/node/v24.0.0'), at('source'))
  mkdirSync(at('.aws'))
  writeFileSync(at('.aws/credentials'), 'secret-of-the-home')
  mkdirSync(at('.local/share/uv/tools'), { recursive: true })
  execFileSync('/usr/bin/python3', ['-m', 'venv', '--without-pip', at('.local/share/uv/tools/greet')])
  const [bin, python] = [at('.local/share/uv/tools/greet/bin'), at('.local/share/uv/tools/greet/bin/python')]
  writeFileSync(join(bin, 'greet'), `#!${python}\nimport sys\nprint('hello from', sys.prefix)\n`, { mode: 0o755 })
  symlinkSync(join(bin, 'greet'), at('.local/bin/greet'))
  writeFileSync(at('.local/share/uv/tools/greet/pip.conf'), '[global]\nindex-url = https://user:pass@host/\n')
  symlinkSync(at('.aws'), at('.local/share/uv/tools/greet/keys'))
  layOthers(at)
  chmodSync(path, 0o700)
  return {
    path,
    options: (...names) => ({
      programs: {
        names,
        home: path,
        path: [at('.nvm/versions/node/v24.0.0/bin'), at('.local/bin'), '/usr/bin', '/bin'],
        variable: (name) => (name === 'NIX_STORE_DIR' ? at('nix/store') : undefined),
      },
    }),
  }
}

/** Layouts of installers that no test runs; each program says its name and where it found itself. */
function layOthers(at: (name: string) => string): void {
  const program = (name: string): void => {
    mkdirSync(dirname(at(name)), { recursive: true })
    writeFileSync(at(name), '#!/bin/sh\necho "${0##*/} of ${0%/*}"\n', { mode: 0o755 })
  }
  for (const name of [
    '.bun/bin/bun',
    '.deno/bin/deno',
    '.local/aws-cli/v2/2.15.0/bin/aws',
    'nix/store/abc-jq/bin/only-jq',
  ])
    program(name)
  symlinkSync(at('.local/aws-cli/v2/2.15.0'), at('.local/aws-cli/v2/current'))
  symlinkSync(at('.local/aws-cli/v2/current/bin/aws'), at('.local/bin/aws'))
  symlinkSync(at('nix/store/abc-jq'), at('.nix-profile'))
}

/** The Node that runs us; a second name for it costs nothing. */
function placeNode(target: string): void {
  try {
    linkSync(process.execPath, target)
  } catch {
    cpSync(process.execPath, target)
  }
}

/** `npm -g` of a package of this machine, by npm itself. */
function installTool(prefix: string, source: string): void {
  mkdirSync(source)
  writeFileSync(join(source, 'package.json'), '{"name":"shout","version":"1.0.0","bin":{"shout":"shout.mjs"}}')
  writeFileSync(join(source, 'shout.mjs'), '#!/usr/bin/env node\nconsole.log(process.argv[2].toUpperCase())\n')
  const arguments_ = ['install', '-g', '--install-links', '--offline', '--prefix', prefix, source]
  const env = { PATH: `${process.env['PATH']}:/usr/local/bin`, HOME: prefix }
  const { error } = spawnSync('npm', arguments_, { env, stdio: 'ignore' })
  if (!error) return
  // Without npm, its layout by hand.
  cpSync(source, join(prefix, 'lib/node_modules/shout'), { recursive: true })
  chmodSync(join(prefix, 'lib/node_modules/shout/shout.mjs'), 0o755)
  symlinkSync('../lib/node_modules/shout/shout.mjs', join(prefix, 'bin/shout'))
}

test(
  'programs of a closed home run: Node of nvm, a package of npm -g, a tool in an environment of its own',
  { skip },
  async (context) => {
    const home = makeHome(context)
    const others = ['bun', 'deno', 'aws', 'only-jq']
    const { run, sandbox } = await openRig(context, home.options('node', 'shout', 'greet', ...others))
    const { hasBin } = await sandbox.facts()
    assert.deepEqual(['node', 'shout', 'greet', 'not-here', ...others].map(hasBin), [
      ...[true, true, true, false],
      ...others.map(() => true),
    ])
    const ran = await run('node -p process.execPath; shout abc; greet; type -p node greet; echo "$PATH"')
    assert.equal(ran.stderr, '')
    const [node, shouted, greeted, ...found] = ran.stdout.trim().split('\n')
    assert.equal(node, join(home.path, '.nvm/versions/node/v24.0.0/bin/node'))
    assert.equal(shouted, 'ABC')
    assert.equal(greeted, `hello from ${join(home.path, '.local/share/uv/tools/greet')}`)
    const path = found.pop()?.split(delimiter) ?? []
    // Only what was named hides programs of the system: python3 is still that one.
    assert.ok(
      found.every((each) => each.startsWith(path[0] ?? '-')),
      found.join(),
    )
    assert.equal((await run('type -p python3')).stdout.trim(), '/usr/bin/python3')
    assert.deepEqual(ran.notes, [])
    const said = (await run(others.join('; '))).stdout.replaceAll(home.path, '~')
    assert.deepEqual(said.trim().split('\n'), [
      'bun of ~/.bun/bin',
      'deno of ~/.deno/bin',
      'aws of ~/.local/bin',
      'only-jq of ~/.nix-profile/bin',
    ])
  },
)

test('of the home nothing else is seen, and nothing of it can be written', { skip }, async (context) => {
  const home = makeHome(context)
  const { run } = await openRig(context, home.options('greet'))
  const tool = join(home.path, '.local/share/uv/tools/greet')
  const seen = await run(
    `find ${home.path} -maxdepth 3 -not -path '*/tools/*' | sort; cat ${home.path}/.aws/credentials ${tool}/keys/credentials ${tool}/pip.conf; touch ${tool}/new ${home.path}/new`,
  )
  assert.deepEqual(
    seen.stdout
      .trim()
      .split('\n')
      .map((path) => path.slice(home.path.length)),
    ['', '/.local', '/.local/bin', '/.local/bin/greet', '/.local/share', '/.local/share/uv'],
  )
  assert.doesNotMatch(seen.stdout + seen.stderr, /secret-of-the-home|user:pass/)
  assert.equal(seen.stderr.match(/No such file|Permission denied/g)?.length, 3)
  assert.equal(seen.stderr.match(/Read-only file system/g)?.length, 2)
})

test('a program that another account could change is not mounted, and a note says why', { skip }, async (context) => {
  const home = makeHome(context)
  chmodSync(home.path, 0o755)
  chmodSync(join(home.path, '.local/share/uv/tools/greet/pyvenv.cfg'), 0o666)
  const options = home.options('greet', 'no-such-program')
  const { run } = await openRig(context, options)
  const ran = await run('greet')
  assert.equal(ran.exitCode, 127)
  assert.match(ran.notes.join('\n'), /program greet .*pyvenv\.cfg is not safe to mount: every account can write to it/)
  assert.match(ran.notes.join('\n'), /program no-such-program .*no program of that name/)
  assert.deepEqual((await run('true')).notes, [])
  const found = await findPrograms(['greet', 'sh'], localOptions(options))
  assert.deepEqual(
    found.map(({ type }) => type),
    ['refused', 'system'],
  )
})

test('a program that was replaced is checked again before the next command', { skip }, async (context) => {
  const home = makeHome(context)
  const tool = join(home.path, '.local/share/uv/tools/greet')
  const { run } = await openRig(context, home.options('greet'))
  assert.match((await run('greet')).stdout, /hello/)
  renameSync(tool, `${tool}.old`)
  symlinkSync(join(home.path, '.aws'), tool)
  const after = await run(`greet; cat ${tool}/credentials`)
  assert.doesNotMatch(after.stdout, /hello|secret/)
  assert.match(after.notes.join(), /program greet/)
})

test(
  'an environment of the workspace runs on an interpreter of the home, when a Python is named',
  { skip },
  async (context) => {
    const home = makeHome(context)
    const version = join(home.path, '.pyenv/versions/3.11.9')
    mkdirSync(join(version, 'bin'), { recursive: true })
    writeFileSync(join(version, 'bin/python3'), '#!/bin/sh\necho interpreter of the home\n', { mode: 0o755 })
    for (const names of [['greet'], ['python3']]) {
      const { run, workspace } = await openRig(context, home.options(...names))
      await run('true')
      mkdirSync(join(workspace, '.venv/bin'), { recursive: true })
      writeFileSync(join(workspace, '.venv/pyvenv.cfg'), `home = ${version}/bin\n`)
      symlinkSync(join(version, 'bin/python3'), join(workspace, '.venv/bin/python'))
      for (const each of ['.venv', '.venv/bin']) chmodSync(join(workspace, each), 0o755)
      const ran = await run('.venv/bin/python')
      assert.equal(ran.stdout, names[0] === 'greet' ? '' : 'interpreter of the home\n', ran.stderr)
    }
  },
)

test('root mounts no place that was replaced after it was checked', { skip: skip || !IS_ROOT }, (context) => {
  const at = openDirectory()
  context.after(() => rmSync(at, { recursive: true, force: true }))
  mkdirSync(join(at, 'mounts'))
  mkdirSync(join(at, 'place'))
  const { dev, ino } = statSync(join(at, 'place'))
  const start = (identity: string): string => {
    const places = [{ path: join(at, 'place'), kind: 'x', isSealed: false, identity }]
    const bound = { at: join(at, 'mounts'), places, unshare: '/usr/bin/unshare', setpriv: '/usr/bin/setpriv' }
    const [program = '', ...rest] = inBoundNamespace(['/usr/bin/id', '-u'], bound, { uid: 1234, gid: 1234 })
    const { stdout, stderr } = spawnSync(program, rest, { encoding: 'utf8' })
    return (stdout + stderr).trim()
  }
  assert.equal(start(`${dev}:${ino}`), '1234')
  assert.match(start('1:2'), /place was replaced$/)
})

test(
  'root that may not mount copies the programs to where commands can read them',
  { skip: skip || !IS_ROOT },
  async (context) => {
    const home = makeHome(context)
    const script = `
    const { createSandbox } = await import(${JSON.stringify(join(import.meta.dirname, '../../../src/machine/sandbox/index.ts'))})
    const [home, stateDir, workspace] = process.argv.slice(1)
    const programs = { names: ['greet'], home, path: [home + '/.local/bin'], variable: () => undefined }
    const sandbox = await createSandbox({ kind: 'local', projectId: 'default', stateDir, programs })
    const { stdout, stderr, notes } = await sandbox.run({ command: 'greet; cat ' + home + '/.local/share/uv/tools/greet/pip.conf', workspace })
    console.log(JSON.stringify({ stdout, stderr, notes }))
    await sandbox.close()`
    const place = openDirectory()
    context.after(() => rmSync(place, { recursive: true, force: true }))
    mkdirSync(join(place, 'work'))
    const node = [
      process.execPath,
      '--input-type=module',
      '-e',
      script,
      home.path,
      join(place, 'state'),
      join(place, 'work'),
    ]
    const said = execFileSync('setpriv', ['--bounding-set', '-sys_admin', ...node], { encoding: 'utf8' })
    const { stdout, stderr, notes } = JSON.parse(said) as { stdout: string; stderr: string; notes: string[] }
    assert.equal(stdout, `hello from ${join(home.path, '.local/share/uv/tools/greet')}\n`)
    assert.match(stderr, /pip\.conf: Permission denied/)
    assert.deepEqual(notes, [])
  },
)
