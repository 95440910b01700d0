/**
 * A process for `stopped.test.ts`: its tool waits for a line on stdin, and how its turn ended is on stdout. Then it sends another
 * message. Arguments: state file or database, model URL.
 */
import { writeSync } from 'node:fs'
import { once } from 'node:events'
import { createAgent } from '../../../src/agents/turns/index.ts'
import { succeeded } from '../../../src/kernel/index.ts'
import { openAt } from '../../fixtures/store/open-at.ts'
import { localModel, openTestAgent } from './rig.ts'

const [address = '', url = ''] = process.argv.slice(2)
const store = await openAt(address)
const tools = {
  wait: async () => {
    writeSync(1, 'IN THE TOOL\n')
    await once(process.stdin, 'data')
    return succeeded('waited')
  },
}
const agent = createAgent({
  agent: await openTestAgent({ tools }, store, 's1'),
  model: await localModel({ url }),
  store,
  limits: { retryDelayMs: 1 },
})
for (const content of ['Wait.', 'And now?']) {
  const { end, error } = await agent.send(content)
  writeSync(1, `ENDED ${end} ${error?.code}\n`)
}
process.exit()
