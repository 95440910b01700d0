import type { PolicyRules } from '../../src/authorize/index.ts'
import { type Skill, succeeded, type Tool, type ToolOptions } from '../../src/kernel/index.ts'

export function toolNamed(name: string, options: ToolOptions = {}): Tool {
  return { name, description: name, parameters: { type: 'object' }, options, execute: async () => succeeded('done') }
}

export function rulesOf(part: Partial<PolicyRules> = {}): PolicyRules {
  return { profile: 'full', allow: [], ask: [], deny: [], groups: new Map(), ...part }
}

export function skillFrom(trusted: boolean): Skill {
  return {
    name: 'github',
    description: 'Works with issues.',
    allowedTools: [],
    arguments: [],
    invocation: { model: true, user: true },
    metadata: {
      os: [],
      requires: { bins: [], anyBins: [], env: [], config: [], network: [] },
      install: [],
      always: false,
    },
    frontmatter: {},
    origin: { source: 'workspace', tier: 'workspace', rank: 0, trusted },
    directory: '/skills/github',
    file: '/skills/github/SKILL.md',
    stamp: { mtimeMs: 0, size: 0, inode: 0 },
    diagnostics: [],
  }
}
