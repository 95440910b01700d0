import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import test from 'node:test'
import { startModelServer } from '../../../src/testing/index.ts'
import { Place } from './nexus.ts'

const MIB = 1024 * 1024

/** Runs a command as a model's call; gives what the model got of it. */
async function runByModel(place: Place, command: string): Promise<string> {
  let answer = ''
  const server = await startModelServer({
    script: (request) => {
      const text = JSON.stringify(request)
      if (!text.includes('Exit code'))
        return { type: 'tool-calls', calls: [{ name: 'run_command', arguments: { command } }] }
      answer = text
      return { type: 'text', text: 'Done.' }
    },
  })
  try {
    const flags = ['--model', 'openai-compatible/scripted', '--base-url', server.url]
    const { code, stderr } = await place.run(['run', 'Print it', '--trust', '--yes', ...flags])
    assert.equal(code, 0, stderr)
    return answer
  } finally {
    await server.close()
  }
}

test('of 50 MB the model sees the beginning and where the rest is, and the rest is printed whole', async (t) => {
  const place = new Place(t)
  // Not every byte is UTF-8, and what a terminal acts on is among them.
  const command = `head -c ${50 * MIB} /dev/zero | tr '\\0' 'x'; printf '\\nend \\377 \\033[31mred\\n'`
  const answer = await runByModel(place, command)
  assert.ok(answer.length < 200_000, `${answer.length} characters`)
  const [, id = ''] = /--output ([0-9a-f]{32})/.exec(answer) ?? []
  const whole = Buffer.concat([Buffer.alloc(50 * MIB, 'x'), Buffer.from('\nend \xff \x1b[31mred\n', 'latin1')])

  const child = place.start(['sessions', 'show', '--output', id])
  const hash = createHash('sha256')
  let bytes = 0
  child.stdout?.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    hash.update(chunk)
  })
  const code = await new Promise((resolve) => child.on('close', resolve))
  assert.deepEqual([code, bytes], [0, whole.length])
  assert.equal(hash.digest('hex'), createHash('sha256').update(whole).digest('hex'))

  // The beginning of the id, and the path that the envelope has, are enough.
  const shown = await place.run(['sessions', 'show', '--output', `tool-output/${id.slice(0, 20)}`])
  assert.equal(shown.code, 0, shown.stderr)
})

test('a terminal gets visible text of a saved output only', async (t) => {
  const place = new Place(t)
  const answer = await runByModel(place, `seq 1 9000; printf '\\033[31mred\\033]0;title\\007\\r\\n'`)
  const [, id = ''] = /--output ([0-9a-f]{32})/.exec(answer) ?? []
  const line = [...place.line(['sessions', 'show', '--output', id])].map((word) => `'${word}'`).join(' ')
  // `script` gives the command a terminal.
  const child = spawn('script', ['-qec', line, '/dev/null'], place.options())
  const chunks: Buffer[] = []
  child.stdout?.on('data', (chunk: Buffer) => chunks.push(chunk))
  await new Promise((resolve) => child.on('close', resolve))
  const text = Buffer.concat(chunks).toString()
  assert.match(text, /8999\r?\n9000\r?\nred\r?\n$/)
  assert.ok(!text.includes('\u001b]0'), 'the title of the window was set')
})

test('an unknown output, and --json, are refused with what to do', async (t) => {
  const place = new Place(t)
  const unknown = await place.run(['sessions', 'show', '--output', 'abc'])
  assert.equal(unknown.code, 4)
  assert.match(unknown.stderr, /No saved output has the id abc, or it was removed: outputs are kept for 7 days/)
  const json = await place.run(['sessions', 'show', '--output', 'abc', '--json'])
  assert.equal(json.code, 2)
})
