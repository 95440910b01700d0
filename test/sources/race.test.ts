import assert from 'node:assert/strict'
import { type ChildProcessByStdio, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import { type TestContext, test } from 'node:test'
import { isNexusError } from '../../src/kernel/index.ts'
import { readContained, readManifest, readOfSkill } from '../../src/sources/index.ts'
import { temporaryDirectory, writeFiles } from './temporary.ts'

const TRIES = 2_000
const skip =
  process.platform !== 'linux' || spawnSync('python3', ['--version']).error
    ? 'needs Linux and python3 for renameat2'
    : false

/** Exchanges a directory inside with a link to one outside, as fast as it can, until the test ends. */
async function attack(t: TestContext): Promise<string> {
  // Hooks run in the order of their registration: the attacker ends before its directory is removed.
  let attacker: ChildProcessByStdio<null, Readable, null> | undefined
  t.after(async () => {
    if (attacker?.kill('SIGKILL') && attacker.exitCode === null) await once(attacker, 'exit')
  })
  const directory = temporaryDirectory(t)
  writeFiles(directory, { 'root/sub/f': 'inside', 'outside/f': 'SECRET!' })
  symlinkSync(join(directory, 'outside'), join(directory, 'root/evil'))
  const script = `import ctypes, sys
exchange = ctypes.CDLL(None, use_errno=True).renameat2
a, b = sys.argv[1].encode(), sys.argv[2].encode()
print("ready" if exchange(-100, a, -100, b, 2) == 0 else "unable", flush=True)
while True: exchange(-100, a, -100, b, 2)`
  const arguments_ = ['-c', script, join(directory, 'root/sub'), join(directory, 'root/evil')]
  attacker = spawn('python3', arguments_, { stdio: ['ignore', 'pipe', 'ignore'] })
  const [said] = (await once(attacker.stdout, 'data')) as [Buffer]
  if (!said.toString().startsWith('ready')) t.skip('this file system cannot exchange names')
  return join(directory, 'root')
}

for (const holding of ['descriptors', 'paths'] as const) {
  test(`no file outside is read while directories and links change places (${holding})`, { skip }, async (t) => {
    const root = await attack(t)
    let inside = 0
    for (let tries = 0; tries < TRIES; tries++) {
      try {
        const { bytes } = await readContained(root, 'sub/f', { maxBytes: 100, holding })
        assert.equal(Buffer.from(bytes).toString(), 'inside')
        inside++
      } catch (error) {
        assert.ok(
          isNexusError(error) && (error.code === 'PATH_OUTSIDE' || error.code === 'FILE_NOT_FOUND'),
          String(error),
        )
      }
    }
    t.diagnostic(`${inside} of ${TRIES} reads met the real file`)
  })
}

test(
  'no file outside is read for a linked SKILL.md while the directory it leads to and a link change places',
  { skip },
  async (t) => {
    const root = await attack(t)
    mkdirSync(join(root, 'skill'))
    symlinkSync('../sub/f', join(root, 'skill/SKILL.md'))
    const skill = { directory: join(root, 'skill'), linkedTo: join(root, 'sub/f') }
    let inside = 0
    for (let tries = 0; tries < TRIES / 2; tries++) {
      try {
        const { bytes } = await readOfSkill(skill, 'SKILL.md', { maxBytes: 100 })
        assert.equal(Buffer.from(bytes).toString(), 'inside')
        assert.equal((await readManifest(skill)).files[0]?.size, 'inside'.length)
        inside++
      } catch (error) {
        assert.ok(
          isNexusError(error) && ['PATH_OUTSIDE', 'FILE_NOT_FOUND', 'CONFLICT'].includes(error.code),
          String(error),
        )
      }
    }
    t.diagnostic(`${inside} of ${TRIES / 2} reads met the real file`)
  },
)

test('no manifest covers a file outside while directories and links change places', { skip }, async (t) => {
  const root = await attack(t)
  for (let tries = 0; tries < TRIES / 4; tries++) {
    try {
      const { files } = await readManifest(root)
      assert.ok(files.every(({ size }) => size === 'inside'.length))
      assert.ok(files.length <= 2)
    } catch (error) {
      assert.ok(
        isNexusError(error) && ['PATH_OUTSIDE', 'FILE_NOT_FOUND', 'SKILL_INVALID'].includes(error.code),
        String(error),
      )
    }
  }
})
