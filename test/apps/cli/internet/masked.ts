/** Masked keys with real clients: a part of inside.ts. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { has, place, requests, run } from './rig.ts'

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
  assert.match(noted, new RegExp(`/m-plain ${placeholder} `))
  assert.match(data.stdout, new RegExp(`"path":"/m-curl\\?k=${placeholder}"`))
  assert.ok(!(got.stdout + got.stderr).includes(key))
  assert.equal(readFileSync(join(at.workspace, 'placeholder.txt'), 'utf8'), `${placeholder}\n`)
  const kept = spawnSync('grep', ['-rl', key, at.home, at.workspace], { encoding: 'utf8' }).stdout.trim()
  assert.equal(kept, join(at.home, 'nexus.yaml'))
})
