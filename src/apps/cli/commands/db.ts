import { many } from '../failure.ts'
import { assertValid, loadConfig } from '../../../config/index.ts'
import { storeChoice } from '../../../local/index.ts'
import { openDatabase, type StoreChoice, type StoreStatus, storeStatus } from '../../../store/index.ts'
import type { Answer, Invocation } from '../command.ts'

/** `nexus db status`: which database keeps the state, and whether it can be used. It changes nothing. */
export async function dbStatus(invocation: Invocation): Promise<Answer> {
  const status = await storeStatus(await chosen(invocation))
  return { data: status ?? IN_MEMORY, show: () => print(status, invocation) }
}

/** `nexus db migrate`: applies the steps of the schema that are missing. */
export async function dbMigrate(invocation: Invocation): Promise<Answer> {
  const choice = await chosen(invocation)
  const { pending: applied = [] } = (await storeStatus(choice)) ?? {}
  if (applied.length > 0) await (await openDatabase(choice)).close()
  const after = await storeStatus(choice)
  return {
    data: { ...(after ?? IN_MEMORY), applied },
    show: () => {
      for (const { version, name } of applied) invocation.terminal.line(`applied ${version}: ${name}`)
      print(after, invocation)
    },
  }
}

/** Nothing is kept in memory, so there is no schema. */
const IN_MEMORY = { database: 'memory', software: '', version: 0, pending: [], bytes: 0, rows: {} }

async function chosen({ cwd, environment }: Invocation): Promise<StoreChoice> {
  const loaded = await loadConfig({ cwd, environment })
  assertValid(loaded)
  return storeChoice({ loaded, environment })
}

function print(status: StoreStatus | undefined, { terminal }: Invocation): void {
  if (!status) {
    terminal.note('Nothing is kept: store.type is memory.')
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
    terminal.note(
      `${many(steps.length, 'step')} of the schema will be applied by the next command that uses the store, or now with: ${terminal.commandLine(['db', 'migrate'])}`,
    )
}
