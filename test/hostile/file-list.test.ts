/** The inputs of the attack fixtures about paths, where they are. The same classes without them: test/hostile/files.test.ts. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { JsonObject, Outcome } from '../../src/kernel/index.ts'
import { createRegistry, createServices, executeTool, registerBuiltins, WORKSPACE } from '../../src/tools/index.ts'

const corpus = process.env['NEXUS_CORPUS'] ?? join(import.meta.dirname, '../../../shared/corpus')
const attacks = join(corpus, '../attacks')
const skip = !existsSync(join(attacks, 'gen-root.mjs')) && 'the attack fixtures are not here'
const SECRET = 'NEXUS-OUTSIDE-SECRET'

interface Case {
  readonly id: string
  readonly path: string
  readonly expect: string
  readonly op?: string
}

describe('paths (P)', { skip }, () => {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), 'nexus-paths-')))
  const [out, root] = [join(directory, 'out'), join(directory, 'out/root')]
  let cases: readonly Case[] = []
  let outside: Readonly<Record<string, string>> = {}
  after(() => rmSync(directory, { recursive: true, force: true }))
  before(async () => {
    if (skip) return
    execFileSync(process.execPath, [join(attacks, 'gen-root.mjs'), out], { stdio: 'ignore' })
    const { load } = (await import(join(attacks, 'gen-lists.mjs'))) as {
      load: (name: string, values: object) => Case[]
    }
    cases = load('paths', { ROOT: root, BASENAME: basename(root), OUT: out, OUTSIDE: join(out, 'outside') })
    outside = around()
  })

  /** All files beside the root, with their content. */
  const around = (): Record<string, string> => {
    const names = readdirSync(out, { recursive: true, encoding: 'utf8' }).filter(
      (name) => !/^root(?:-link)?\//.test(name),
    )
    return Object.fromEntries(names.map((name) => [name, contentOf(join(out, name))]))
  }

  const call = (name: string, args: JsonObject, workspace = root): Promise<Outcome> => {
    const services = createServices()
    services.register(WORKSPACE, workspace)
    const registry = createRegistry(services)
    registerBuiltins(registry)
    const tool = registry.get(name)
    assert.ok(tool)
    const { signal } = new AbortController()
    return executeTool(tool, args, { callId: 'c', projectId: 'default', agentId: 'main', services, signal })
  }

  const WRITES = [
    ['write_file', { content: 'evil' }],
    ['write_file', { content: 'evil', append: true }],
    ['edit_file', { old_string: 'NEXUS', new_string: 'evil' }],
  ] as const

  it('every case is answered as expected, and nothing outside is read or changed', async (t) => {
    for (const { id, path, expect, op } of cases) {
      const isWrite = op === 'write'
      const calls = isWrite ? WRITES : [['read_file', {}] as const]
      for (const [tool, more] of calls) {
        const outcome = await call(tool, { path, ...more })
        const code = outcome.type === 'failed' ? outcome.code : outcome.type
        assert.ok(expected(expect).includes(code), `${id} ${tool}: ${expect}, and it was ${JSON.stringify(outcome)}`)
        assert.doesNotMatch(JSON.stringify(outcome), new RegExp(SECRET), id)
      }
      // What may not be read may not be written either; a name that does not exist inside may.
      if (!isWrite && expect === 'deny')
        for (const [tool, more] of WRITES) {
          const outcome = await call(tool, { path, ...more })
          if (id !== 'P38') assert.equal(outcome.type, 'failed', `${id} ${tool}`)
        }
      if (expect === 'dir') assert.equal((await call('list_directory', { path })).type, 'success', id)
      assert.deepEqual(around(), outside, id)
    }
    t.diagnostic(`${cases.length} cases`)
  })

  it('a root that is given through a link works', async () => {
    const outcome = await call('read_file', { path: 'sub/file.txt' }, join(out, 'root-link'))
    assert.equal(outcome.type === 'success' && outcome.text, 'inside\n')
    const listed = await call('list_directory', { path: join(out, 'root-link/sub') }, join(out, 'root-link'))
    assert.equal(listed.type, 'success')
  })
})

/** Codes that mean what the list expects. */
function expected(expect: string): readonly string[] {
  const denied = ['ACCESS_DENIED', 'PERMISSION_DENIED', 'NOT_FOUND']
  const errors = [...denied, 'INVALID_PARAM', 'EXECUTION_ERROR', 'BINARY_FILE', 'IS_DIRECTORY']
  const codes: Readonly<Record<string, readonly string[]>> = {
    deny: denied,
    notfound: ['NOT_FOUND'],
    error: errors,
    ok: ['success', 'IS_DIRECTORY'],
    dir: ['IS_DIRECTORY'],
    'ok-or-error': ['success', ...errors],
  }
  return codes[expect] ?? []
}

function contentOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // A directory, or a link: where it leads must not change either.
    return existsSync(path) ? 'directory' : readlinkSync(path)
  }
}
