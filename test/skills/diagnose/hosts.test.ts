import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { hostsIn } from '../../../src/skills/diagnose/index.ts'

const of = (text: string, path = 'scripts/x.sh'): string[] => hostsIn([{ path, text }]).map(({ host }) => host)

test('hosts are read from whole addresses only', () => {
  assert.deepEqual(of('curl -s "https://api.github.com/repos" https://API.github.com:443/x'), ['api.github.com'])
  assert.deepEqual(of('wss://stream.acme.io:8443/v1 http://user:pass@data.acme.io/'), [
    'stream.acme.io:8443',
    'data.acme.io',
  ])
  assert.deepEqual(of('curl "https://api.acme.com$1" https://other.acme.com${path}'), [
    'api.acme.com',
    'other.acme.com',
  ])
  for (const text of [
    'https://${HOST}/x',
    'https://api.{tenant}.acme.io/',
    'https://api.$REGION.acme.io/',
    'https://acme-$REGION.io',
    'https://api.acme$REGION.io/',
    'https://%s.acme.io/',
    'https://api.acme.%s/',
    'https://1.2.3.4/ http://[::1]/ http://localhost:3000/ http://0x7f.1/',
    'https://example.com/x https://api.example.org https://your-site.acme.io https://my.acme.io http://nas.local/',
    'api.github.com without an address',
    'git@github.com:a/b.git',
  ])
    assert.deepEqual(of(text), [], text)
})

test('links for readers and the frontmatter of a SKILL.md name no host, its code does', () => {
  const text = `---\nname: x\nhomepage: https://home.acme.io\n---\nSee [docs](https://docs.acme.io) or <https://more.acme.io>.\n\`curl https://api.acme.io\`\n`
  assert.deepEqual(of(text, 'SKILL.md'), ['api.acme.io'])
})

test('installers that are called have known hosts', () => {
  assert.deepEqual(of('pip install requests'), ['pypi.org', 'files.pythonhosted.org'])
  assert.deepEqual(of('npx -y cowsay'), ['registry.npmjs.org'])
  assert.deepEqual(of('run `gh pr list`'), ['api.github.com', 'github.com'])
  assert.deepEqual(of('go install x@latest'), ['proxy.golang.org', 'sum.golang.org'])
  assert.deepEqual(of('cargo install x'), ['index.crates.io', 'static.crates.io'])
  assert.deepEqual(of('we went pip install-free; a gh flag; cargo cult'), [])
})

test('the addresses of links are for readers, also with parentheses in them', () => {
  const text =
    '[a](https://docs.acme.io/x) [b](https://wiki.acme.io/A_(b)) <https://site.acme.io>\ncurl https://api.acme.io'
  assert.deepEqual(of(text, 'SKILL.md'), ['api.acme.io'])
})

test('a long text of half links and addresses takes no long time', () => {
  const begun = performance.now()
  // With a scan to the end for each of them these take minutes.
  for (const half of ['](', '](a', '](a(', '<https://', 'https://a@', 'https://a.'])
    hostsIn([{ path: 'SKILL.md', text: half.repeat(100_000) }])
  assert.ok(performance.now() - begun < 5_000)
})

const corpus = process.env['NEXUS_CORPUS'] ?? join(import.meta.dirname, '../../../../shared/corpus')
const skip = !existsSync(join(corpus, 'real-skills.jsonl.gz')) && 'the corpus is not here'

test('of no real skill a host is proposed that its text does not name', { skip }, () => {
  let proposals = 0
  for (const line of gunzipSync(readFileSync(join(corpus, 'real-skills.jsonl.gz')))
    .toString()
    .split('\n')) {
    if (line === '') continue
    const { source, path, base64 } = JSON.parse(line) as { source: string; path: string; base64: string }
    const text = Buffer.from(base64, 'base64').toString()
    const lower = text.toLowerCase()
    for (const { host, from } of hostsIn([{ path: 'SKILL.md', text }])) {
      proposals++
      // The hosts of an installer are known by its name.
      const name = from === 'SKILL.md' ? `//${host.replace(/:\d+$/, '')}` : from
      const isNamed =
        lower.includes(name) ||
        lower.includes(name.replace('//', '@')) ||
        (from === 'npm' && /npx|pnpm|yarn/.test(lower))
      assert.ok(isNamed, `${source} ${path}: ${host} from ${from}`)
    }
  }
  assert.ok(proposals > 500, String(proposals))
})
