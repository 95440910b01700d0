import assert from 'node:assert/strict'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { readEnvironment } from '../../src/config/index.ts'
import { inspectSkills } from '../../src/local/inspect.ts'
import { findMissingDirectories, findUnknownSkills } from '../../src/local/names-nothing.ts'
import { makePlace, type Place } from '../config/place.ts'

async function unknownIn(place: Place) {
  const environment = readEnvironment({ HOME: place.home })
  const look = await inspectSkills({ cwd: place.workspace, environment, tolerateConfigErrors: true })
  const found = await findUnknownSkills(look.loaded, look.catalog())
  return found.map(({ severity, line, column, subject, fix }) => [severity, line, column, subject, fix])
}

describe('a directory of the configuration that is not there', () => {
  it('is reported with its place, and so is a variable that is not expanded', async () => {
    await using place = await makePlace({
      user: 'skills:\n  load: {extraDirs: [$HOME/x, ~me/y, ./gone, ./there]}\n  skill_dirs: [~/none]\n  sources: [{type: local, path: $DIR/z}]\n',
    })
    await mkdir(join(place.nexusHome, 'there'))
    const found = await findMissingDirectories(await place.load({ variables: { DIR: '/' } }))
    assert.deepEqual(
      found.map(({ code, severity, line, column, subject, fix }) => [code, severity, line, column, subject, fix]),
      [
        [
          'directory-unexpanded',
          'warning',
          2,
          22,
          'skills.load.extraDirs[0]',
          'Write "${HOME}", in quotes and braces.',
        ],
        [
          'directory-unexpanded',
          'warning',
          2,
          31,
          'skills.load.extraDirs[1]',
          'Write the absolute path, or begin it with ~/.',
        ],
        ['directory-missing', 'warning', 2, 38, 'skills.load.extraDirs[2]', 'Make the directory, or fix the path.'],
        ['directory-missing', 'warning', 3, 16, 'skills.skill_dirs[0]', 'Make the directory, or fix the path.'],
        ['directory-unexpanded', 'warning', 4, 27, 'skills.sources[0].path', 'Write "${DIR}", in quotes and braces.'],
      ],
    )
  })
})

describe('a path with quotes inside of its quotes', () => {
  it('is reported as one that is not expanded', async () => {
    const user = `skills:\n  load:\n    extraDirs:\n      - '"~/x"'\n      - "'$HOME/x'"\n      - "~/x"\n`
    await using place = await makePlace({ user })
    const found = await findMissingDirectories(await place.load())
    const fix = 'Remove the quotes and spaces inside of the quoted text.'
    assert.deepEqual(
      found.map(({ code, line, fix: said }) => [code, line, said]),
      [
        ['directory-unexpanded', 4, fix],
        ['directory-unexpanded', 5, fix],
        ['directory-missing', 6, 'Make the directory, or fix the path.'],
      ],
    )
  })
})

describe('a skill of the configuration that is not there', () => {
  it('is a warning where a name is near, and only worth knowing where it may be meant for another workspace', async () => {
    await using place = await makePlace({
      user: 'skills: {entries: {pfd: {enabled: true}, elsewhere: {enabled: true}}, disabled_skills: [pdf, pdv]}\nagents: [{id: main, skills: [workspace/pdf, workspace/pfd]}]\n',
      local: 'skills: {disabled_skills: [nothing-like-it]}\n',
    })
    await place.write('workspace/skills/pdf/SKILL.md', '---\nname: pdf\ndescription: Reads.\n---\n')
    assert.deepEqual(await unknownIn(place), [
      ['warning', 1, 20, 'skills.entries.pfd', 'Write pdf.'],
      ['info', 1, 42, 'skills.entries.elsewhere', 'Fix the name, or remove it. All names: nexus skills list --all'],
      ['warning', 1, 94, 'skills.disabled_skills[1]', 'Write pdf.'],
      ['warning', 1, 28, 'skills.disabled_skills[2]', 'Fix the name, or remove it. All names: nexus skills list --all'],
      ['warning', 2, 45, 'agents[0].skills[1]', 'Write pdf.'],
    ])
  })

  it('is none that is held, broken, or known by its skillKey', async () => {
    await using place = await makePlace({ user: 'skills: {entries: {a: {}, b: {}, key: {}}}' })
    await place.write(
      'workspace/skills/a/SKILL.md',
      '---\nname: a\ndescription: A.\nmetadata: {nexus: {requires: {bins: [no-such-program]}}}\n---\n',
    )
    await place.write('workspace/skills/b/SKILL.md', '---\nname: b\n')
    await place.write(
      'home/.nexus/skills/c/SKILL.md',
      '---\nname: c\ndescription: C.\nmetadata: {nexus: {skillKey: key}}\n---\n',
    )
    assert.deepEqual(await unknownIn(place), [])
  })
})
