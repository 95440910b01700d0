import { test } from 'node:test'
import { race } from './races.ts'
import { noExchange } from './rig.ts'

for (const holding of ['descriptors', 'paths'] as const)
  test(
    `nothing outside is read or changed while directories and links change places (${holding})`,
    { skip: noExchange },
    (t) => race(t, { rounds: 200, holding }),
  )
