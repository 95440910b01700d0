// npm run bench -- files
// What read_file costs beside fs.readFile, for a file of 1 MB that is given whole. The texts are compared before anything is timed.
import assert from 'node:assert/strict'
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createRegistry, createServices, executeTool, FILES, registerBuiltins, WORKSPACE } from '../dist/tools/index.js'
import { median, printTable, spread } from './measure.mjs'

const BYTES = 1024 * 1024
const LINE = 'const answer = compute(question, { depth: 42 }) // a line as in a source file\n'
const READS = 200
const TEXTS = {
  ASCII: LINE,
  'with letters of other alphabets': LINE.replace('answer', 'größe'),
}

export async function files(runs) {
  const workspace = realpathSync(mkdtempSync(join(tmpdir(), 'nexus-bench-files-')))
  try {
    const services = createServices()
    services.register(WORKSPACE, workspace)
    services.register(FILES, { answer: { maxLines: Infinity, maxBytes: Infinity } })
    const registry = createRegistry(services)
    registerBuiltins(registry)
    const tool = registry.get('read_file')
    const { signal } = new AbortController()
    const context = { callId: 'c', projectId: 'default', agentId: 'main', services, signal }
    const limits = { maxLines: Infinity, maxBytes: Infinity }
    const rows = []
    for (const [name, line] of Object.entries(TEXTS)) {
      const path = join(workspace, 'file.txt')
      writeFileSync(path, line.repeat(Math.ceil(BYTES / Buffer.byteLength(line))))
      const ways = {
        fs: () => readFile(path, 'utf8'),
        tool: async () => (await tool.execute({ path: 'file.txt' }, context)).text,
        call: async () => (await executeTool(tool, { path: 'file.txt' }, context, { limits })).text,
      }
      const [expected, ...texts] = await Promise.all(Object.values(ways).map((way) => way()))
      for (const text of texts) assert.equal(text, expected)
      const times = { fs: [], tool: [], call: [] }
      for (let run = 0; run < runs; run++)
        for (const [way, read] of Object.entries(ways)) times[way].push(await timeOf(read))
      const ratios = (way) => spread(times[way].map((time, run) => time / times.fs[run]))
      rows.push([name, median(times.fs).toFixed(2), ratios('tool'), ratios('call'), '≤ 2'])
    }
    printTable(
      'read_file of 1 MB, unbounded',
      ['text', 'fs.readFile, ms', 'the tool, ratio', 'through executeTool, ratio', 'goal of the tool'],
      rows,
    )
  } finally {
    rmSync(workspace, { recursive: true, force: true })
  }
}

/** Milliseconds of one read. */
async function timeOf(read) {
  const startedAt = performance.now()
  for (let index = 0; index < READS; index++) await read()
  return (performance.now() - startedAt) / READS
}
