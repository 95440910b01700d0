import { test } from 'node:test'
import { race } from '../machine/files/races.ts'
import { noExchange } from '../machine/files/rig.ts'
import { rounds } from './rounds.ts'

for (const holding of ['descriptors', 'paths'] as const)
  test(`nothing outside is read or changed in many rounds of exchanged links (${holding})`, { skip: noExchange }, (t) =>
    race(t, { rounds: rounds(500_000), holding }),
  )
