/** Clients of MCP give a call up that shows no sign of life for a minute. It takes half a minute, so it runs here. */
import assert from 'node:assert/strict'
import test from 'node:test'
import { Place } from '../apps/cli/nexus.ts'
import { connect, type Era, ERAS } from '../apps/mcp/client.ts'
import { whySkipped } from '../machine/sandbox/required.ts'

for (const era of Object.keys(ERAS) as Era[])
  test(
    `a silent command of 12 s reports progress to a client of ${era} that waits only 10 s for each sign`,
    { skip: whySkipped() ?? false },
    async (t) => {
      const { client } = await connect(t, new Place(t), { era, args: ['--trust'] })
      const progress: number[] = []
      // The client rejects the call when its time passes without progress.
      const options = { timeout: 10_000, resetTimeoutOnProgress: true }
      const { content } = await client.callTool(
        { name: 'run_command', arguments: { command: 'sleep 12; echo done', timeout_sec: 60 } },
        { ...options, onprogress: ({ progress: each }) => progress.push(each) },
      )
      assert.match(JSON.stringify(content), /stdout:\\ndone/)
      assert.deepEqual(progress.slice(0, 3), [1, 2, 3])
    },
  )
