import { createHash } from 'node:crypto'

import type { HeldCode, HeldSkill, InvalidSkill, Skill, Tier } from '../../../src/kernel/index.ts'
import { buildCatalog, type Catalog } from '../../../src/skills/catalog/index.ts'

export interface CopySketch {
  readonly description?: string
  readonly source?: string
  readonly tier?: Tier
  readonly rank?: number
  readonly trusted?: boolean
  readonly directory?: string
  /** What the SKILL.md holds, as far as its digest is concerned. */
  readonly bytes?: string
  readonly model?: boolean
}

/** One copy of a skill named `name`; by default in the local tier, with bytes of its own. */
export function copy(name: string, parts: CopySketch = {}): Skill {
  const source = parts.source ?? parts.tier ?? 'local'
  const directory = parts.directory ?? `/${source}/${name}`
  const digest = createHash('sha256')
    .update(parts.bytes ?? directory)
    .digest('hex')
  return {
    name,
    description: parts.description ?? `Does ${name}.`,
    allowedTools: [],
    arguments: [],
    invocation: { model: parts.model ?? true, user: true },
    metadata: {
      os: [],
      install: [],
      always: false,
      requires: { bins: [], anyBins: [], env: [], config: [], network: [] },
    },
    frontmatter: {},
    origin: { source, tier: parts.tier ?? 'local', rank: parts.rank ?? 0, trusted: parts.trusted ?? true },
    directory,
    file: `${directory}/SKILL.md`,
    // Other bytes, another size; the same bytes, the same.
    stamp: { mtimeMs: 0, size: Number.parseInt(digest.slice(0, 8), 16), inode: 1 },
    diagnostics: [],
  }
}

export function held(skill: Skill, code: HeldCode = 'bin'): HeldSkill {
  return { skill, reasons: [{ code, missing: [], text: code, fix: `Mend ${code}.` }] }
}

export function catalogOf(
  ready: readonly Skill[],
  heldBack: readonly HeldSkill[] = [],
  invalid: readonly InvalidSkill[] = [],
): Catalog {
  const all = [...ready, ...heldBack.map(({ skill }) => skill)]
  // The size says which bytes there are.
  const treeDigests = new Map(all.map(({ file, stamp }) => [file, String(stamp.size)]))
  return buildCatalog({ gated: { ready, held: heldBack }, invalid, treeDigests })
}
