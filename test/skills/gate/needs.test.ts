import assert from 'node:assert/strict'
import { test } from 'node:test'

import { gate } from '../../../src/skills/gate/index.ts'
import type { GateRules } from '../../../src/skills/gate/index.ts'
import type { InvalidSkill, Skill, TargetFacts, JsonObject } from '../../../src/kernel/index.ts'
import { facts, reasonsFor, rules, sketch, type Sketch } from './skills.ts'

function texts(parts: Sketch, target: TargetFacts = facts(), config: GateRules = rules()): string[] {
  return reasonsFor(sketch(parts), target, config).map(({ code, text }) => `${code} | ${text}`)
}

test('a skill without needs is ready', () => {
  assert.deepEqual(texts({}), [])
})

test('a missing binary is named, each in its own reason', () => {
  const parts = { requires: { bins: ['gh', 'git', 'jq'] } }
  assert.deepEqual(texts(parts, facts({ bins: ['git'] })), ['bin | missing binary: gh', 'bin | missing binary: jq'])
  assert.deepEqual(texts(parts, facts({ bins: ['git', 'gh', 'jq'] })), [])
})

test('one of anyBins is enough, and none of them is one reason', () => {
  const parts = { requires: { anyBins: ['rg', 'grep'] } }
  assert.deepEqual(texts(parts), ['any-bins | missing any of: [rg grep]'])
  assert.deepEqual(texts(parts, facts({ bins: ['grep'] })), [])
})

test('a bin that is a path, an option or shell text is never met, whatever the target says', () => {
  const everything: TargetFacts = { ...facts(), hasBin: () => true }
  for (const bin of ['../../bin/sh', '/etc/passwd', 'sh; id', '$(id)', '', '.', '..', '-rf', 'a b', 'x\u0000', 'x\n']) {
    assert.equal(texts({ requires: { bins: [bin] } }, everything).length, 1, JSON.stringify(bin))
  }
  for (const bin of ['g++', 'python3.12', 'x_y-z', '__proto__', 'constructor']) {
    assert.deepEqual(texts({ requires: { bins: [bin] } }, everything), [], bin)
  }
})

test('a variable is met by the target, by env of its entry, and by apiKey only when it is the primaryEnv', () => {
  const needs = { metadata: { primaryEnv: 'GH_TOKEN' }, requires: { env: ['GH_TOKEN', 'GH_HOST'] } }
  const withKey = rules({ entries: new Map([['github', { hasApiKey: true, env: new Set<string>() }]]) })
  const withEnv = rules({ entries: new Map([['github', { hasApiKey: false, env: new Set(['GH_HOST', 'GH_TOKEN']) }]]) })
  assert.deepEqual(texts(needs), ['env | missing env: GH_TOKEN', 'env | missing env: GH_HOST'])
  assert.deepEqual(texts(needs, facts(), withKey), ['env | missing env: GH_HOST'])
  assert.deepEqual(texts(needs, facts(), withEnv), [])
  assert.deepEqual(texts(needs, facts({ env: ['GH_HOST', 'GH_TOKEN'] })), [])
})

test('a setting that refers to nothing is named in the fix, be it of the entry or any other', () => {
  const broken = new Map([['config.a', 'skills.entries.github.config.a refers to A, which is not set. Set A.']])
  const entries = new Map([['github', { hasApiKey: false, env: new Set<string>(), broken }]])
  const brokenSetting = (path: string) =>
    path === 'tools.x.on' ? 'tools.x.on refers to X, which is empty.' : undefined
  const paths = ['tools.x.on', 'tools.y.on', 'skills.entries.github.config.a']
  const found = reasonsFor(sketch({ requires: { config: paths } }), facts(), rules({ entries, brokenSetting }))
  assert.deepEqual(
    found.map(({ code, text, fix }) => [code, text, fix]),
    [
      ['config', 'config not truthy: tools.x.on', 'tools.x.on refers to X, which is empty.'],
      ['config', 'config not truthy: tools.y.on', 'Set tools.y.on in nexus.yaml.'],
      ['config', 'config not truthy: skills.entries.github.config.a', broken.get('config.a')],
    ],
  )
})

test('a variable that no command may be given is missing, whatever its entry holds', () => {
  const needs = { metadata: { primaryEnv: 'LD_PRELOAD' }, requires: { env: ['LD_PRELOAD', 'NODE_OPTIONS'] } }
  const entries = new Map([['github', { hasApiKey: true, env: new Set(['NODE_OPTIONS']) }]])
  const refusedVariable = (name: string) => (name === 'GH_TOKEN' ? undefined : 'steers a loader')
  const reasons = reasonsFor(sketch(needs), facts(), rules({ entries, refusedVariable }))
  assert.deepEqual(
    reasons.map(({ text, fix }) => `${text} | ${fix}`),
    ['LD_PRELOAD', 'NODE_OPTIONS'].map(
      (name) => `missing env: ${name} | Nexus never gives ${name} to commands: it steers a loader.`,
    ),
  )
})

