/** Client copies where a system makes no links; the system is one in which these calls fail. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { closeSync, existsSync, lstatSync, mkdirSync, openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs' // oxfmt-ignore
import { join } from 'node:path'
import { test } from 'node:test'
import { skillText } from '../../../../skills/install/git-server.ts'
import { ended, Place } from '../../nexus.ts'

/** A filter of system calls for bubblewrap: symlink and symlinkat fail with EPERM, as on a file system without links. */
function withoutLinks(): Buffer {
  const { arch } = process
  const [architecture, ...calls] = arch === 'arm64' ? [0xc000_00b7, 36] : [0xc000_003e, 88, 266]
  const step = (code: number, then: number, otherwise: number, value: number): Buffer => {
    const bytes = Buffer.alloc(8)
    bytes.writeUInt16LE(code, 0)
    bytes.writeUInt8(then, 2)
    bytes.writeUInt8(otherwise, 3)
    bytes.writeUInt32LE(value, 4)
    return bytes
  }
  const LOAD = 0x20
  const EQUAL = 0x15
  const RETURN = 0x06
  return Buffer.concat([
    step(LOAD, 0, 0, 4),
    step(EQUAL, 0, calls.length + 1, architecture ?? 0),
    step(LOAD, 0, 0, 0),
    ...calls.map((call, index) => step(EQUAL, calls.length - index, 0, call)),
    step(RETURN, 0, 0, 0x7fff_0000),
    step(RETURN, 0, 0, 0x0005_0001),
  ])
}

/** For other users bubblewrap makes a user namespace, in which system directories have an unknown owner: Nexus keeps nothing below them. */
const skip = process.getuid?.() !== 0 && 'only root gets a mount namespace with the owners of directories'

test(
  'where the system makes no links, programs get a copy, which update replaces and remove takes away',
  { skip },
  async (t) => {
    const place = new Place(t)
    const cwd = join(place.root, 'ours')
    mkdirSync(join(cwd, '.git'), { recursive: true })
    const filter = join(place.root, 'filter')
    writeFileSync(filter, withoutLinks())
    mkdirSync(join(place.root, 'from/a'), { recursive: true })
    const write = (more = '') => writeFileSync(join(place.root, 'from/a/SKILL.md'), skillText('a', more))
    const run = async (...args: string[]) => {
      const line = ['--seccomp', '3', '--dev-bind', '/', '/', '--chdir', cwd, ...place.line(['skills', ...args])]
      const descriptor = openSync(filter, 'r')
      const child = spawn('bwrap', line, { ...place.options({ cwd }), stdio: ['ignore', 'pipe', 'pipe', descriptor] })
      closeSync(descriptor)
      return ended(child)
    }
    write()
    const installed = await run('install', '../from/a', '--client', 'claude-code', '--yes')
    if (/^bwrap: /m.test(installed.stderr)) return t.skip('bubblewrap does not start here')
    assert.equal(installed.code, 0, installed.stderr)
    const seat = join(cwd, '.claude/skills/a')
    assert.ok(lstatSync(seat).isDirectory())
    assert.equal(readFileSync(join(seat, 'SKILL.md'), 'utf8'), skillText('a'))
    write('license: MIT\n')
    assert.equal((await run('install', '../from/a', '--yes')).code, 0)
    assert.match(readFileSync(join(seat, 'SKILL.md'), 'utf8'), /MIT/)
    assert.deepEqual(readdirSync(join(cwd, '.claude/skills')), ['a'])
    writeFileSync(join(seat, 'SKILL.md'), 'edited')
    const verified = await run('verify')
    assert.match(verified.stdout, /changed \.claude\/skills\/a\/SKILL\.md/)
    assert.equal((await run('ci', '--yes', '--overwrite', 'a')).code, 0)
    assert.match(readFileSync(join(seat, 'SKILL.md'), 'utf8'), /MIT/)
    assert.equal((await run('remove', 'a')).code, 0)
    assert.ok(!existsSync(seat))
  },
)
