import assert from 'node:assert/strict'
import { test } from 'node:test'
import { estimateTokens } from '../../../src/skills/catalog/index.ts'
import { checkStrict, type Profile } from '../../../src/skills/format/index.ts'

function found(body: string, { files, profile = 'spec' }: { files?: readonly string[]; profile?: Profile } = {}) {
  const text = `---\nname: a\ndescription: d\n---\n${body}`
  const { diagnostics } = checkStrict(text, { path: 'p', directoryName: 'a', profile, ...(files && { files }) })
  return diagnostics.map(({ severity, code, line, column }) => `${severity} ${code} ${line}:${column}`)
}

test('an empty body is worth a note', () => {
  assert.deepEqual(found(' \n'), ['info body-empty 5:1'])
})

test('500 lines are recommended at most, and 5,000 tokens', () => {
  assert.deepEqual(found('a\n'.repeat(500)), [])
  assert.deepEqual(found('a\n'.repeat(501)), ['info body-long 5:1'])
  assert.deepEqual(found('word '.repeat(4_000)), [])
  assert.deepEqual(found('word '.repeat(4_001)), ['info body-tokens 5:1'])
  assert.deepEqual(found('字'.repeat(5_001)), ['info body-tokens 5:1'])
  assert.deepEqual(found('🙂'.repeat(5_001)), ['info body-tokens 5:1'])
})

test('a relative link to no file of the skill is found where it stands', () => {
  const files = ['references/guide.md', 'assets/a b.png', 'über.md']
  const body = [
    '[ok](references/guide.md) [also](./references/guide.md#part) ![p](assets/a%20b.png) ![p](<assets/a b.png>)',
    '[directory](references/) [unicode](u\u0308ber.md) [here]({baseDir}/references/guide.md)',
    '[web](https://example.com/x) [anchor](#x) [mail](mailto:a@b.c) [root](/etc) [any](<path>) [t](${X}/y)',
    'text [gone](references/none.md "title") and `[code](nope.md)`',
    '```md\n[example](nope.md)\n```',
    '[out](../other/SKILL.md)',
    '[paren](a_(b).md)',
  ].join('\n')
  assert.deepEqual(found(body, { files }), ['info link-target 8:13', 'info link-target 12:7', 'info link-target 13:9'])
  assert.deepEqual(found(body), [])
})

test('the place of a finding in the body is right with CRLF and a byte order mark', () => {
  const text = '\uFEFF---\r\nname: a\r\ndescription: d\r\n---\r\nOne\r\nTwo {basedir}\r\n'
  const { diagnostics } = checkStrict(Buffer.from(text), { path: 'p', profile: 'spec' })
  const last = diagnostics.at(-1)
  assert.deepEqual([last?.code, last?.line, last?.column], ['placeholder-unknown', 6, 5])
})

test('placeholders that nothing fills in are named once', () => {
  assert.deepEqual(found('{baseDir} ${CLAUDE_SKILL_DIR} ${NEXUS_SKILL_DIR} {other} ${HOME} {{x}} const {a} = b'), [])
  assert.deepEqual(found('${baseDir} {base_dir} {{baseDir}} ${CLAUDE_PLUGIN_ROOT}\n{base_dir}'), [
    'info placeholder-unknown 5:1',
    'info placeholder-unknown 5:12',
    'info placeholder-unknown 5:23',
    'info placeholder-unknown 5:35',
  ])
  assert.deepEqual(found('${CLAUDE_PLUGIN_ROOT}', { profile: 'claude' }), [])
})

test('hostile bodies cost time in proportion to their size', () => {
  for (const piece of ['[', '](', '](x', '`](x)', '{', '{ ', '${CLAUDE_', '](<', '](((((', '```\n](x)\n', '\n']) {
    found(piece.repeat(Math.ceil(400_000 / piece.length)), { files: ['x'] })
  }
})

test('a body costs as many tokens as the catalog would estimate, whatever its alphabet', () => {
  for (const piece of ['word ', 'größe ', '日本語', '🙂', 'a🙂é日 ', '\u2e7f\u2e80', '\ud83d\u00e9']) {
    const body = piece.repeat(8_000).toWellFormed()
    const text = `---\nname: a\ndescription: d\n---\n${body}`
    const { diagnostics } = checkStrict(text, { path: 'p', directoryName: 'a', profile: 'spec' })
    const said = diagnostics.find(({ code }) => code === 'body-tokens')?.message ?? ''
    assert.ok(said.includes(`about ${estimateTokens(body)} tokens`), `${piece}: ${said}`)
  }
})
