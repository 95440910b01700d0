import { after, before, describe } from 'node:test'
import type { Clock } from '../../kernel/index.ts'
import type { Store } from '../../store/index.ts'
import { createFakeClock } from '../fake-clock.ts'
import { agentTests } from './agents.ts'
import { approvalTests } from './approvals.ts'
import { blobTests } from './blobs.ts'
import { eventTests } from './events.ts'
import { leaseTests } from './leases.ts'
import { ledgerTests } from './ledger.ts'
import { isolationTests } from './isolation.ts'
import { sessionTests } from './sessions.ts'
import { turnTests } from './turns.ts'
import { waitingTests } from './waiting.ts'

/** Opens stores over one place, such as one file; every project gets its own store. */
export type MakeStore = (options: { readonly projectId: string; readonly clock: Clock }) => Promise<Store>

/** Registers the tests that every store must pass. `make` is called with a fresh project id for each test. */
export function storeContract(name: string, make: MakeStore): void {
  describe(`store contract: ${name}`, () => {
    const clock = createFakeClock(1_000)
    const opened: Store[] = []
    let projects = 0
    const open = async (projectId = `project-${++projects}`): Promise<Store> => {
      const store = await make({ projectId, clock })
      opened.push(store)
      return store
    }
    before(() => clock.advance(1))
    after(() => Promise.all(opened.map((store) => store.close())))
    ledgerTests(open, clock)
    agentTests(open, clock)
    sessionTests(open, clock)
    leaseTests(open, clock)
    turnTests(open, clock)
    waitingTests(open, clock)
    approvalTests(open, clock)
    eventTests(open, clock)
    blobTests(open, clock)
    isolationTests(open, clock)
  })
}
