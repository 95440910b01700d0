import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Place } from '../cli/nexus.ts'
import { whySkipped } from '../../machine/sandbox/required.ts'
import { ROOT } from '../../source-tree.ts'
import { runSession, type Line } from './session.ts'
import { pictureOf } from './session-picture.ts'

const FILE = join(ROOT, 'docs/pictures/mcp.svg')
const TITLE = 'nexus mcp install, and a client that loads a skill and runs its script'

/** Which skills are held depends on the programs of the machine; how many tools there are is tested elsewhere. */
const isOfMachine = ({ text }: Line): boolean => /^held: |: MCP .* tools$/.test(text)

test('the session in the picture of the README happens as it is shown', { skip: whySkipped() ?? false }, async (t) => {
  const lines = await runSession(new Place(t))
  // `npm run picture`
  if (process.argv.includes('--update')) writeFileSync(FILE, pictureOf(lines, TITLE))
  const shown = readFileSync(FILE, 'utf8')
  for (const { kind, text } of lines.filter((line) => !isOfMachine(line)))
    for (const row of rowsOf(pictureOf([{ kind, text }], TITLE))) assert.ok(rowsOf(shown).includes(row), row)
  assert.ok(lines.some(({ text }) => text.includes('"total":240')))
  assert.ok(lines.some(({ text }) => /^Note: The command could not reach example\.com/.test(text)))
})

function rowsOf(svg: string): readonly string[] {
  return [...svg.matchAll(/<text[^>]*>(.*)<\/text>/g)].map(([, row = '']) => row)
}
