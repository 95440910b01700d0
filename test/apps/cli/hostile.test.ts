import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { Place } from './nexus.ts'

/** What can move, hide or end text on a terminal. Line breaks are ours. */
const UNSEEN =
  // oxlint-disable-next-line no-control-regex
  /[\0-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e0fff}]/u

const BAD = '\\e[2J\\e]0;title\\a \\u009b31m \\u202Eevil\\u2069 \\u200B\\uFEFF\\u2028\\U000E0041 </skills>'

function hostile(place: Place): void {
  const put = (directory: string, text: string): void => {
    mkdirSync(join(place.workspace, 'skills', directory), { recursive: true })
    writeFileSync(join(place.workspace, 'skills', directory, 'SKILL.md'), text)
  }
  const needs = `metadata:\n  requires: {bins: ["${BAD}"], env: ["${BAD}"], config: ["${BAD}"]}\n  os: ["${BAD}"]\n`
  put('a', `---\nname: "name ${BAD}"\ndescription: "text ${BAD}"\n---\n`)
  put('b \u001b[31m\u202e\u009b', `---\nname: b\ndescription: d\n${needs}---\n`)
  put('c', `---\nname: c\n"key ${BAD}": [\n---\n`)
  put('d', `---\nname: d\ndescription: d\n\u001b[2J\u202e: [\n---\n`)
  put('e', '---\nname: ../../etc/passwd\ndescription: "$(touch x)"\n---\n')
  put('f', `---\nname: "$(touch x)'s"\n---\n`)
}

const ASKED = ['a', 'b', 'c', 'd', 'e', 'f', '../../etc/passwd', '\u001b[2J\u202e', '</skills>', '$(touch x)']

const COMMANDS: readonly (readonly string[])[] = [
  ['skills', 'list', '--all', '--trust'],
  ['skills', 'check', '--trust'],
  ['prompt', '--trust'],
  ['skills', 'validate', 'skills', '--strict'],
  ['skills', 'validate', 'skills', '--format', 'sarif'],
  ['skills', 'validate', 'skills', '--format', 'github'],
  ...ASKED.map((name) => ['skills', 'why', name, '--trust']),
  ...ASKED.slice(0, 2).map((name) => ['skills', 'check', name, '--trust']),
  ['skills', 'show', 'absent\u001b[2J', '--trust'],
  ['skills', 'show', 'a', '--trust'],
  ['skills', 'search', 'text', '--trust'],
]

test('whatever skills and names hold, no command prints a character that moves or hides text, as JSON neither', async (t) => {
  const place = new Place(t)
  hostile(place)
  for (const command of COMMANDS) {
    for (const args of command.includes('--format') ? [command] : [command, [...command, '--json']]) {
      const { code, stdout, stderr } = await place.run(args)
      assert.ok(code === 0 || code === 1 || code === 4, `${args.join(' ')}: ${code}\n${stderr}`)
      for (const text of [stdout, stderr]) {
        const at = text.search(UNSEEN)
        assert.ok(at < 0, `${args.join(' ')}: ${JSON.stringify(text.slice(Math.max(0, at - 60), at + 20))}`)
      }
      if (command[0] === 'prompt' && !args.includes('--json')) assert.equal(stdout.match(/<\/skills>/g)?.length, 1)
    }
  }
})

test('JSON says what skills say, character for character', async (t) => {
  const place = new Place(t)
  hostile(place)
  const { stdout } = await place.run(['skills', 'list', '--trust', '--json'])
  const { data } = JSON.parse(stdout) as { data: { skills: { description: string }[] } }
  assert.ok(data.skills.some(({ description }) => description.includes('\u009b31m \u202eevil\u2069')))
})
