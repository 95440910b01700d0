import { everyCopy } from '../../../skills/catalog/index.ts'
import { loadConfig } from '../../../config/index.ts'
import { toSafeLine } from '../../../kernel/index.ts'
import { inspectSkills } from '../../../local/index.ts'
import type { Invocation, Names } from '../command.ts'
import { openStored } from '../stored.ts'

/** Names that a shell offers here. One with a space or a control character cannot be completed and is left out. */
export async function namesOf(kind: Names, invocation: Invocation): Promise<readonly string[]> {
  const names = await FINDERS[kind](invocation)
  return [...new Set(names)].filter((name) => !/\s/.test(name) && toSafeLine(name) === name).toSorted()
}

const FINDERS: Readonly<Record<Names, (invocation: Invocation) => Promise<readonly string[]>>> = {
  async skills({ cwd, environment }) {
    const catalog = (await inspectSkills({ cwd, environment, tolerateConfigErrors: true })).catalog()
    return [...everyCopy(catalog), ...catalog.invalid].map(({ name }) => name)
  },
  async agents({ cwd, environment }) {
    return (await loadConfig({ cwd, environment })).config.agents.map(({ id }) => id)
  },
  async codes() {
    return (await import('./explain.ts')).allCodes()
  },
  async sessions(invocation) {
    await using opened = await openStored(invocation)
    const { store, scope } = opened
    return (await store.sessions.list({ limit: 100, scope })).map(({ id }) => id)
  },
}
