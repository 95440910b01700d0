import assert from 'node:assert/strict'
import { chmodSync, statSync } from 'node:fs'
import { join, relative } from 'node:path'
import { test } from 'node:test'
import { Owners } from '../../../src/machine/programs/index.ts'
import { makeHome } from './home.ts'
import { CASES } from './layouts.ts'

for (const [name, each] of Object.entries(CASES)) {
  test(`finds ${name}, and refuses it where others can write`, (context) => {
    const home = makeHome(context)
    each.lay(home)
    const path = [...(each.path ?? ['.local/bin']).map((directory) => join(home.path, directory)), '/usr/bin']
    const found = home.search({ path, variables: each.variables?.(home) ?? {} }).locate(each.asks)
    assert.equal(found.type, 'found', JSON.stringify(found))
    if (found.type !== 'found') return
    const below = (whole: string): string => relative(home.path, whole)
    assert.deepEqual(
      {
        kind: found.kind,
        file: below(found.file),
        places: found.places.map((place) => below(place.path)).toSorted(),
        links: found.links.map((link) => below(link.path)).toSorted(),
      },
      { kind: each.kind, file: each.file, places: each.places.toSorted(), links: (each.links ?? []).toSorted() },
    )
    const owners = new Owners(process.getuid?.() ?? -1)
    assert.equal(owners.ofWays(found), undefined)
    for (const { path } of found.places) {
      const { mode } = statSync(path)
      chmodSync(path, 0o777)
      assert.deepEqual(owners.ofWays(found), { path, why: 'every account can write to it' })
      chmodSync(path, mode)
    }
  })
}
