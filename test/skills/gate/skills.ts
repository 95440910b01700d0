import type { HeldReason, Requirements, Skill, SkillMetadata, TargetFacts } from '../../../src/kernel/index.ts'
import { gate, type GateRules } from '../../../src/skills/gate/index.ts'

const NO_NEEDS: Requirements = { bins: [], anyBins: [], env: [], config: [], network: [] }

export interface Sketch {
  readonly name?: string
  readonly description?: string
  readonly trusted?: boolean
  readonly metadata?: Partial<Omit<SkillMetadata, 'requires'>>
  readonly requires?: Partial<Requirements>
  readonly frontmatter?: Skill['frontmatter']
}

/** A skill of the local tier with nothing special but what the test names. */
export function sketch(parts: Sketch = {}): Skill {
  const name = parts.name ?? 'github'
  return {
    name,
    description: parts.description ?? 'Works with GitHub.',
    allowedTools: [],
    arguments: [],
    invocation: { model: true, user: true },
    metadata: { os: [], install: [], always: false, ...parts.metadata, requires: { ...NO_NEEDS, ...parts.requires } },
    frontmatter: parts.frontmatter ?? {},
    origin: { source: 'local', tier: 'local', rank: 0, trusted: parts.trusted ?? true },
    directory: `/skills/${name}`,
    file: `/skills/${name}/SKILL.md`,
    stamp: { mtimeMs: 0, size: 1, inode: 1 },
    diagnostics: [],
  }
}

/** A target on which only what is listed is there. */
export function facts(parts: { os?: string; bins?: readonly string[]; env?: readonly string[] } = {}): TargetFacts {
  return {
    target: 'test target',
    os: parts.os ?? 'linux',
    hasBin: (name) => parts.bins?.includes(name) ?? false,
    hasEnv: (name) => parts.env?.includes(name) ?? false,
  }
}

export function rules(parts: Partial<GateRules> = {}): GateRules {
  return { entries: new Map(), disabledSkills: [], configTruthy: () => false, ...parts }
}

/** Every reason why that one skill is held; none when it is ready. */
export function reasonsFor(skill: Skill, target: TargetFacts, config: GateRules): readonly HeldReason[] {
  return gate([skill], target, config).held[0]?.reasons ?? []
}
