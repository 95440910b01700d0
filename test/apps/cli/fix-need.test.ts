import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DESCRIPTION, type Desk, edit, GOOD, fixes, NAME, rewrite, skill } from './stranger.ts'

const FILE = 'skills/pdf/SKILL.md'
const needs =
  (...lines: readonly string[]): ((desk: Desk) => void) =>
  (desk) =>
    void desk.put(FILE, skill(NAME, DESCRIPTION, ...lines))
/** The good skill, and these settings in the workspace. */
const settings =
  (text: string, file = FILE): ((desk: Desk) => void) =>
  (desk) => {
    desk.put(file, GOOD)
    desk.put('nexus.yaml', text)
  }
/** Writes the settings that a fix gives as an example into the user's own file. */
const copyExample = (desk: Desk, { fix }: { fix: string }): void => {
  const [, yaml = ''] = /(?:example|nexus\.yaml): ((?:skills|tools|execution): \{.*\})$/.exec(fix) ?? []
  mkdirSync(join(desk.home, '.nexus'), { recursive: true })
  writeFileSync(join(desk.home, '.nexus/nexus.yaml'), `${yaml.replace('…', 'value')}\n`)
}

// Needs.
fixes('a program that is not there', {
  break: needs('metadata:', '  requires:', '    bins: [no-such-program]'),
  ...{ code: 'bin', line: 6, says: /missing binary: no-such-program.*Install no-such-program for all users/ },
  fix: rewrite(6, '    bins: [sh]'),
})
fixes('a program that only the person can run', {
  break: (desk) => {
    needs('metadata: {requires: {bins: [only-mine]}}')(desk)
    const program = join(desk.home, 'bin/only-mine')
    desk.put(program, '#!/bin/sh\n')
    chmodSync(program, 0o755)
    desk.variables['PATH'] = `${process.env['PATH']}:${join(desk.home, 'bin')}`
  },
  ...{
    code: 'bin',
    line: 4,
    says: /You have .*bin\/only-mine .*execution: \{ programs: \[only-mine\] \}/,
  },
  fix: copyExample,
})
fixes('a path instead of a program', {
  break: needs('metadata:', '  requires:', '    bins: [/usr/bin/env]'),
  ...{
    code: 'bin',
    line: 6,
    says: /'\/usr\/bin\/env' must be the name of a program/,
    fix: rewrite(6, '    bins: [env]'),
  },
})
fixes('none of some programs', {
  break: needs('metadata: {requires: {anyBins: [no-such-a, no-such-b]}}'),
  ...{ code: 'any-bins', line: 4, says: /missing any of: \[no-such-a no-such-b\].*Install/ },
  fix: rewrite(4, 'metadata: {requires: {anyBins: [no-such-a, sh]}}'),
})
fixes('a requirement that is one word instead of a list', {
  break: needs('metadata: {requires: {bins: no-such-program}}'),
  ...{ code: 'bin', line: 4, says: /missing binary/, fix: rewrite(4, 'metadata: {requires: {bins: sh}}') },
})
fixes('a variable that is not set', {
  break: needs('metadata: {requires: {env: [PDF_KEY]}}'),
  ...{
    code: 'env',
    line: 4,
    says: /missing env: PDF_KEY.*skills\.entries\.pdf\.env\.PDF_KEY in .*\.nexus\/nexus\.yaml/,
    fix: copyExample,
  },
})
fixes('a variable that only the person has', {
  break: (desk) => {
    needs('metadata: {requires: {env: [PDF_KEY]}}')(desk)
    desk.variables['PDF_KEY'] = 'secret'
  },
  ...{
    code: 'env',
    line: 4,
    says: /is set in your environment, but skills get only what nexus\.yaml gives them/,
    fix: copyExample,
  },
})
fixes('a key that is not set', {
  break: needs('metadata: {primaryEnv: PDF_KEY, requires: {env: [PDF_KEY]}}'),
  ...{ code: 'env', line: 4, says: /skills\.entries\.pdf\.apiKey/, fix: copyExample },
})
fixes('a setting that is not set', {
  break: needs('metadata: {requires: {config: [tools.pdf.on]}}'),
  ...{
    code: 'config',
    line: 4,
    says: /required setting is missing or false: tools\.pdf\.on.*tools: \{ pdf: \{ on: true \} \}/,
    fix: copyExample,
  },
})
fixes('a setting that nexus.yaml cannot have', {
  break: needs('metadata: {requires: {config: [channels.pdf]}}'),
  ...{
    code: 'config',
    line: 4,
    says: /no setting channels\.pdf, so the skill stays held\. Require tools\.channels\.pdf in the skill instead/,
  },
  fix: (desk, finding) => {
    edit(desk.at(FILE), (lines) => lines.with(3, 'metadata: {requires: {config: [tools.channels.pdf]}}'))
    copyExample(desk, finding)
  },
})
fixes('a setting below a list of settings', {
  break: needs('metadata: {requires: {config: [agents.pdf]}}'),
  ...{ code: 'config', line: 4, says: /no setting agents\.pdf, so the skill stays held/ },
  fix: (desk, finding) => {
    edit(desk.at(FILE), (lines) => lines.with(3, 'metadata: {requires: {config: [tools.agents.pdf]}}'))
    copyExample(desk, finding)
  },
})
fixes('a setting of a section that is not written', {
  break: needs('metadata: {requires: {config: [execution.tls]}}'),
  ...{ code: 'config', line: 4, says: /no setting execution\.tls, so the skill stays held/ },
  fix: rewrite(4),
})
fixes('a system that does not exist', {
  break: needs('metadata:', '  os: [linus]'),
  ...{
    code: 'os',
    line: 5,
    says: /Write: os: \[linux\]/,
    fix: rewrite(5, '  os: [linux]'),
  },
})
fixes('another system', {
  break: needs('metadata:', '  os: [win32]'),
  ...{
    code: 'os',
    says: /requires OS \[windows\], have linux.*add linux to os:/,
    line: 5,
    fix: rewrite(5, '  os: [win32, linux]'),
  },
})

