/** A process for `resume.test.ts` to kill: one turn whose tool never ends. Arguments: state file, model URL, session id. */
import { writeSync } from 'node:fs'
import { createAgent } from '../../../src/agents/turns/index.ts'
import { openSqliteStore } from '../../../src/store/index.ts'

import { openTestAgent, localModel } from './rig.ts'

const [path = '', url = '', sessionId = ''] = process.argv.slice(2)
const store = await openSqliteStore({ path, projectId: 'default' })
await store.reclaim()
const tools = {
  wait: () => {
    writeSync(1, 'in the tool\n')
    return new Promise<never>(() => setInterval(() => undefined, 1_000))
  },
}
const agent = createAgent({
  agent: await openTestAgent({ tools }, store, sessionId),
  model: await localModel({ url }),
  store,
})
await agent.send('Wait for me')
