/** Kills of changes, hostile repositories and damaged archives, in many rounds. */
import { rounds } from './rounds.ts'

process.env['TEST_ROUNDS'] = String(rounds(200))
for (const name of ['kill', 'hostile-trees', 'hostile-git', 'archives'])
  await import(`../skills/install/${name}.test.ts`)
