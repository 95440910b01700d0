/** A real `nexus serve` with a scripted model, for tests. */
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { createClient } from '../../../src/public/client.ts'
import { startModelServer } from '../../../src/public/testing.ts'
import type { ModelScript } from '../../../src/testing/index.ts'
import { Place } from '../cli/nexus.ts'

export interface ServingOptions {
  readonly script?: ModelScript
  /** Lines of nexus.yaml of the user. */
  readonly settings?: string
  readonly args?: readonly string[]
}

/** The model and the place of a test, where servers can be started, one after the other too. */
export async function prepare(t: TestContext, { script = [], settings = '' }: ServingOptions = {}) {
  const place = new Place(t)
  const model = await startModelServer({ script })
  t.after(() => model.close())
  mkdirSync(place.home, { recursive: true })
  writeFileSync(join(place.home, 'nexus.yaml'), settings)
  const start = async (args: readonly string[] = []) => {
    const line = ['serve', '--trust', '--model', 'openai-compatible/scripted', '--base-url', model.url, ...args]
    const child = place.start(line, { env: { OPENAI_API_KEY: 'sk-test-key' } })
    t.after(() => void child.kill('SIGKILL'))
    let [log, said] = ['', '']
    child.stdout?.setEncoding('utf8').on('data', (text: string) => (log += text))
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (said += text))
    while (!/serves agents at (\S+)\./.test(said)) {
      if (child.exitCode !== null) throw new Error(`nexus serve ended: ${said}`)
      await Promise.race([once(child.stderr ?? child, 'data'), once(child, 'exit')])
    }
    const url = /serves agents at (\S+)\./.exec(said)?.[1] ?? ''
    const port = Number(new URL(url).port)
    const key = readFileSync(join(place.home, 'apikeys', `${port}.key`), 'utf8')
    return { child, url, port, key, client: createClient({ url, key }), log: () => log, said: () => said }
  }
  return { place, model, start }
}

/** One server. */
export async function startServer(t: TestContext, options: ServingOptions = {}) {
  const { place, model, start } = await prepare(t, options)
  return { place, model, start, ...(await start(['--port', '0', ...(options.args ?? [])])) }
}
