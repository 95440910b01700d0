import assert from 'node:assert/strict'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { makePlace } from './place.ts'

describe('a configuration that is not read', () => {
  it('because of its name is reported, with the command that renames it', async () => {
    for (const path of ['workspace/nexus.yml', 'workspace/.nexus.yaml', 'home/.nexus/nexus.yml']) {
      await using place = await makePlace()
      const file = await place.write(path, 'model: openai/x')
      const [found, ...more] = (await place.load()).diagnostics
      assert.deepEqual(more, [])
      assert.deepEqual([found?.code, found?.path, found?.severity], ['config-not-read', file, 'warning'])
      assert.match(found?.fix ?? '', /^Type: mv \S+ \S+nexus\.yaml$/)
    }
  })

  it('is reported above the working directory too', async () => {
    await using place = await makePlace()
    const file = await place.write('workspace/nexus.yml', '')
    const cwd = join(place.workspace, 'a/b')
    await mkdir(cwd, { recursive: true })
    assert.deepEqual(
      (await place.load({ cwd })).diagnostics.map(({ path }) => path),
      [file],
    )
    await mkdir(join(place.workspace, 'a/.git'))
    assert.deepEqual((await place.load({ cwd })).diagnostics, [])
  })

  it('because it is a second one is reported: that of .nexus, and one of the other name', async () => {
    await using place = await makePlace({ local: 'skills: {disabled_skills: [a]}' })
    const second = await place.write('workspace/.nexus/nexus.yaml', 'skills: {disabled_skills: [b]}')
    const other = await place.write('workspace/nexus.yml', '')
    const { diagnostics, config } = await place.load()
    assert.deepEqual(config.skills.disabled_skills, ['a'])
    assert.deepEqual(
      diagnostics.map(({ code, path }) => [code, path]),
      [
        ['config-not-read', other],
        ['config-not-read', second],
      ],
    )
    for (const { fix } of diagnostics)
      assert.match(fix ?? '', /^Move its settings to .*workspace\/nexus\.yaml\. Then remove it\.$/)
  })

  it('is none where NEXUS_HOME leads to that directory', async () => {
    await using place = await makePlace()
    await place.write('workspace/.nexus/nexus.yaml', 'limits: {maxIterations: 2}')
    const loaded = await place.load({ variables: { NEXUS_HOME: join(place.workspace, '.nexus') } })
    assert.deepEqual(
      [loaded.diagnostics.map(({ code }) => code), loaded.config.limits.maxIterations],
      [['environment-home-in-workspace'], 2],
    )
  })
})