test('a reference that cannot be had holds the skill and is its fix, whether the skill asks for the value or not', () => {
  const broken = new Map([
    ['apiKey', 'skills.entries.github.apiKey refers to KEY, which is not set. Set KEY.'],
    ['env.GH_HOST', 'skills.entries.github.env.GH_HOST refers to HOST, which is not set. Set HOST.'],
  ])
  const config = rules({ entries: new Map([['github', { hasApiKey: false, env: new Set<string>(), broken }]]) })
  const fixes = (parts: Sketch, target = facts()) =>
    reasonsFor(sketch(parts), target, config).map(({ text, fix }) => `${text} | ${fix}`)
  const primary = `missing env: GH_TOKEN | ${broken.get('apiKey')}`
  const host = `missing env: GH_HOST | ${broken.get('env.GH_HOST')}`
  const key = `config not truthy: skills.entries.github.apiKey | ${broken.get('apiKey')}`
  assert.deepEqual(fixes({ metadata: { primaryEnv: 'GH_TOKEN' } }), [primary, host])
  assert.deepEqual(fixes({ metadata: { primaryEnv: 'GH_TOKEN' }, requires: { env: ['GH_HOST'] } }), [host, primary])
  assert.deepEqual(fixes({ metadata: { primaryEnv: 'GH_TOKEN' } }, facts({ env: ['GH_TOKEN'] })), [host, key])
  assert.deepEqual(fixes({}), [host, key], 'also of a skill that names no variable')
  assert.deepEqual(fixes({ metadata: { always: true } }), [], 'but of one that is always ready')
  assert.deepEqual(fixes({ name: 'other', metadata: { primaryEnv: 'GH_TOKEN' } }), [])
  const untrusted = reasonsFor(sketch({ trusted: false, metadata: { primaryEnv: 'GH_TOKEN' } }), facts(), config)
  assert.doesNotMatch(JSON.stringify(untrusted), /KEY/)
})

test('what is configured for a skill is its own: no skillKey of another one reaches it', () => {
  const entries = new Map([['github', { hasApiKey: true, env: new Set<string>() }]])
  const thief = sketch({
    name: 'thief',
    metadata: { skillKey: 'github', primaryEnv: 'GH_TOKEN' },
    requires: { env: ['GH_TOKEN'] },
  })
  const readyWith = (...others: readonly Skill[]) =>
    gate([thief, ...others], facts(), rules({ entries })).ready.includes(thief)
  assert.equal(readyWith(), true)
  assert.equal(readyWith(sketch({ trusted: false })), true)
  assert.equal(readyWith(sketch()), false)
})

test('a trusted skill that cannot be read keeps what is configured under its name and under that of its directory', () => {
  const entries = new Map([['github', { hasApiKey: true, env: new Set<string>() }]])
  const metadata = { skillKey: 'github', primaryEnv: 'GH_TOKEN' }
  const thief = sketch({ name: 'thief', metadata, requires: { env: ['GH_TOKEN'] } })
  const broken = { name: 'github', file: '/skills/github/SKILL.md', origin: thief.origin, diagnostics: [] }
  const untrusted = { ...broken, origin: { ...thief.origin, trusted: false } }
  const readyWith = (...invalid: readonly InvalidSkill[]): boolean =>
    gate([thief], facts(), { ...rules({ entries }), invalid }).ready.includes(thief)
  assert.equal(readyWith(untrusted), true)
  assert.equal(readyWith({ ...broken, name: 'other', file: '/skills/other/SKILL.md' }), true)
  assert.equal(readyWith({ ...broken, file: '/skills/other/SKILL.md' }), false)
  assert.equal(readyWith({ ...broken, name: 'other' }), false)
})

test('a variable whose name no variable can have is never met', () => {
  const everything: TargetFacts = { ...facts(), hasEnv: () => true }
  for (const name of ['A=B', 'X\nY', '', '1A', 'Ä']) {
    assert.equal(texts({ requires: { env: [name] } }, everything).length, 1, JSON.stringify(name))
  }
})

