import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type HostRule, readHostRule } from '../../../src/kernel/index.ts'
import { facts, reasonsFor, rules, sketch } from './skills.ts'

const hosts = (...texts: string[]): HostRule[] => texts.map((text) => readHostRule(text)!)
const offline = { ...facts(), network: false }
const weather = sketch({ name: 'weather', requires: { network: ['api.weather.com', '*.wx.org', 'db.wx.org:5432'] } })
const entry = (...texts: string[]) => ({ hasApiKey: false, env: new Set<string>(), hosts: hosts(...texts) })

test('hosts that no setting allows hold a skill, with the whole line to write', () => {
  const [reason, ...more] = reasonsFor(weather, offline, rules())
  assert.deepEqual(more, [])
  assert.equal(reason?.code, 'network')
  assert.deepEqual(reason.missing, ['api.weather.com', '*.wx.org', 'db.wx.org:5432'])
  assert.equal(reason.text, 'network not allowed: api.weather.com, *.wx.org, db.wx.org:5432')
  assert.equal(
    reason.fix,
    'Write in nexus.yaml: skills: { entries: { weather: { network: [api.weather.com, "*.wx.org", "db.wx.org:5432"] } } }',
  )
  assert.deepEqual(reason.setting, ['skills', 'entries', 'weather', 'network'])
})

test('the hosts of all commands and those of its entry count together, and a denied one never', () => {
  const network = { allowed: hosts('*.weather.com', 'db.wx.org:5432'), denied: [] }
  const entries = new Map([['weather', entry('*.wx.org')]])
  assert.deepEqual(reasonsFor(weather, offline, rules({ network, entries })), [])
  const denied = { ...network, denied: hosts('api.weather.com') }
  assert.deepEqual(reasonsFor(weather, offline, rules({ network: denied, entries }))[0]?.missing, ['api.weather.com'])
  const [kept] = reasonsFor(weather, offline, rules({ entries }))
  assert.match(kept?.fix ?? '', /network: \["\*\.wx\.org", api\.weather\.com, "db\.wx\.org:5432"\]/)
})

test('an entry gives nothing to an untrusted copy, and a target with a network needs no setting', () => {
  const entries = new Map([['weather', entry('api.weather.com', '*.wx.org', 'db.wx.org:5432')]])
  const copy = { ...weather, origin: { ...weather.origin, trusted: false } }
  assert.ok(reasonsFor(copy, offline, rules({ entries })).some(({ code }) => code === 'network'))
  assert.deepEqual(reasonsFor(weather, { ...offline, network: true }, rules()), [])
})
