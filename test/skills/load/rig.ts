import { cpSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'

import { buildCatalog, type Catalog } from '../../../src/skills/catalog/index.ts'
import { gate, type GateRules } from '../../../src/skills/gate/index.ts'
import { isNexusError, type NexusError, type TargetFacts } from '../../../src/kernel/index.ts'
import { createFolderSource, discover } from '../../../src/skills/sources/index.ts'

const FIXTURES = join(import.meta.dirname, '../../fixtures/load')
const FACTS: TargetFacts = { target: 'test', os: 'linux', hasBin: () => false, hasEnv: () => false }

/** A copy of the fixtures in a directory of its own, gone after the test. */
export function workFolder(t: TestContext): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'nexus-load-')))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  cpSync(FIXTURES, folder, { recursive: true })
  return folder
}

/** What an agent sees of a folder; `trusted` is true unless told otherwise. */
export async function catalogOf(
  folder: string,
  parts: Partial<GateRules> & { trusted?: boolean } = {},
): Promise<Catalog> {
  const { trusted = true, ...rules } = parts
  const { skills, invalid, diagnostics } = await discover([
    createFolderSource({ id: 'local', tier: 'local', rank: 0, path: folder, trusted }),
  ])
  const gated = gate(skills, FACTS, { entries: new Map(), disabledSkills: [], configTruthy: () => false, ...rules })
  return buildCatalog({ gated, invalid, diagnostics })
}

/** The NexusError that `work` ends with; anything else fails the test. */
export async function errorOf(work: Promise<unknown>): Promise<NexusError> {
  try {
    await work
  } catch (error) {
    if (isNexusError(error)) return error
    throw error
  }
  throw new Error('nothing was thrown')
}
