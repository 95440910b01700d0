/** The URLs of the attack fixtures (U), where they are, through web_fetch. The same classes without them: test/machine/net/. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { makeOptions, OTHER, PUBLIC, serve } from '../machine/net/rig.ts'
import { codeOf, workshop } from '../runtime/rig.ts'

const corpus = process.env['NEXUS_CORPUS'] ?? join(import.meta.dirname, '../../../shared/corpus')
const generator = join(corpus, '../attacks/gen-lists.mjs')
const skip = !existsSync(generator) && 'the attack fixtures are not here'

interface Case {
  readonly id: string
  readonly url: string
  readonly expect: string
  /** Answers of the resolver by name, in turn. */
  readonly names?: Readonly<Record<string, readonly (readonly string[])[]>>
  /** What the server of the first URL answers. */
  readonly redirect?: string
}

test(
  'every case of the list is answered as expected, and no address that is not public is dialled',
  { skip },
  async (t) => {
    const { load } = (await import(generator)) as { load: (name: string, values: object) => Case[] }
    const cases = load('ssrf-urls', {})
    assert.ok(cases.length > 30)
    const PUBLIC_ONLY = new Set([`${PUBLIC}:80`, `${PUBLIC}:443`, `${OTHER}:80`])
    for (const { id, url, expect, names = {}, redirect } of cases) {
      let asked = 0
      const port = await serve(t, (request, response) => {
        asked++
        assert.equal(request.headers.authorization, undefined, id)
        if (redirect !== undefined && asked === 1) response.writeHead(302, { location: redirect })
        response.end('page')
      })
      const { options, dialled } = makeOptions({ names, routes: { [`${PUBLIC}:80`]: port } })
      const runtime = await workshop(t).open({ web: { net: options } })
      const { outcome } = await runtime.openAgent().call({ tool: 'web_fetch', arguments: { url } })
      const code = codeOf(outcome)
      if (expect === 'block')
        assert.deepEqual([code === 'success', redirect ? [] : dialled], [false, []], `${id} ${code}`)
      assert.ok(
        dialled.every((address) => PUBLIC_ONLY.has(address)),
        `${id} ${dialled.join(' ')}`,
      )
      if (expect === 'hop-blocked') assert.notEqual(code, 'success', id)
      if (expect === 'strip') assert.deepEqual([code, asked], ['success', 2], id)
      if (expect === 'allow') assert.deepEqual(dialled, [`${PUBLIC}:443`], id)
      await runtime.close()
    }
    t.diagnostic(`${cases.length} cases`)
  },
)
