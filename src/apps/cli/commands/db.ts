import { assertValid, loadConfig } from '../../../config/index.ts'
import { DEFAULT_PROJECT } from '../../../kernel/index.ts'
import { storeChoice } from '../../../local/index.ts'
import { openStore, type StoreChoice, type StoreStatus, storeStatus } from '../../../store/index.ts'
import type { Invocation } from '../command.ts'
import { envelope } from '../envelope.ts'
import { many, NOTES } from '../messages/index.ts'

/** `nexus db status`: which database keeps the state, and whether it can be used. It changes nothing. */
export async function dbStatus(invocation: Invocation): Promise<number> {
  const { terminal } = invocation
  const status = await storeStatus(await chosen(invocation))
  if (invocation.flags['json'] === true) terminal.json(envelope('db status', dataOf(status)))
  else print(status, invocation)
  return 0
}

/** `nexus db migrate`: applies the steps of the schema that are missing. */
export async function dbMigrate(invocation: Invocation): Promise<number> {
  const { terminal } = invocation
  const choice = await chosen(invocation)
  const before = await storeStatus(choice)
  if (before && before.pending.length > 0) await (await openStore(choice, DEFAULT_PROJECT)).close()
  const after = await storeStatus(choice)
  const data = { ...dataOf(after), applied: (before?.pending ?? []).map((step) => ({ ...step })) }
  if (invocation.flags['json'] === true) terminal.json(envelope('db migrate', data))
  else {
    for (const { version, name } of before?.pending ?? []) terminal.line(NOTES.stepApplied(version, name))
    print(after, invocation)
  }
  return 0
}

async function chosen({ cwd, environment }: Invocation): Promise<StoreChoice> {
  const loaded = await loadConfig({ cwd, environment })
  assertValid(loaded)
  return storeChoice({ loaded, environment })
}

/** Of memory: nothing is kept, so there is no schema. */
function dataOf(status: StoreStatus | undefined) {
  if (!status) return { database: 'memory', software: '', version: 0, pending: [], bytes: 0, rows: {} }
  return { ...status, pending: status.pending.map((step) => ({ ...step })), rows: { ...status.rows } }
}

function print(status: StoreStatus | undefined, { terminal }: Invocation): void {
  if (!status) {
    terminal.note(NOTES.storeInMemory())
    return
  }
  const { database, software, version, pending, bytes, rows } = status
  terminal.line(`${terminal.paint('green', '✓')} ${terminal.paint('bold', database)} (${software})`)
  const steps = pending.map((step) => `${step.version} ${step.name}`)
  terminal.line(`  schema  version ${version}, ${steps.length === 0 ? 'up to date' : `pending: ${steps.join('; ')}`}`)
  terminal.line(`  size    ${(bytes / 1_048_576).toFixed(1)} MiB`)
  const counts = Object.entries(rows).map(([table, count]) => `${table} ${count}`)
  if (counts.length > 0) terminal.line(`  rows    ${counts.join(', ')}`)
  if (steps.length > 0)
    terminal.note(NOTES.migrateHint(many(steps.length, 'step'), terminal.commandLine(['db', 'migrate'])))
}
