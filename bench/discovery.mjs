// Discovery in process: ours and the peers' against a loop that only reads the files. Values are compared first.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { median, pairs, printTable, ratios, runOnce, show, spread } from './measure.mjs'
import { DISCOVERIES, locate } from './peers.mjs'

const OURS = ['nexus, discover', 'nexus, discover, unchanged', 'nexus, discover + gate + catalog', 'nexus, strict']
const ROOT = join(import.meta.dirname, '..')

/** Every name and description equals what the full YAML parser reads. Throws when one does not. */
export async function checkValues(root) {
  const { createFolderSource, discover } = await import(pathToFileURL(join(ROOT, 'dist/skills/sources/index.js')).href)
  const { parse } = await import('yaml')
  const source = createFolderSource({ id: 'bench', tier: 'extra', rank: 0, trusted: true, path: root })
  const { skills, invalid } = await discover([source])
  const names = readdirSync(root)
  if (skills.length !== names.length) throw new Error(`${skills.length} of ${names.length} skills were found`)
  for (const skill of skills) {
    const text = readFileSync(skill.file, 'utf8')
      .replace(/^\ufeff/, '')
      .replaceAll('\r\n', '\n')
    const expected = parse(/^---\n([^]*?)\n---\n/.exec(text)[1])
    for (const key of ['name', 'description']) {
      if (skill[key] !== expected[key].trim())
        throw new Error(
          `${skill.file}: ${key} is ${JSON.stringify(skill[key])}, YAML says ${JSON.stringify(expected[key])}`,
        )
    }
  }
  console.log(`values: ${skills.length} names and descriptions equal the full YAML parser's, ${invalid.length} invalid`)
}

export function discovery({ root, projects, count, runs }) {
  const probe = (variant) => () => {
    const { stdout } = runOnce({
      label: variant,
      argv: [process.execPath, join(import.meta.dirname, 'probe.mjs'), variant, root, projects],
    })
    return JSON.parse(stdout.toString().trim().split('\n').at(-1))
  }
  const peers = Object.keys(DISCOVERIES).filter((name) => locate(DISCOVERIES[name].package) !== undefined)
  const rows = []
  for (const variant of [...OURS, ...peers]) {
    try {
      const found = pairs(OURS.includes(variant) ? runs : Math.min(runs, 3), probe('read'), probe(variant))
      const some = found.at(-1).b
      rows.push([
        variant,
        spread(ratios(found, 'first')),
        spread(ratios(found, 'later')),
        show(median(found.map(({ b }) => b.first))),
        show(median(found.map(({ b }) => b.rss))),
        some.count === count ? some.count : `${some.count} (!)`,
      ])
    } catch (error) {
      rows.push([variant, 'failed', error.message.split('\n')[0].slice(0, 80)])
    }
  }
  printTable(
    `Discovery in process, ${count} skills (× a loop that reads the same files synchronously)`,
    ['variant', '× first call', '× later calls', 'first, ms', 'peak MiB', 'skills'],
    rows,
  )
}
