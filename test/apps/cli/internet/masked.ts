/** Masked keys with real clients: a part of inside.ts. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { has, openAt, place, requests, run } from './rig.ts'

test('a masked key is a placeholder inside; curl, Python and Node call the API with it, and no other host gets it', async (t) => {
  const key = 'masked-secret-4711'
  const name = 'masked'
  const script = [
    'printf "script prints %s\\n" "$K"',
    'curl -fsS -H "Authorization: $K" "https://api.lab-weather.com/m-curl?k=$K"',
    'curl -fsS -u "me:$K" https://api.lab-weather.com/m-basic',
    `python3 -c 'import os, urllib.request as u; print(u.urlopen(u.Request("https://api.lab-weather.com/m-urllib", headers={"Authorization": os.environ["K"]})).read())'`,
    ...(has('python3 requests')
      ? [
          `python3 -c 'import os, requests as r; print(r.post("https://api.lab-weather.com/m-requests", json={"k": os.environ["K"]}, headers={"Authorization": os.environ["K"]}).text)'`,
        ]
      : []),
    `node -e 'fetch("https://api.lab-weather.com/m-fetch", { headers: { authorization: process.env.K } }).then((r) => r.text()).then(console.log)'`,
    'curl -fsS -H "Authorization: $K" https://api.github.com/m-other',
    'curl -fsS -H "Authorization: $K" https://github.com/m-workspace',
    'curl -fsS -H "Authorization: $K" http://api.lab-weather.com/m-plain',
    'echo "$K" > placeholder.txt',
    'cat /proc/self/environ /proc/*/cmdline /proc/*/environ /run/nexus/certificates.pem 2>/dev/null | tr "\\0" "\\n" | grep -e masked-secret -e PRIVATE',
    'true',
  ].join('\n')
  const at = place(
    t,
    { name, command: 'echo', asked: /x/, files: {} },
    'metadata: { nexus: { requires: { env: [K] }, primaryEnv: K } }',
  )
  at.settings(
    `execution: { network: { allowedDomains: [api.github.com] } }\nskills: { entries: { ${name}: { apiKey: ${key}, credentials: mask, network: [api.lab-weather.com] } } }\n`,
  )
  // A trusted workspace opens its hosts for the skill, and sends no key of the user to them.
  writeFileSync(join(at.workspace, 'nexus.yaml'), `skills: { entries: { ${name}: { network: [github.com] } } }\n`)
  const got = await run(at, name, script, '--json')
  assert.equal(got.code, 0, got.stdout + got.stderr)
  const { data } = JSON.parse(got.stdout) as { data: { stdout: string; stderr: string } }
  const placeholder = /script prints (nexus_masked_[0-9a-f]{32})\n/.exec(data.stdout)?.[1] ?? ''
  assert.notEqual(placeholder, '', data.stdout + data.stderr)
  const noted = requests()
  for (const client of ['m-curl\\?k=masked-secret-4711', 'm-urllib', 'm-fetch'])
    assert.match(noted, new RegExp(`/${client} ${key} `), client)
  assert.match(noted, new RegExp(`/m-basic Basic ${Buffer.from(`me:${key}`).toString('base64')} `))
  assert.match(noted, new RegExp(`/m-other ${placeholder} `))
  assert.match(noted, new RegExp(`/m-workspace ${placeholder} `))
  assert.match(noted, new RegExp(`/m-plain ${placeholder} `))
  assert.match(data.stdout, new RegExp(`"path":"/m-curl\\?k=${placeholder}"`))
  assert.ok(!(got.stdout + got.stderr).includes(key))
  assert.equal(readFileSync(join(at.workspace, 'placeholder.txt'), 'utf8'), `${placeholder}\n`)
  const kept = spawnSync('grep', ['-rl', key, at.home, at.workspace], { encoding: 'utf8' }).stdout.trim()
  assert.equal(kept, join(at.home, 'nexus.yaml'))
})

test('the placeholder of one skill is worth nothing in a command of another, nor without a sandbox', async (t) => {
  const at = place(t)
  const [one, two] = ['secret-of-one-4711', 'secret-of-two-4712']
  for (const name of ['one', 'two']) {
    const head = `name: ${name}\ndescription: Calls an API.\nmetadata: { nexus: { requires: { env: [K] }, primaryEnv: K } }`
    mkdirSync(join(at.workspace, 'skills', name), { recursive: true })
    writeFileSync(join(at.workspace, 'skills', name, 'SKILL.md'), `---\n${head}\n---\n`)
  }
  const settings = `skills: { entries: { one: { apiKey: ${one}, credentials: mask, network: [api.lab-weather.com] }, two: { apiKey: ${two}, credentials: mask, network: [api.lab-weather.com, api.github.com] } } }\n`
  at.settings(settings)
  const local = await openAt(t, at)
  const agent = local.runtime.openAgent({ sessionId: 'both' })
  for (const skill_name of ['one', 'two']) await agent.call({ tool: 'load_skill', arguments: { skill_name } })
  const call = async (skill_name: string, command: string): Promise<string> =>
    JSON.stringify((await agent.call({ tool: 'run_command', arguments: { command, skill_name } })).outcome)
  const [mark = ''] = /nexus_masked_[0-9a-f]{32}/.exec(await call('one', 'echo $K')) ?? []
  const send = (key: string, host: string, path: string): string =>
    `curl -sS -H "Authorization: ${key}" https://${host}/${path}`
  const [own = ''] =
    /nexus_masked_[0-9a-f]{32}/.exec(
      await call(
        'two',
        `${send(mark, 'api.lab-weather.com', 'two-as-one')}; ${send(mark, 'api.github.com', 'two-away')}; ${send('$K', 'api.github.com', 'two')}; echo $K`,
      ),
    ) ?? []
  await call('one', `${send(own, 'api.lab-weather.com', 'one-as-two')}; ${send('$K', 'api.github.com', 'one-away')}`)
  const noted = requests()
  assert.match(noted, new RegExp(`/two ${two} `))
  for (const path of ['two-as-one', 'two-away']) assert.match(noted, new RegExp(`/${path} ${mark} `))
  assert.match(noted, new RegExp(`/one-as-two ${own} `))
  // The session reaches the hosts of both skills; the key goes to those of its own entry.
  assert.match(noted, /\/one-away nexus_masked_/)
  assert.ok(!noted.includes(one))
  at.settings(`execution: { sandbox: none }\n${settings}`)
  const bare = await run(at, 'one', 'echo $K')
  assert.match(bare.stdout, /^nexus_masked_[0-9a-f]{32}\n$/)
  const checked = await at.run(['config', 'check'])
  assert.match(checked.stdout + checked.stderr, /mask-no-sandbox[\s\S]*Set execution\.sandbox to local/)
})