test('the fix for a variable of an untrusted copy is to trust it first, and names no key of the configuration', () => {
  const needs = { metadata: { primaryEnv: 'GH_TOKEN' }, requires: { env: ['GH_TOKEN', 'GH_HOST'] } }
  const reasons = reasonsFor(sketch({ ...needs, trusted: false }), facts(), rules())
  assert.deepEqual(
    reasons.map(({ code, fix, setting }) => [code, fix, setting]),
    [
      ['untrusted', 'Inspect the skill, then run: nexus trust', undefined],
      ...['GH_TOKEN', 'GH_HOST'].map((name) => [
        'env',
        `Inspect the skill, trust its workspace, then set ${name} for it.`,
        undefined,
      ]),
    ],
  )
})

test('a configuration path must be truthy', () => {
  const parts = { requires: { config: ['tools.github.enabled', 'browser.enabled'] } }
  const config = rules({ configTruthy: (path) => path === 'browser.enabled' })
  assert.deepEqual(texts(parts, facts(), config), ['config | config not truthy: tools.github.enabled'])
})

test('a configuration path with an empty part is a fault of the skill, not of the settings', () => {
  const fix = (path: string): string | undefined =>
    reasonsFor(sketch({ requires: { config: [path] } }), facts(), rules())[0]?.fix
  for (const path of ['a..b', '.a', 'a.'])
    assert.match(fix(path) ?? '', /^Fix .*SKILL\.md: '.*' is not a valid setting/)
  assert.equal(fix('a.b'), 'Set a.b in nexus.yaml.')
})

test('an operating system is compared under all its spellings', () => {
  for (const [listed, have] of [
    ['macos', 'darwin'],
    ['darwin', 'darwin'],
    ['Darwin', 'macos'],
    ['win32', 'windows'],
    ['windows', 'win32'],
    [' Linux ', 'linux'],
  ] as const) {
    assert.deepEqual(texts({ metadata: { os: [listed] } }, facts({ os: have })), [], `${listed} on ${have}`)
  }
  const wrong = texts({ metadata: { os: ['darwin', 'win32'] } }, facts({ os: 'linux' }))
  assert.deepEqual(wrong, ['os | requires OS [darwin win32], have linux'])
})

test('a tool group that policy denies holds the skill, from every place where it may be written', () => {
  const config = rules({ allowsToolGroup: (group) => group !== 'group:web' })
  const blocks: JsonObject[] = [
    { toolGroups: ['group:web', 'group:fs'] },
    { toolGroups: 'group:fs, group:web' },
    { openclaw: { toolGroups: ['group:web'] } },
    { nexus: { toolGroups: 'group:web' } },
  ]
  for (const metadata of blocks) {
    const found = texts({ frontmatter: { metadata } }, facts(), config)
    assert.deepEqual(found, ['tool-group | required tool group not allowed: group:web'])
  }
  assert.deepEqual(texts({ frontmatter: { metadata: { toolGroups: ['group:web'] } } }), [])
})

test('where programs are searched is part of the fix, when the target reports it', () => {
  const skill = sketch({ requires: { bins: ['gh'] } })
  const target = { ...facts(), programDirectories: ['/usr/local/bin', '/usr/bin', '/bin'] }
  assert.deepEqual(
    reasonsFor(skill, target, rules()).map(({ fix }) => fix),
    ['Install gh for all users of this machine. Commands find programs only in /usr/local/bin, /usr/bin.'],
  )
})

test('a fix names the key to set, the target to install on, and what the skill proposes', () => {
  const install = [
    { id: 'brew', kind: 'brew', label: 'Install GitHub CLI (brew)', bins: ['gh'], os: ['darwin'], details: {} },
    { id: 'apt', kind: 'apt', label: 'Install GitHub CLI (apt)', bins: ['gh'], os: ['linux'], details: {} },
  ]
  const metadata = { install, primaryEnv: 'GH_TOKEN', skillKey: 'gh' }
  const skill = sketch({ metadata, requires: { bins: ['gh'], env: ['GH_TOKEN', 'GH_HOST'] } })
  const fixes = reasonsFor(skill, facts(), rules()).map(({ fix }) => fix)
  assert.deepEqual(fixes, [
    'Install gh where commands run: test target. The skill proposes: Install GitHub CLI (apt).',
    'Set skills.entries.gh.apiKey in nexus.yaml.',
    'Set skills.entries.gh.env.GH_HOST in nexus.yaml.',
  ])
})

test('what a skill wrote reaches a reason without escape sequences and line breaks', () => {
  const [reason] = reasonsFor(sketch({ requires: { bins: ['\u001b[31mgh\n\u202efake'] } }), facts(), rules())
  assert.equal(reason?.text, 'missing binary: gh fake')
})
