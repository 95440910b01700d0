import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkServer } from '../../../src/apps/clients/index.ts'

/** A server as a client starts it: this Node with a script. */
function check(script: string, timeoutMs = 20_000) {
  return checkServer({ command: [process.execPath, '-e', script], environment: {}, cwd: '/', timeoutMs })
}

const ANSWERS = `
process.stdin.setEncoding('utf8').on('data', (text) => {
  for (const line of text.split('\\n').filter(Boolean)) {
    const { id, method } = JSON.parse(line)
    if (id === undefined) continue
    const result = method === 'initialize'
      ? { protocolVersion: '2025-11-25', capabilities: {}, serverInfo: { name: 'demo', version: '1' } }
      : { tools: [{ name: 'a', inputSchema: { type: 'object' } }, { name: 'b', inputSchema: { type: 'object' } }] }
    console.log(JSON.stringify({ jsonrpc: '2.0', id, result }))
  }
})`

test('a server that answers is named with its protocol and tools', async () => {
  const { ms, ...result } = (await check(ANSWERS)) as { ms: number }
  assert.deepEqual(result, { type: 'answered', name: 'demo', protocol: '2025-11-25', tools: 2 })
  assert.ok(ms > 0)
})

for (const [what, script, code, says] of [
  ['a server that ends', 'console.error("no key"); process.exit(3)', 'mcp-ended', /exit code 3\. It wrote: no key/],
  ['a server that is killed', 'process.kill(process.pid, "SIGKILL")', 'mcp-ended', /signal SIGKILL/],
  ['a banner on stdout', `console.log('Welcome \\u001b[31m'); ${ANSWERS}`, 'mcp-noise', /not an MCP message: Welcome$/],
  [
    'an error in place of an answer',
    `process.stdin.once('data', () => [1, 2].forEach((id) => console.log(JSON.stringify({ jsonrpc: '2.0', id, error: { code: 1, message: 'untrusted' } }))))`,
    'mcp-refused',
    /untrusted/,
  ],
] as const)
  test(`${what} is a fault with its cause`, async () => {
    const result = await check(script)
    assert.ok(result.type === 'fault')
    assert.equal(result.code, code)
    assert.match(result.message, says)
    assert.ok(!result.message.includes('\u001b'))
  })

test('a server that does not answer is given up, with what it wrote', async () => {
  const result = await check('console.error("waiting"); setInterval(() => {}, 1000)', 1_000)
  assert.ok(result.type === 'fault')
  assert.equal(result.code, 'mcp-silent')
  assert.match(result.message, /within 1 s\. It wrote: waiting/)
})

test('a program that a client does not find is named, with the directories that it searches', async () => {
  for (const program of ['/nowhere/node', 'a-program-that-is-not-there']) {
    const result = await checkServer({ command: [program], environment: {}, cwd: '/' })
    assert.ok(result.type === 'fault')
    assert.equal(result.code, 'mcp-not-started')
    assert.match(result.message, new RegExp(`${program}: it is not`))
  }
})
