import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { consentOf, pathsUsedByHost } from '../../src/config/index.ts'
import { makePlace } from './place.ts'

describe('what the settings make Nexus run', () => {
  it('is each module without its export, and the directory that it imports from', async () => {
    await using place = await makePlace({ user: 'skills: {custom: ["./tools/a.ts#one", "./b.mjs"]}' })
    const used = pathsUsedByHost(await place.load())
    for (const path of ['tools/a.ts', 'tools', 'b.mjs']) assert.ok(used.includes(join(place.nexusHome, path)), path)
  })
})

describe('what a person sees before they trust a workspace', () => {
  it('hides nothing of a command, be it written like the password of an address', async () => {
    const local = `model: {provider: openai, name: m, baseUrl: "https://u:p/w@h/v1", apiKey: {command: [sh, -c, "x //a:$(evil)@b"]}}`
    await using place = await makePlace({ local })
    const { items } = await consentOf(await place.load())
    assert.deepEqual(
      items.map(({ kind, runsAsUser, subject, line, text }) => [kind, runsAsUser, subject, line, text]),
      [
        ['command', true, 'model.apiKey', 1, '{"command":["sh","-c","x //a:$(evil)@b"]}'],
        ['address', false, 'model.baseUrl', 1, 'https://u:[hidden]@h/v1'],
      ],
    )
  })

  it('hides secrets that are written out, also in comments and misspelt keys, and no reference', async () => {
    const local = [
      '# apiKey: sk-comment-1',
      'search: {provider: brave, apiKey: "sk-secret123"}',
      'skills:',
      '  entries:',
      '    a: {apikey: sk-secret456, env: {A: plainsecret, B: "${B}"}}',
      '    b: {apiKey: {command: [pass, show, token]}}',
      'mcp: {servers: {s: {command: node, env: {NODE_OPTIONS: --require=./x.js, S_TOKEN: sk-secret789}}}}',
    ].join('\n')
    await using place = await makePlace({ local })
    const { text = '', items } = await consentOf(await place.load())
    assert.deepEqual(text.split('\n'), [
      '# apiKey: [hidden, 12 characters]',
      'search: {provider: brave, apiKey: [hidden, 12 characters]}',
      'skills:',
      '  entries:',
      '    a: {apikey: [hidden, 12 characters], env: {A: [hidden, 11 characters], B: "${B}"}}',
      '    b: {apiKey: {command: [pass, show, token]}}',
      'mcp: {servers: {s: {command: node, env: {NODE_OPTIONS: --require=./x.js, S_TOKEN: [hidden, 12 characters]}}}}',
    ])
    const server = items.find(({ kind }) => kind === 'server')?.text ?? ''
    assert.match(server, /NODE_OPTIONS":"--require=/)
    assert.match(server, /"S_TOKEN":"\[hidden, 12 characters\]"/)
  })

  it('is every file of the workspace, and none of the user', async () => {
    await using place = await makePlace({ user: 'skills: {custom: [./mine.mjs]}', local: 'limits: {maxIterations: 2}' })
    const configPath = await place.write('workspace/ci/more.yaml', 'skills: {custom: [./theirs.mjs]}')
    const { items, text, shown } = await consentOf(await place.load({ configPath }))
    assert.deepEqual(
      items.map(({ path, text: value }) => [path, value]),
      [[configPath, './theirs.mjs']],
    )
    assert.equal(shown.size, 2)
    assert.match(text ?? '', /# nexus\.yaml\nlimits[\s\S]*# ci\/more\.yaml\nskills/)
  })

  it('is nothing where there is no file', async () => {
    await using place = await makePlace({ user: 'model: openai/x' })
    assert.deepEqual(await consentOf(await place.load()), { items: [], shown: new Map(), text: undefined })
  })
})
