import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { frameLines } from '../../src/config/document/frame-lines.ts'

/** The lines as they would be shown. */
function shown(text: string, secrets: readonly string[] = []): string {
  return frameLines(text, secrets).lines.join('\n')
}

const SECRET = 'hunter2-Zq9'

describe('the lines beside a finding', () => {
  it('are those of the file where values are public, misspelt keys and wrong values among them', () => {
    const text = [
      '\uFEFFmodel: openai/gpt-5',
      'limits: { maxIterations: 5, toolTimeoutMs: 30 }',
      'agents:',
      '  - id: "main"',
      '    tools:',
      "      deny: [run_command, 'x']",
      'skills:',
      '  prompt:',
      '    style: fancy',
      '  load: {extraDirs: [~/a, ./b]}',
      'execution: {sandbox: docker}',
      'permissions: {presets: {mine: {allowedPaths: [/a]}}}',
      'secrets: {providers: {v: {source: vlt}}}',
    ].join('\n')
    assert.equal(shown(text), text)
    assert.equal(
      shown('disabled_skils: [old]\ntools:\n  web-search:\n    enabled: true'),
      'disabled_skils: [hidden]\ntools:\n  web-search:\n    enabled: true',
    )
    assert.equal(shown('agents:\n  - id: main\n    skils: [csv]'), 'agents:\n  - id: main\n    skils: [csv]')
    // No YAML: a word behind the name of a setting is shown unless such a setting is a secret.
    assert.equal(shown('agents:\n  - id: main\n skils: [a'), 'agents:\n  - id: main\n [hidden]')
    assert.equal(shown('search:\n  apiKey: swordfish\n x: [a'), 'search:\n  apiKey: [hidden]\n [hidden]')
  })

  const HIDING: readonly (readonly [string, string])[] = [
    [`model: {provider: openai, apiKey: ${SECRET}, nme: x}`, 'model: {provider: openai, apiKey: [hidden], nme: x}'],
    [`search:\n  apikey: ${SECRET}`, 'search:\n  apikey: [hidden]'],
    [`search:\n  apiKey: |\n    ${SECRET}\n    more`, 'search:\n  apiKey: [hidden]\n    [hidden]\n    [hidden]'],
    [`search:\n  apiKey:\n    "${SECRET}\n    more"`, 'search:\n  apiKey:\n    [hidden]\n    [hidden]'],
    [`search: {apiKey: [${SECRET}]}`, 'search: {apiKey: [hidden]}'],
    [`skills: {entries: {x: {config: {a: [1, ${SECRET}]}}}}`, 'skills: {entries: {x: {config: {a: [hidden]}}}}'],
    [
      `search:\n  # a: [${SECRET}]\n  url: http://u:${SECRET}@h # b`,
      'search:\n  # [hidden]\n  url: [hidden] # [hidden]',
    ],
    [`search:\n  apiKey ${SECRET}`, 'search:\n  [hidden]'],
    [`search: {apiKey ${SECRET}, maxResults: 99}`, 'search: {[hidden], maxResults: 99}'],
    [`search: {apiKey: &${SECRET} x}`, 'search: {apiKey: [hidden]}'],
    [`search: {apiKey: *${SECRET}}`, 'search: {apiKey: [hidden]}'],
    [`- ${SECRET}`, '- [hidden]'],
    // No YAML: only names of settings at the beginning of a line are keys for sure.
    [`search:\n  apiKey: "${SECRET}\nlimits: {a: 1}`, 'search:\n  apiKey: [hidden]\nlimits: [hidden]'],
    [`a: [\n${SECRET}: x`, '[hidden]\n[hidden]'],
  ]
  for (const [text, hidden] of HIDING) {
    it(`hide what is not public: ${text.replaceAll(SECRET, '…').replaceAll('\n', '⏎')}`, () => {
      assert.equal(shown(text), hidden)
    })
  }

  it('hide a known secret also where it does not belong', () => {
    assert.equal(shown(`model: openai/${SECRET}`, [SECRET]), 'model: openai/[hidden]')
  })

  it('keep the place of what follows on the line', () => {
    const { lines, columnOf } = frameLines(`search: {apiKey: ${SECRET}, maxResults: 99}`, [])
    const at = columnOf(1, `search: {apiKey: ${SECRET}, `.length + 1)
    assert.equal(lines[0]?.slice(at - 1), 'maxResults: 99}')
    assert.equal(columnOf(1, 'search: {apiKey: '.length + 3), 'search: {apiKey: '.length + 1)
  })
})
