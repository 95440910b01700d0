import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FORMAT_LIMITS, parseSkill } from '../../../src/skills/format/index.ts'

const MANY = ' '.repeat(200_000)
const INNER = ' '.repeat(60_000)

/** Short when time is linear in the text. One pattern that is not takes minutes. */
const TEXTS: Readonly<Record<string, string>> = {
  'blanks inside of the description': `---\nname: a\ndescription: "x${INNER}y "\n---\n`,
  'blanks inside of compatibility': `---\nname: a\ndescription: b\ncompatibility: " x${INNER}y "\n---\n`,
  'blanks in a comment behind the opening marker': `--- #${MANY}\u2028x\n`,
  'blanks in a comment behind the closing marker': `---\nname: a\n--- #${MANY}\u2028x\n`,
  'blanks behind dashes': `----${MANY}x\n`,
}

for (const [what, text] of Object.entries(TEXTS)) {
  test(`many ${what} do not block`, { timeout: 4_000 }, () => {
    assert.ok(text.length < FORMAT_LIMITS.maxFileBytes)
    assert.ok(parseSkill(text, { path: 'p' }).diagnostics.length > 0)
  })
}

test('a line of --- and a comment is named as the one that was probably meant as the end', () => {
  for (const line of ['--- # end', '---# end  ', '---   #', ' ---  ', '-----\t', '--', '\u2014\u2014 ']) {
    const [found] = parseSkill(`---\nname: a\n${line}\n`, { path: 'p' }).diagnostics
    assert.match(found?.fix ?? '', /[Ll]ine 3\b/, JSON.stringify(line))
  }
})