// Who may start it.
fixes('disable-model-invocation', {
  break: needs('disable-model-invocation: true'),
  ...{ code: 'person-only', says: /Only a person can start it.*Write \$pdf in a message/, isFine: true },
})
fixes('a skill that nobody may start', {
  break: needs('disable-model-invocation: true', 'user-invocable: false'),
  ...{ code: 'not-invocable', says: /nothing can start it.*Remove one of the two/, fix: rewrite(4) },
})

// Settings.
fixes('disabled_skills', {
  break: settings('skills:\n  disabled_skills: [pdf]\n'),
  ...{
    code: 'disabled',
    line: 2,
    says: /Remove pdf from skills\.disabled_skills/,
    fix: rewrite(2, '  disabled_skills: []'),
  },
})
fixes('enabled: false', {
  break: settings('skills:\n  entries:\n    pdf: { enabled: false }\n'),
  ...{
    code: 'disabled',
    line: 3,
    says: /Set skills\.entries\.pdf\.enabled to true/,
    fix: rewrite(3, '    pdf: { enabled: true }'),
  },
})
fixes("an agent's list of skills", {
  break: settings('agents:\n  - id: main\n    skills: [other]\n'),
  ...{
    code: 'not-allowed',
    line: 3,
    says: /not allowed for agent 'main'.*Add pdf/,
    fix: rewrite(3, '    skills: [other, pdf]'),
  },
})
fixes("another agent's list of skills", {
  break: (desk) => {
    settings('agents:\n  - id: main\n  - id: bob\n    skills: []\n')(desk)
    desk.agent = 'bob'
  },
  ...{ code: 'not-allowed', line: 4, says: /not allowed for agent 'bob'/, fix: rewrite(4, '    skills: [pdf]') },
})
fixes('an agent without a tool that loads skills', {
  break: settings('agents:\n  - id: main\n    tools: { deny: [group:skills] }\n'),
  ...{ code: 'no-loader', says: /agent 'main' has no tool that loads skills.*Allow group:skills/ },
  fix: (desk) => void desk.put('nexus.yaml', 'agents:\n  - id: main\n'),
})
fixes('a directory that is not in the settings', {
  break: settings('skills: {}\n', 'team/pdf/SKILL.md'),
  ...{ code: 'wrong-place', says: /skills\.load\.extraDirs in nexus\.yaml/ },
  fix: (desk) => void desk.put('nexus.yaml', 'skills: { load: { extraDirs: [./team] } }\n'),
})
fixes('a directory of the settings that is not there', {
  break: settings('skills: { load: { extraDirs: [./taem] } }\n', 'tools/pdf/SKILL.md'),
  ask: 'absent',
  ...{ code: 'not-found', says: /Fix the problem below first/ },
  fix: (desk) => void desk.put('nexus.yaml', 'skills: { load: { extraDirs: [./tools] } }\n'),
})
fixes('a workspace that is not trusted', {
  break: (desk) => {
    desk.put(FILE, GOOD)
    desk.isTrusted = false
  },
  ...{
    code: 'untrusted',
    says: /its source is not trusted.*Inspect the skill, then run: nexus trust \/.*\/workspace$/,
  },
  fix: (desk) => void (desk.isTrusted = true),
})

fixes('a skill from elsewhere in a workspace that is not trusted', {
  break: (desk) => {
    settings('model: openai/m\n', '../elsewhere/pdf/SKILL.md')(desk)
    desk.skillsDirs = [desk.at('../elsewhere')]
    desk.isTrusted = false
  },
  ...{ code: 'workspace-untrusted', says: /No command runs in this workspace.*nexus trust \/.*\/workspace$/ },
  fix: (desk) => void (desk.isTrusted = true),
})

// The prompt's budget.
const many =
  (budget: number): ((desk: Desk) => void) =>
  (desk) => {
    for (let index = 0; index < 20; index++) {
      const text = skill(`name: a-skill-${index}`, `description: ${'Does much. '.repeat(30)}`)
      desk.put(`skills/a-skill-${index}/SKILL.md`, text)
    }
    desk.put(FILE, skill(NAME, `description: ${'Reads a PDF. '.repeat(30)}`))
    desk.put('nexus.yaml', `skills: { prompt: { budgetChars: ${budget} } }\n`)
  }
const raise = (desk: Desk): void => void desk.put('nexus.yaml', 'skills: { prompt: { budgetChars: 50000 } }\n')
for (const [budget, code, says] of [
  [6_000, 'over-budget-shortened', /shortened description .* over its budget of 6000 characters.*budgetChars/],
  [1_200, 'over-budget-name', /by its name only: .*1200/],
  [120, 'over-budget-omitted', /left out of the prompt: .*120.*find_skills/],
] as const)
  fixes(`a budget of ${budget} characters`, { break: many(budget), code, says, fix: raise })
