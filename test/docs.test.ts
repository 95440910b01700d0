import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { cpSync, existsSync, globSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { dirname, join, normalize } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, test } from 'node:test'
import { startModelServer } from '../src/testing/index.ts'
import { moduleOf, readSource, ROOT, SOURCE_FILES } from './source-tree.ts'

const MOST_LINES = 120
/** With its pictures. */
const MOST_README_LINES = 150
const PAGES = ['README.md', 'AGENTS.md', 'CHANGELOG.md', ...globSync('docs/**/*.md', { cwd: ROOT }).sort()].filter(
  (page) => existsSync(join(ROOT, page)),
)

/** A code block is checked by the compiler when its info string says `ts check`, and also run when it says `ts run`. */
const BLOCK = /^```ts (check|run)\n([\s\S]*?)^```$/gm
const blocks = PAGES.flatMap((page) =>
  [...readSource(page).matchAll(BLOCK)].map(([, kind = '', code = ''], index) => ({
    page,
    kind,
    code,
    file: `${page.replaceAll(/[/.]/g, '-')}-${index + 1}.ts`,
  })),
)

/** A project beside ours in which the package is installed, as a reader of the pages would have it. */
const project = mkdtempSync(join(tmpdir(), 'nexus-docs-'))
after(() => rmSync(project, { recursive: true, force: true }))
mkdirSync(join(project, 'node_modules'))
symlinkSync(ROOT, join(project, 'node_modules/nexus-skills'))
for (const name of ['@modelcontextprotocol', '@types', 'ai', 'zod', 'valibot', '@valibot']) {
  symlinkSync(join(ROOT, 'node_modules', name), join(project, 'node_modules', name))
}
writeFileSync(join(project, 'package.json'), '{ "type": "module", "private": true }')
cpSync(join(ROOT, 'skills'), join(project, 'skills'), { recursive: true })
for (const { file, code } of blocks) writeFileSync(join(project, file), code)

const lines = (page: string): number => readSource(page).trimEnd().split('\n').length

test('docs/decisions.md is one table, with the area, date, decision and reason of each row', () => {
  const [head, ...rows] =
    readSource('docs/decisions.md')
      .split(/^(?=\| Area )/m)[1]
      ?.trimEnd()
      .split('\n') ?? []
  assert.equal(head, '| Area | Since | What holds | Because |')
  assert.ok(rows.length > 100)
  const odd = rows.slice(1).filter((row) => !/^\| [a-z]+ \| \d\d-\d\d \| .+ \| .+ \|$/.test(row))
  assert.deepEqual(odd, [])
})
const inProject = (args: readonly string[]): { status: number | null; stdout: string; stderr: string } =>
  spawnSync(process.execPath, args, {
    cwd: project,
    encoding: 'utf8',
    env: { ...process.env, NEXUS_HOME: join(project, 'home') },
  })

test('README and AGENTS fit on a few screens, and CLAUDE.md refers to AGENTS.md', () => {
  assert.ok(lines('README.md') <= MOST_README_LINES, `README.md has ${lines('README.md')} lines`)
  assert.ok(lines('AGENTS.md') <= MOST_LINES, `AGENTS.md has ${lines('AGENTS.md')} lines`)
  assert.equal(readSource('CLAUDE.md').trim(), '@AGENTS.md')
})

test('links between pages lead to files and headings that exist', () => {
  const broken = PAGES.flatMap((page) =>
    [...withoutCode(readSource(page)).matchAll(/\[[^\]]*\]\(([^)\s]+)\)/g)]
      .map(([, target = '']) => target)
      .filter((target) => !/^[a-z]+:/.test(target) && !leadsSomewhere(page, target))
      .map((target) => `${page}: ${target}`),
  )
  assert.deepEqual(broken, [])
})

function leadsSomewhere(page: string, target: string): boolean {
  const [path = '', anchor] = target.split('#', 2)
  const file = path === '' ? page : normalize(join(dirname(page), path))
  if (!existsSync(join(ROOT, file))) return false
  return anchor === undefined || !file.endsWith('.md') || headings(file).includes(anchor)
}

