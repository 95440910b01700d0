import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import type { Sandbox } from '../../src/machine/sandbox/index.ts'
import { createScriptedSandbox, type ScriptedSandbox } from '../../src/testing/index.ts'
import { dataOf } from './rig.ts'
import { bench, TURN } from './variables-rig.ts'

/** Places each revision in a directory of its own, as the local sandbox does. */
function placing(scripted: ScriptedSandbox): Sandbox {
  return {
    kind: 'local',
    facts: () => scripted.facts(),
    place: async (skill) => {
      const { treeDigest } = await scripted.place(skill)
      return { treeDigest, baseDir: `/placed/${treeDigest.slice(7, 20)}/${skill.name}` }
    },
    run: (request, signal) => scripted.run(request, signal),
    close: () => scripted.close(),
  }
}

test('a script of a skill that does not start is explained, and not also as outside the workspace', async (t) => {
  let base = ''
  const scripted = createScriptedSandbox({
    script: () => ({ exitCode: 126, stderr: `/bin/bash: line 1: ${base}/run.sh: Permission denied\n` }),
  })
  const { load, run } = await bench(t, { skills: { report: {} }, parts: { sandbox: placing(scripted) } })
  base = String(dataOf(await load('report'))['base_dir'])
  const data = dataOf(await run({ command: `${base}/run.sh` }))
  assert.deepEqual(data['findings'], [{ code: 'not-executable', subject: `${base}/run.sh` }])
})

test('a command that names the files of an old revision gets a note', async (t) => {
  const sandbox = placing(createScriptedSandbox({}))
  const { runtime, load, run, baseDir } = await bench(t, { skills: { report: {} }, parts: { sandbox } })
  const old = String(dataOf(await load('report'))['base_dir'])
  const command = `bash ${old}/run.sh`
  assert.equal(dataOf(await run({ command }))['findings'], undefined)
  const file = join(baseDir('report'), 'scripts/new.sh')
  mkdirSync(dirname(file))
  writeFileSync(file, 'echo\n')
  assert.deepEqual(await runtime.openAgent({ sessionId: TURN.sessionId }).outdatedSkills(), ['report'])
  const outcome = await run({ command })
  assert.deepEqual(dataOf(outcome)['findings'], [{ code: 'old-revision', subject: 'report' }])
  const now = String(dataOf(await load('report'))['base_dir'])
  assert.notEqual(now, old)
  assert.deepEqual(await runtime.openAgent({ sessionId: TURN.sessionId }).outdatedSkills(), [])
  assert.equal(dataOf(await run({ command: `bash ${now}/run.sh` }))['findings'], undefined)
  assert.equal(JSON.stringify(dataOf(await run({ command }))['notes']).includes("Load 'report' again"), true)
})

test('a command that looks for a file of a loaded skill in the workspace learns its path', async (t) => {
  for (const stderr of [
    "python3: can't open file 'WORK/scripts/x.py': [Errno 2] No such file or directory\n",
    'bash: scripts/x.py: No such file or directory\n',
    "Error: Cannot find module 'WORK/scripts/x.py'\n",
  ]) {
    const { load, run, baseDir } = await bench(t, {
      skills: { report: {} },
      script: ({ workspace }) => ({ exitCode: 1, stderr: stderr.replace('WORK', workspace) }),
    })
    mkdirSync(join(baseDir('report'), 'scripts'))
    writeFileSync(join(baseDir('report'), 'scripts/x.py'), '')
    await load('report')
    const data = dataOf(await run({ command: 'python3 scripts/x.py' }))
    assert.deepEqual(data['findings'], [{ code: 'file-in-skill', subject: 'scripts/x.py' }])
    assert.match(JSON.stringify(data['notes']), /Use its full path: .*report\/scripts\/x\.py/)
  }
})

test('a variable that no skill declares for the command is explained', async (t) => {
  for (const stderr of [
    '/bin/bash: line 1: NOTION_KEY: unbound variable',
    '/bin/bash: line 1: NOTION_KEY: parameter null or not set',
    "KeyError: 'NOTION_KEY'",
    'Error: Missing environment variable NOTION_KEY',
    'NOTION_KEY is not set',
  ]) {
    const { load, run } = await bench(t, {
      skills: { report: {}, notion: { primaryEnv: 'NOTION_KEY' } },
      entries: { notion: { env: {}, apiKey: () => Promise.resolve('secret-of-notion') } },
      script: () => ({ exitCode: 1, stderr: `${stderr}\n` }),
    })
    await load('report')
    const forSkill = dataOf(await run({ skill_name: 'report' }))
    assert.deepEqual(forSkill['findings'], [{ code: 'variable-not-given', subject: 'NOTION_KEY' }])
    assert.deepEqual(forSkill['notes'], [
      "The command did not get the variable NOTION_KEY: the skill 'report' does not declare it. Add NOTION_KEY to requires.env in its SKILL.md, and set skills.entries.report.env.NOTION_KEY in nexus.yaml.",
    ])
    const forNone = dataOf(await run({}))
    assert.match(String(forNone['notes']), /Load 'notion', then call again with skill_name "notion"\./)
    await load('notion')
    assert.equal(dataOf(await run({ skill_name: 'notion' }))['findings'], undefined)
  }
})

test('a variable that git speaks of where there is no repository is not missing', async (t) => {
  const { load, run } = await bench(t, {
    skills: { report: {} },
    script: () => ({
      exitCode: 128,
      stderr:
        'fatal: not a git repository (or any parent up to mount point /work)\nStopping at filesystem boundary (GIT_DISCOVERY_ACROSS_FILESYSTEM not set).\n',
    }),
  })
  await load('report')
  assert.equal(dataOf(await run({ skill_name: 'report' }))['findings'], undefined)
})
