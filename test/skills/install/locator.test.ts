import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Locator, readLocator } from '../../../src/skills/install/index.ts'

const read = (what: string): Locator => readLocator(what, { cwd: '/here' })
const GITHUB = 'https://github.com/acme/tools'

const READ: Readonly<Record<string, Partial<Extract<Locator, { type: 'git' }>>>> = {
  'acme/tools': {},
  'acme/tools/skills/pdf': { path: 'skills/pdf' },
  'acme/tools@pdf': { skill: 'pdf' },
  'acme/tools#v1.0': { ref: 'v1.0' },
  'acme/tools#feature/x@pdf': { ref: 'feature/x', skill: 'pdf' },
  [`${GITHUB}/`]: {},
  [`${GITHUB}?tab=readme-ov-file#usage`]: {},
  [`${GITHUB}/tree/feature/x/skills/pdf`]: { refAndPath: 'feature/x/skills/pdf' },
  [`${GITHUB}/blob/main/skills/pdf/SKILL.md?plain=1#L3`]: { refAndPath: 'main/skills/pdf' },
  [`${GITHUB}/tree/main/my%20skills`]: { refAndPath: 'main/my skills' },
  'https://gitlab.com/a/b/c/-/tree/main/skills?ref_type=heads': {
    url: 'https://gitlab.com/a/b/c',
    refAndPath: 'main/skills',
  },
  'https://gitea.example/a/b/src/branch/main/skills': { url: 'https://gitea.example/a/b', refAndPath: 'main/skills' },
  'git@git.example:team/tools.git#main': { url: 'ssh://git@git.example/team/tools.git', ref: 'main' },
}

test('an address is read as it is copied from a browser, typed short, or given to git', () => {
  for (const [what, expected] of Object.entries(READ))
    assert.deepEqual(read(what), { type: 'git', url: GITHUB, ...expected }, what)
  assert.deepEqual(read('./x.skill'), { type: 'archive', path: '/here/x.skill' })
  assert.deepEqual(read('./x'), { type: 'directory', path: '/here/x' })
  assert.deepEqual(read('https://x.example/a.tar.gz?v=1'), {
    type: 'archive-url',
    url: 'https://x.example/a.tar.gz?v=1',
  })
})

test('an address with a damaged escape or with dots is refused as one that a person typed', () => {
  for (const path of ['%E0%A4%A', 'a%2f..%2fb', '%2f..'])
    assert.throws(() => read(`${GITHUB}/tree/main/${path}`), { code: 'INVALID_ARGUMENT' }, path)
})
