/** One step with the change sets of a real sandbox, in a process that kills itself: `killed-sets.ts OP STATE WORKSPACE NUMBER`. */
import { writeFileSync } from 'node:fs'
import { keep, recordWrite, undo } from '../../src/machine/changes/index.ts'
import { withChangeSets } from '../../src/machine/sandbox/index.ts'
import { killAt } from '../machine/changes/killed.ts'

const [op, stateDir = '', workspace = '', number] = process.argv.slice(2)
const all = { paths: [], force: false }
await withChangeSets(workspace, { kind: 'local', projectId: 'default', stateDir }, async (sets) => {
  const [set] = sets.records.list()
  const count = killAt(Number(number))
  if (op === 'write') {
    const bytes = Buffer.from('written')
    const write = (mode?: number): Promise<void> =>
      sets.host.write('w/a', { bytes, makesParents: true, ...(mode !== undefined && { mode }) })
    await recordWrite(sets, { path: 'w/a', bytes }, { maker: { tool: 'write_file' }, write })
  } else if (set) await (op === 'keep' ? keep : undo)({ ...sets, set }, all)
  writeFileSync(1, String(count()))
})