/** Headings as GitHub turns them into anchors. */
function headings(page: string): string[] {
  return [...withoutCode(readSource(page)).matchAll(/^#+ (.+)$/gm)].map(([, text = '']) =>
    text
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

function withoutCode(text: string): string {
  return text.replaceAll(/^```[\s\S]*?^```$/gm, '')
}

test('no page has marks of an unfinished merge', () => {
  assert.deepEqual(
    PAGES.filter((page) => /^(?:<{7}|>{7})(?: |$)/m.test(readSource(page))),
    [],
  )
})

test('every module has a page, by its own name or that of its group', () => {
  // public/ is the list of entries, which the README shows.
  const modules = [...new Set(SOURCE_FILES.map(moduleOf))].filter((module) => module !== 'public')
  const hasPage = (module: string): boolean =>
    module.split('/').some((name) => existsSync(join(ROOT, 'docs', `${name}.md`)))
  assert.deepEqual(
    modules.filter((module) => !hasPage(module)),
    [],
  )
})

test('README has code that runs', () => {
  assert.ok(
    blocks.some(({ page, kind }) => page === 'README.md' && kind === 'run'),
    'mark the example with ```ts run',
  )
})

test('the code blocks of the pages fit the types of the built package', () => {
  const files = blocks.map(({ file }) => file)
  const options = [
    '--noEmit',
    '--strict',
    '--module',
    'nodenext',
    '--target',
    'es2024',
    '--lib',
    'es2024,esnext.disposable',
  ]
  const tsc = join(ROOT, 'node_modules/.bin/tsc')
  const { status, stdout } = inProject([
    tsc,
    ...options,
    '--types',
    'node',
    '--skipLibCheck',
    '--allowImportingTsExtensions',
    ...files,
  ])
  assert.equal(status, 0, stdout)
})

for (const { page, file } of blocks.filter(({ kind }) => kind === 'run')) {
  test(`the code in ${page} runs (${file})`, async () => {
    await using server = await startModelServer({ script: [{ type: 'text', text: 'Hello.' }] })
    const key = { OPENAI_API_KEY: 'sk-docs', OPENAI_BASE_URL: server.url }
    const env = { ...process.env, NEXUS_HOME: join(project, 'home'), ...key }
    const child = spawn(process.execPath, [file], { cwd: project, env, stdio: ['ignore', 'pipe', 'pipe'] })
    const output = Promise.all([text(child.stdout), text(child.stderr)])
    const [status] = await once(child, 'close')
    assert.equal(status, 0, (await output).join(''))
  })
}

/** The words of the table in docs/words.md; each must be explained there. */
const KERNEL_WORDS = [
  ...[
    'skill',
    'tool',
    'source',
    'tier',
    'gate',
    'ready',
    'held',
    'shadowed',
    'invalid',
    'not allowed',
    'untrusted',
    'duplicate',
    'over budget',
    'fix',
    'catalog',
    'snapshot',
    'manifest',
  ],
  ...[
    'tree digest',
    'call',
    'policy',
    'permissions',
    'decision',
    'outcome',
    'diagnostic',
    'sandbox',
    'target facts',
    'task',
    'job',
  ],
  ...['artifact', 'ledger', 'agent', 'session', 'turn', 'project', 'workspace', 'prompt index', 'ceiling', 'trust'],
]

test('docs/words.md explains every word of the kernel and translates all five designs', () => {
  const text = readSource('docs/words.md')
  const explained = [...text.matchAll(/^\| (\*\*.+?\*\*) \|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/\*\*([^*]+)\*\*/g)].map(([, word]) => word ?? ''),
  )
  assert.deepEqual(
    KERNEL_WORDS.filter((word) => !explained.includes(word)),
    [],
  )
  for (const design of ['000', '001', '002', '003', '004']) assert.match(text, new RegExp(`^\\| ${design} \\|`, 'm'))
})

test('every test that docs/security.md names exists, and each guarantee names one', () => {
  const text = readSource('docs/security.md')
  const [, guarantees = ''] = /## Guarantees\n([\s\S]*?)\n## /.exec(text) ?? []
  const rows = guarantees.split('\n').filter((line) => /^\| [A-Z`]/.test(line))
  assert.ok(rows.length > 15)
  for (const row of rows) {
    const tests = [...row.matchAll(/\]\(\.\.\/(test\/[^)]+\.test\.ts)\)/g)].map(([, path]) => path ?? '')
    assert.notEqual(tests.length, 0, row)
    for (const path of tests) assert.ok(existsSync(join(ROOT, path)), path)
  }
})
