import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { sourceOf } from '../../src/config/index.ts'
import { makePlace } from './place.ts'

/** The lines of the user's nexus.yaml as they would be shown, and where a place of the file is in them. */
async function shown(text: string, variables: Record<string, string> = {}) {
  await using place = await makePlace({ user: text })
  const loaded = await place.load({ variables })
  const source = await sourceOf(loaded, loaded.files[0] ?? '')
  assert.ok(source)
  return { ...source, loaded }
}

const SECRET = 'hunter2-Zq9'

describe('the lines beside a finding', () => {
  it('are those of the file where settings stand that are no secret', async () => {
    const text = [
      'model: openai/gpt-5',
      'limits: { maxIterations: many, toolTimeoutMs: 30 }',
      'agents:',
      '  - id: "main"',
      '    tools:',
      "      deny: [run_command, 'x']",
      'skills:',
      '  prompt:',
      '    style: fancy',
    ]
    assert.deepEqual((await shown(text.join('\n'))).lines, text)
  })

  const HIDING: readonly (readonly [string, string])[] = [
    [
      `model: {provider: openai, apiKey: ${SECRET}, nme: x}`,
      'model: {provider: openai, apiKey: [hidden], nme: [hidden]}',
    ],
    [`search:\n  apikey: ${SECRET}`, 'search:\n  apikey: [hidden]'],
    [`search:\n  apiKey: |\n    ${SECRET}\n    more`, 'search:\n  apiKey: |\n    [hidden]\n    [hidden]'],
    [`search:\n  apiKey:\n    "${SECRET}\n    more"`, 'search:\n  apiKey:\n    [hidden]\n    [hidden]'],
    [`search: {apiKey: [${SECRET}]}`, 'search: {apiKey: [[hidden]]}'],
    [`skills: {entries: {x: {env: {A: ${SECRET}}}}}`, 'skills: {entries: {x: {env: {A: [hidden]}}}}'],
    [
      `skills: {entries: {x: {config: {a: [1, ${SECRET}]}}}}`,
      'skills: {entries: {x: {config: {a: [[hidden], [hidden]]}}}}',
    ],
    [`tools: {github: {token: ${SECRET}}}`, 'tools: {github: {token: [hidden]}}'],
    [
      `mcp: {servers: {a: {command: x, args: [--key, ${SECRET}], url: "http://u:${SECRET}@h"}}}`,
      'mcp: {servers: {a: {command: [hidden], args: [[hidden], [hidden]], url: [hidden]}}}',
    ],
    [
      `search:\n  # ${SECRET}\n  url: http://u:${SECRET}@h # ${SECRET}`,
      'search:\n  # [hidden]\n  url: [hidden] # [hidden]',
    ],
    [`search:\n  apiKey ${SECRET}`, 'search:\n  apiKey [hidden]'],
    [`search:\n  apiKey:${SECRET}`, 'search:\n  apiKey:[hidden]'],
    [`search: {apiKey ${SECRET}, maxResults: 99}`, 'search: {apiKey [hidden], maxResults: 99}'],
    [`search: {apiKey: &${SECRET} x}`, 'search: {apiKey: &[hidden]}'],
    [`search: {apiKey: *${SECRET}}`, 'search: {apiKey: *[hidden]}'],
    [`search: {apiKey: !${SECRET}}`, 'search: {apiKey: ![hidden]}'],
    [`${SECRET}`, '[hidden]'],
    [`- ${SECRET}`, '- [hidden]'],
    [`search: {apiKey: "${SECRET}`, 'search: {apiKey: [hidden]'],
  ]
  for (const [text, hidden] of HIDING) {
    it(`hide what could be a secret: ${text.replaceAll(SECRET, '…').replaceAll('\n', '⏎')}`, async () => {
      const { lines } = await shown(text)
      assert.equal(lines.join('\n'), hidden)
    })
  }

  it('hide a known secret also where it does not belong', async () => {
    const { lines } = await shown(`search: {apiKey: "\${KEY}"}\nmodel: openai/${SECRET}\n`, { KEY: SECRET })
    assert.equal(lines[1], 'model: openai/[hidden]')
  })

  it('keep the place of what follows on the line', async () => {
    const { lines, columnOf } = await shown(`search: {apiKey: ${SECRET}, maxResults: 99}`)
    const at = columnOf(1, `search: {apiKey: ${SECRET}, `.length + 1)
    assert.equal(lines[0]?.slice(at - 1), 'maxResults: 99}')
    assert.equal(columnOf(1, 'search: {apiKey: '.length + 3), 'search: {apiKey: '.length + 1)
  })

  it('are not there for a file that was not read', async () => {
    const { loaded } = await shown('model: openai/x\n')
    assert.equal(await sourceOf(loaded, '/etc/passwd'), undefined)
  })

  it('hold no secret however broken the file is', async () => {
    const { loaded } = await shown('model: openai/x\n')
    const [path = ''] = loaded.files
    const piece = fc.constantFrom(
      'apiKey',
      ': ',
      ':',
      '{',
      '}',
      '[',
      ']',
      ', ',
      '"',
      "'",
      '\n',
      '  ',
      '- ',
      '|',
      '#',
      '&',
      'env',
      'tools',
      '\t',
      SECRET,
    )
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 30 }), async (pieces) => {
        const text = `search:\n  apiKey: ${pieces.join('')}`
        const source = await sourceOf({ ...loaded, secrets: [], textOf: () => text }, path)
        assert.ok(!source?.lines.join('\n').includes(SECRET), text)
      }),
      { numRuns: 500 },
    )
  })
})
