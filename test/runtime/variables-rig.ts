import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { callOf } from './rig.ts'

import { createFolderSource, createRuntime, type Parts, type Runtime } from '../../src/public/index.ts'
import type { JsonObject, Outcome } from '../../src/kernel/index.ts'
import { createMemoryStore, type Store } from '../../src/store/index.ts'
import { createScriptedSandbox, type SandboxScript, type ScriptedSandbox } from '../../src/testing/index.ts'
import type { SkillEntryValues } from '../../src/tools/index.ts'

export const KEY = 'ghp-0123456789abcdef'
export const TURN = { sessionId: 's1', turnId: 't1', origin: 'model' } as const

/** A runtime whose commands say which variables they were given. */
export interface Bench {
  readonly runtime: Runtime
  readonly sandbox: ScriptedSandbox
  readonly ledger: Store['ledger']
  /** Directory of a skill as its commands see it. */
  readonly baseDir: (name: string) => string
  load(name: string, more?: JsonObject): Promise<Outcome>
  run(args: JsonObject, more?: JsonObject): Promise<Outcome>
  /** The variables that the last command got. */
  lastEnv(): Readonly<Record<string, string>>
}

export interface BenchParts {
  /** Metadata by name of the skill, as JSON. */
  readonly skills: Readonly<Record<string, JsonObject>>
  /** The same in a second folder of a lower tier. */
  readonly lower?: Readonly<Record<string, JsonObject>>
  readonly lowerTrusted?: boolean
  readonly upperTrusted?: boolean
  readonly entries?: Readonly<Record<string, SkillEntryValues>>
  readonly script?: SandboxScript
  readonly parts?: Partial<Parts>
}

export async function bench(t: TestContext, given: BenchParts): Promise<Bench> {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'nexus-variables-')))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  write(join(root, 'upper'), given.skills)
  write(join(root, 'lower'), given.lower ?? {})
  const script: SandboxScript = given.script ?? (({ env }) => ({ stdout: JSON.stringify(env ?? {}) }))
  const sandbox = createScriptedSandbox({ script, env: ['PATH', 'HOME', 'TZ'] })
  const store = await createMemoryStore({ projectId: 'default' })
  const { ledger } = store
  const folder = (id: 'upper' | 'lower', trusted: boolean) =>
    createFolderSource({ id, tier: id === 'upper' ? 'workspace' : 'local', rank: 0, path: join(root, id), trusted })
  const { entries = {} } = given
  const runtime = await createRuntime({
    sources: [folder('upper', given.upperTrusted ?? true), folder('lower', given.lowerTrusted ?? true)],
    ...{ sandbox, store, workspace: root },
    skillEntries: (key) => (Object.hasOwn(entries, key) ? entries[key] : undefined),
    ...given.parts,
  })
  t.after(() => runtime.close())
  return {
    ...{ runtime, sandbox, ledger },
    baseDir: (name) => join(root, 'upper', name),
    load: async (name, more = {}) =>
      (await callOf(runtime, { tool: 'load_skill', arguments: { skill_name: name }, ...TURN, ...more })).outcome,
    run: async (args, more = {}) =>
      (await callOf(runtime, { tool: 'run_command', arguments: { command: 'env', ...args }, ...TURN, ...more }))
        .outcome,
    lastEnv: () => sandbox.requests.at(-1)?.env ?? {},
  }
}

function write(root: string, skills: Readonly<Record<string, JsonObject>>): void {
  mkdirSync(root, { recursive: true })
  for (const [name, metadata] of Object.entries(skills)) {
    mkdirSync(join(root, name))
    const head = `name: ${name}\ndescription: Does ${name}.\nmetadata: ${JSON.stringify({ nexus: metadata })}\n`
    writeFileSync(join(root, name, 'SKILL.md'), `---\n${head}---\nWork on ${name} in ${root}.\n`)
  }
}

export const keyOf = (value: string): SkillEntryValues => ({ env: {}, apiKey: () => Promise.resolve(value) })
