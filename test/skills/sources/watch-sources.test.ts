import assert from 'node:assert/strict'
import {
  appendFileSync,
  chmodSync,
  cpSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { temporaryDirectory, skillText, writeFiles } from './temporary.ts'
import { aged, type Mode, watching } from './watching.ts'

const TIMED = { timeout: 30_000 }

// One contract, whichever way changes are found.
for (const mode of ['events', 'polling'] as const satisfies readonly Mode[]) {
  describe(`watching by ${mode}`, { concurrency: true }, () => contract(mode))
}

function contract(mode: Mode): void {
  const by = `by ${mode}:`

  test(`${by} an edit of SKILL.md names the skill, and nothing else`, TIMED, async (t) => {
    const root = temporaryDirectory(t)
    writeFiles(root, { 'a/SKILL.md': skillText('a'), 'group/b/SKILL.md': skillText('b') })
    await aged()
    const seen = await watching(t, [root], { mode })
    assert.equal(seen.watcher.mode, mode)
    await seen.forget()
    appendFileSync(join(root, 'group/b/SKILL.md'), 'more\n')
    await seen.told(join(root, 'group/b'))
    assert.deepEqual([...new Set(seen.changes.flatMap(({ directories }) => directories))], [join(root, 'group/b')])
    assert.ok(!seen.changes.some(({ rescan }) => rescan))
  })

  test(`${by} edits after SKILL.md was replaced by rename are seen`, TIMED, async (t) => {
    const root = temporaryDirectory(t)
    writeFiles(root, { 'a/SKILL.md': skillText('a') })
    const seen = await watching(t, [root], { mode })
    const file = join(root, 'a/SKILL.md')
    for (let round = 0; round < 3; round++) {
      await seen.forget()
      writeFileSync(`${file}.tmp`, `${readFileSync(file, 'utf8')}again\n`)
      renameSync(`${file}.tmp`, file)
      await seen.told(join(root, 'a'))
      await seen.forget()
      appendFileSync(file, 'after\n')
      await seen.told(join(root, 'a'))
    }
  })

  test(`${by} a directory made and written at once is seen, and so are edits in it`, TIMED, async (t) => {
    const root = temporaryDirectory(t)
    const seen = await watching(t, [root], { mode })
    await seen.forget()
    const names = Array.from({ length: 20 }, (_, index) => `new-${index}`)
    for (const name of names) {
      writeFiles(root, { [`${name}/SKILL.md`]: skillText(name), [`${name}/references/deep/a.md`]: 'x' })
    }
    for (const name of names) await seen.told(join(root, name))
    await seen.forget()
    for (const name of names) appendFileSync(join(root, name, 'references/deep/a.md'), 'y')
    for (const name of names) await seen.told(join(root, name))
  })

  test(`${by} edits after the folder of a skill was swapped are seen`, TIMED, async (t) => {
    const [root, aside] = [temporaryDirectory(t), temporaryDirectory(t)]
    writeFiles(root, { 'a/SKILL.md': skillText('a'), 'a/scripts/run.sh': 'true\n' })
    const seen = await watching(t, [root], { mode })
    await seen.forget()
    const directory = join(root, 'a')
    for (let round = 0; round < 3; round++) {
      cpSync(directory, join(aside, `new-${round}`), { recursive: true })
      renameSync(directory, join(aside, `old-${round}`))
      renameSync(join(aside, `new-${round}`), directory)
      await seen.told(directory)
      for (const file of ['SKILL.md', 'scripts/run.sh']) {
        await seen.forget()
        appendFileSync(join(directory, file), '# more\n')
        await seen.told(directory)
      }
    }
  })

  test(`${by} edits after the folder of a skill was removed and made again are seen`, TIMED, async (t) => {
    const root = temporaryDirectory(t)
    writeFiles(root, { 'a/SKILL.md': skillText('a') })
    const seen = await watching(t, [root], { mode })
    for (let round = 0; round < 3; round++) {
      await seen.forget()
      rmSync(join(root, 'a'), { recursive: true })
      if (round > 0) await seen.told(join(root, 'a'))
      writeFiles(root, { 'a/SKILL.md': skillText('a'), 'a/scripts/run.sh': 'true\n' })
      await seen.told(join(root, 'a'))
      await seen.forget()
      appendFileSync(join(root, 'a/scripts/run.sh'), '# more\n')
      await seen.told(join(root, 'a'))
    }
  })

  test(`${by} a change below a skill names the skill`, TIMED, async (t) => {
    const root = temporaryDirectory(t)
    writeFiles(root, { 'a/SKILL.md': skillText('a'), 'a/scripts/deep/er/run.sh': 'true\n', 'a/references/r.md': 'r' })
    const seen = await watching(t, [root], { mode })
    const changes = [
      () => appendFileSync(join(root, 'a/scripts/deep/er/run.sh'), '#\n'),
      // Polling compares size, time and identity, so it does not see rights.
      ...(mode === 'events' ? [() => chmodSync(join(root, 'a/scripts/deep/er/run.sh'), 0o755)] : []),
      () => unlinkSync(join(root, 'a/references/r.md')),
      () => rmSync(join(root, 'a/scripts'), { recursive: true }),
      () => unlinkSync(join(root, 'a/SKILL.md')),
    ]
    for (const change of changes) {
      await seen.forget()
      change()
      await seen.told(join(root, 'a'))
    }
  })

  test(`${by} what changes deep down in the moment of being ready is seen`, TIMED, async (t) => {
    const [root, aside] = [temporaryDirectory(t), temporaryDirectory(t)]
    const names = Array.from({ length: 300 }, (_, index) => `s${index}`)
    for (const name of names) {
      writeFiles(root, { [`${name}/SKILL.md`]: skillText(name), [`${name}/scripts/deep/run.sh`]: 'true\n' })
    }
    writeFiles(root, { 'group/inner/x/SKILL.md': skillText('x') })
    writeFiles(aside, { 'inner/x/SKILL.md': skillText('x', 'Another.') })
    await aged()
    const seen = await watching(t, [root], { mode })
    for (const name of names) {
      const file = join(root, name, 'scripts/deep/run.sh')
      const change = Number(name.slice(1)) % 3
      if (change === 0) appendFileSync(file, '#\n')
      else if (change === 1) unlinkSync(file)
      else rmSync(join(root, name, 'scripts'), { recursive: true })
    }
    renameSync(join(root, 'group/inner'), join(aside, 'old'))
    renameSync(join(aside, 'inner'), join(root, 'group/inner'))
    for (const name of names) await seen.told(join(root, name))
    await seen.told(join(root, 'group/inner/x'))
  })

  test(`${by} of a burst of 100 writes none is lost`, TIMED, async (t) => {
    const root = temporaryDirectory(t)
    const names = Array.from({ length: 100 }, (_, index) => `skill-${index}`)
    for (const name of names) writeFiles(root, { [`${name}/SKILL.md`]: skillText(name) })
    const seen = await watching(t, [root], { mode })
    await seen.forget()
    for (const name of names) appendFileSync(join(root, name, 'SKILL.md'), 'z')
    for (const name of names) await seen.told(join(root, name))
  })

  test(`${by} a root that is not there yet, comes, goes and comes again is followed`, TIMED, async (t) => {
    const home = temporaryDirectory(t)
    const root = join(home, 'deep/er/skills')
    const seen = await watching(t, [root], { mode })
    for (let round = 0; round < 3; round++) {
      writeFiles(root, { 'a/SKILL.md': skillText('a') })
      await seen.rescan()
      await seen.forget()
      appendFileSync(join(root, 'a/SKILL.md'), 'more\n')
      await seen.told(join(root, 'a'))
      await seen.forget()
      rmSync(join(home, 'deep'), { recursive: true })
      await seen.rescan()
      await seen.forget()
    }
  })

  test(`${by} a root that is renamed away and replaced is followed`, TIMED, async (t) => {
    const home = temporaryDirectory(t)
    const root = join(home, 'skills')
    writeFiles(home, { 'skills/a/SKILL.md': skillText('a'), 'next/b/SKILL.md': skillText('b') })
    const seen = await watching(t, [root], { mode })
    renameSync(root, join(home, 'old'))
    renameSync(join(home, 'next'), root)
    await seen.rescan()
    await seen.forget()
    appendFileSync(join(root, 'b/SKILL.md'), 'more\n')
    await seen.told(join(root, 'b'))
    await seen.forget()
    appendFileSync(join(home, 'old/a/SKILL.md'), 'more\n')
    await seen.forget()
    assert.deepEqual(seen.changes, [])
  })

  test(
    `${by} a root behind a link that is switched is followed, and so is a link on the way to it`,
    TIMED,
    async (t) => {
      const home = temporaryDirectory(t)
      writeFiles(home, { 'v1/skills/a/SKILL.md': skillText('a'), 'v2/skills/a/SKILL.md': skillText('a') })
      symlinkSync('v1', join(home, 'current'))
      symlinkSync(join(home, 'current/skills'), join(home, 'root'))
      const seen = await watching(t, [join(home, 'root')], { mode })
      for (const version of ['v2', 'v1']) {
        symlinkSync(version, join(home, 'next'))
        renameSync(join(home, 'next'), join(home, 'current'))
        await seen.rescan()
        await seen.forget()
        const directory = join(home, version, 'skills/a')
        appendFileSync(join(directory, 'SKILL.md'), 'more\n')
        await seen.told(directory)
      }
    },
  )

  test(`${by} a group of skills that is moved in names each of them`, TIMED, async (t) => {
    const [root, aside] = [temporaryDirectory(t), temporaryDirectory(t)]
    for (const name of ['a', 'b']) writeFiles(aside, { [`group/${name}/SKILL.md`]: skillText(name) })
    const seen = await watching(t, [root], { mode })
    await seen.forget()
    renameSync(join(aside, 'group'), join(root, 'group'))
    await seen.told(join(root, 'group/a'))
    await seen.told(join(root, 'group/b'))
    await seen.forget()
    renameSync(join(root, 'group'), join(aside, 'group'))
    await seen.told(join(root, 'group/a'))
    await seen.told(join(root, 'group/b'))
  })

  test(`${by} hidden directories and node_modules are left alone`, TIMED, async (t) => {
    const root = temporaryDirectory(t)
    writeFiles(root, { 'a/SKILL.md': skillText('a'), 'a/.git/HEAD': 'x', 'a/node_modules/m/index.js': 'x' })
    await aged()
    const seen = await watching(t, [root], { mode })
    await seen.forget()
    appendFileSync(join(root, 'a/.git/HEAD'), 'y')
    appendFileSync(join(root, 'a/node_modules/m/index.js'), 'y')
    // Told last, so anything about the others would have been told by then.
    writeFiles(root, { 'b/SKILL.md': skillText('b') })
    await seen.told(join(root, 'b'))
    assert.deepEqual([...new Set(seen.changes.flatMap(({ directories }) => directories))], [join(root, 'b')])
  })

  test(`${by} a root that is hidden itself is watched`, TIMED, async (t) => {
    const root = join(temporaryDirectory(t), '.skills')
    writeFiles(root, { 'a/SKILL.md': skillText('a') })
    const seen = await watching(t, [root], { mode })
    await seen.forget()
    appendFileSync(join(root, 'a/SKILL.md'), 'more\n')
    await seen.told(join(root, 'a'))
    assert.ok(!seen.changes.some(({ rescan }) => rescan))
  })

  test(`${by} nothing is told after closing`, TIMED, async (t) => {
    const root = temporaryDirectory(t)
    mkdirSync(join(root, 'a'))
    const seen = await watching(t, [root], { mode })
    await seen.forget()
    writeFileSync(join(root, 'a/SKILL.md'), skillText('a'))
    await seen.watcher.close()
    writeFileSync(join(root, 'a/more.md'), 'more')
    await aged()
    assert.deepEqual(seen.changes, [])
    await seen.watcher.close()
  })
}
