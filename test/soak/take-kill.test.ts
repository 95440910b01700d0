/** `kill -9` of Nexus while it takes changes back, writes, keeps or undoes: each file is old or new, the set says which, and a second try ends it. */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { recordsOf } from '../../src/machine/changes/index.ts'
import { IS_ROOT, openPlace, outputOf, startParent } from '../machine/sandbox/local-rig.ts'
import { whySkipped } from '../machine/sandbox/required.ts'
import { AS } from '../hostile/git-rig.ts'
import { COMPILED } from '../source-tree.ts'
import { rounds } from './rounds.ts'

const ROUNDS = rounds(50)
const FILES = Array.from({ length: 400 }, (_, index) => `f${index}`)

for (const mode of IS_ROOT ? ['mirror'] : ['auto', 'mirror'])
  test(
    `kill -9 while changes are taken back, workspace mode ${mode}`,
    { skip: whySkipped() ?? false },
    async (context) => {
      const place = openPlace(context)
      const { workspace, stateDir } = place
      for (const name of FILES) writeFileSync(join(workspace, name), 'old')
      let takingMs = 150
      for (let round = 0; round < ROUNDS; round++) {
        const text = `new ${round}`
        const before = FILES.map((name) => readFileSync(join(workspace, name), 'utf8'))
        const command = `for f in f*; do printf '${text}' > $f; done; mkdir -p node_modules; echo ${round} > node_modules/x; echo ${round} > .envrc; echo begun`
        const parent = startParent(place, command, { mode })
        const ended = once(parent, 'exit')
        await once(parent.stdout ?? parent, 'data')
        const at = performance.now()
        // Later rounds kill at other steps; one that came too late makes the next earlier.
        const isInTime = await Promise.race([sleep((takingMs * (round + 1)) / ROUNDS, true), ended.then(() => false)])
        parent.kill('SIGKILL')
        await ended
        if (!isInTime) takingMs = (performance.now() - at) / 2
        const now = FILES.map((name) => readFileSync(join(workspace, name), 'utf8'))
        for (const [index, found] of now.entries())
          assert.ok([before[index], text].includes(found), `${FILES[index]}: ${found}`)
        assert.match(await outputOf(startParent(place, 'true', { mode })), /end exit 0/)
        const [set] = recordsOf(stateDir, workspace).list()
        const isNew = set?.state === 'applied' && readFileSync(join(workspace, 'f0'), 'utf8') === text
        const wanted = isNew ? FILES.map(() => text) : before
        assert.deepEqual(
          FILES.map((name) => readFileSync(join(workspace, name), 'utf8')),
          wanted,
        )
        assert.deepEqual(
          readdirSync(workspace).filter((name) => !FILES.includes(name)),
          [],
        )
        // A second try ends it.
        const again = await outputOf(startParent(place, `${command}; cat .envrc node_modules/x`, { mode }))
        assert.match(again, new RegExp(`begun\\n${round}\\n${round}\\n`))
        assert.deepEqual(
          FILES.map((name) => readFileSync(join(workspace, name), 'utf8')),
          FILES.map(() => text),
        )
      }
      assert.equal(existsSync(join(workspace, '.envrc')), false)
    },
  )

/** The workspace: its files, and where its branches are. */
function pictureOf(workspace: string): Record<string, string> {
  const files = readdirSync(workspace, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    // In layers it goes when a later command changes something.
    .filter(({ name }) => !name.startsWith('.nexus-part-'))
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => !path.startsWith(join(workspace, '.git')))
  const git = (...args: string[]): string =>
    execFileSync('git', ['-c', 'safe.directory=*', '-C', workspace, ...args], { encoding: 'utf8' })
  git('fsck', '--strict', '--no-dangling')
  return {
    ...Object.fromEntries(files.map((path) => [path.slice(workspace.length + 1), readFileSync(path, 'utf8')])),
    'git: references': git('for-each-ref') + git('rev-parse', 'HEAD'),
    'git: index': git('ls-files', '-s'),
  }
}

for (const op of ['write', 'keep', 'undo'] as const)
  test(
    `kill -9 at steps of ${op} in a workspace of commands, also between those of git`,
    { skip: whySkipped() ?? false },
    async (context) => {
      const place = openPlace(context)
      const { stateDir, workspace } = place
      const start = 'git init -qb main; for f in a gone s; do echo old > $f; done; git add .; git commit -qm one'
      execFileSync('/bin/sh', ['-c', `${AS} ${start}`], { cwd: workspace })
      const change =
        'echo new > a; rm gone s; mkdir s d; echo new | tee s/b d/c; git add -A; git commit -qm two; git branch -q topic; mkdir .vscode; echo new | tee .envrc .vscode/x; echo new > .git/hooks/pre-push; echo more >> d/c'
      assert.match(await outputOf(startParent(place, `${AS} ${change}`)), /end exit 0/)
      const [saved, state] = [join(place.root, 'saved'), join(place.root, 'saved-state')]
      cpSync(workspace, saved, { recursive: true, preserveTimestamps: true })
      cpSync(join(stateDir, 'changes'), state, { recursive: true })
      const again = (): void => {
        for (const name of readdirSync(workspace)) rmSync(join(workspace, name), { recursive: true })
        cpSync(saved, workspace, { recursive: true, preserveTimestamps: true })
        rmSync(join(stateDir, 'changes'), { recursive: true })
        cpSync(state, join(stateDir, 'changes'), { recursive: true })
      }
      const killedAt = (step: number): { readonly stdout: string; readonly signal: NodeJS.Signals | null } => {
        const script = join(import.meta.dirname, 'killed-sets.ts')
        const words = [COMPILED, '--no-warnings', script, op, stateDir, workspace, String(step)]
        return spawnSync(process.execPath, words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
      }
      const before = pictureOf(workspace)
      const steps = Number(killedAt(0).stdout)
      const after = pictureOf(workspace)
      assert.notDeepEqual(after, before)
      for (let round = 0; round < ROUNDS; round++) {
        again()
        const step = 1 + Math.floor(((round + Math.random()) / ROUNDS) * steps)
        const about = `step ${step} of ${steps}`
        assert.equal(killedAt(step).signal, 'SIGKILL', about)
        assert.match(await outputOf(startParent(place, 'true')), /end exit 0/, about)
        const now = pictureOf(workspace)
        for (const key of new Set([...Object.keys(before), ...Object.keys(after), ...Object.keys(now)]))
          assert.ok([before[key], after[key]].includes(now[key]), `${about}: ${key}`)
        const sets = recordsOf(stateDir, workspace)
        if (op !== 'write' || sets.list()[0]?.tool !== 'write_file' || sets.list()[0]?.state === 'undone')
          assert.equal(killedAt(0).signal, null, about)
        assert.deepEqual(pictureOf(workspace), after, `${about}: after a second try`)
      }
      await outputOf(startParent(place, 'date > last'))
      assert.deepEqual(
        readdirSync(workspace, { recursive: true, encoding: 'utf8' }).filter((path) => path.includes('.nexus-part-')),
        [],
      )
    },
  )
