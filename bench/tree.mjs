// Makes trees of skills: <directory>/skills/<name>/SKILL.md and, for some, references/. Seeded: the same bytes on every machine.
//   real   like those that people write: block scalars, several ways to quote, other alphabets, CRLF, BOMs, long frontmatters, 1 to 30 KB
//   plain  files of 4 KB, each with the same fields, descriptions in double quotes, every third with metadata that gates
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const TOPICS =
  'github slack notion jira kafka postgres redis pdf docx excel video audio image chart report deploy docker k8s terraform aws gcp azure lint review test profile trace log metric alert email calendar search crawl scrape parse convert merge split sign encrypt'.split(
    ' ',
  )
const ROLES =
  'helper guide runner analyzer builder manager exporter importer fixer planner watcher reviewer writer reader migrator'.split(
    ' ',
  )
const BINS = ['gh', 'git', 'curl', 'jq', 'node', 'uv', 'ffmpeg', 'docker', 'psql', 'kubectl']
const WORDS =
  "the user asks to create or update a resource and needs help with the command line when working on files, data, pipelines, reports, queries (SQL), dashboards, issues, pull requests, releases, branches, models, prompts, tokens; budgets, schedules, deployments, secrets - configuration, validation, output, formats, errors, retries, pagination, authentication, it's café naïve 日本語".split(
    ' ',
  )

/** mulberry32 */
function createRandom(seed) {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

/** What a tree of each kind is made of. */
export const KINDS = {
  real: { frontmatter, body, ends: oddEnds, files: guideForSome, words: WORDS },
  plain: {
    frontmatter: plainFrontmatter,
    body: plainBody,
    ends: (text) => text,
    files: twoReferences,
    words: WORDS.filter((word) => /^[a-z]+$/.test(word)),
  },
}

/** Writes `count` skills of a kind below `directory` and returns the folder that holds them. */
export function makeTree(directory, count, kind = 'real') {
  const { ends, files, ...make } = KINDS[kind]
  const random = createRandom(42)
  const words = createWords(random, make.words)
  const root = join(directory, 'skills')
  for (let index = 0; index < count; index++) {
    const topic = TOPICS[index % TOPICS.length]
    const role = ROLES[Math.floor(index / TOPICS.length) % ROLES.length]
    const name = `${topic}-${role}-${String(index).padStart(5, '0')}`
    const skill = join(root, name)
    mkdirSync(skill, { recursive: true })
    const text = `---\n${make.frontmatter(name, index, { random, words })}---\n${make.body(name, { random, words })}`
    writeFileSync(join(skill, 'SKILL.md'), ends(text, random()))
    const references = files({ random, words })
    if (references.length > 0) mkdirSync(join(skill, 'references'))
    for (const [file, content] of references) writeFileSync(join(skill, 'references', file), content)
  }
  return root
}

function oddEnds(text, share) {
  return share < 0.06 ? text.replaceAll('\n', '\r\n') : share < 0.07 ? `\ufeff${text}` : text
}

function guideForSome({ random, words }) {
  return random() < 0.3 ? [['guide.md', `# Guide\n\n${words.paragraphs(1_000 + random() * 5_000)}`]] : []
}

function twoReferences({ random, words }) {
  return ['guide', 'api'].map((name) => [`${name}.md`, `# ${name}\n\n${words.paragraphs(2_000 + random() * 4_000)}`])
}

function createWords(random, list) {
  const pick = (items) => items[Math.floor(random() * items.length)]
  const sentence = (count) => {
    const text = Array.from({ length: count }, () => pick(list)).join(' ')
    return `${text[0].toUpperCase()}${text.slice(1)}.`
  }
  const paragraphs = (bytes) => {
    let text = ''
    while (text.length < bytes) text += sentence(6 + Math.floor(random() * 14)) + (random() < 0.2 ? '\n\n' : ' ')
    return text
  }
  return { pick, sentence, paragraphs }
}

function frontmatter(name, index, { random, words }) {
  const bin = words.pick(BINS)
  const lines = [`name: ${random() < 0.1 ? JSON.stringify(name) : name}`, description({ random, words })]
  if (random() < 0.05) lines.push('# kept by the platform team')
  if (random() < 0.5) lines.push('license: Apache-2.0')
  if (random() < 0.2) lines.push(`compatibility: Requires ${bin} and network access`)
  const share = random()
  if (share < 0.3) lines.push(`allowed-tools: Read Grep Bash(${bin}:*)`)
  else if (share < 0.4) lines.push('allowed-tools:', '  - Read', `  - Bash(${bin}:*)`)
  else if (share < 0.45) lines.push('allowed-tools: [Read, Grep]')
  if (random() < 0.1) lines.push(`version: ${index % 10}.${index % 7}`, 'user-invocable: true')
  if (random() < 0.05) lines.push("argument-hint: '[file] [format]'")
  lines.push(...metadata(bin, { random, name, index }))
  if (random() < 0.005) lines.push(`notes: ${JSON.stringify(words.paragraphs(5_000).replaceAll('\n', ' '))}`)
  return `${lines.join('\n')}\n`
}

function plainFrontmatter(name, index, { random, words }) {
  const bin = words.pick(BINS)
  const text = `${words.sentence(18 + Math.floor(random() * 30))} Use when ${words.sentence(8).toLowerCase()}`
  const lines = [`name: ${name}`, `description: "${text}"`, 'license: Apache-2.0']
  lines.push(`compatibility: Requires ${bin} on PATH and network access`, `allowed-tools: Read Grep Bash(${bin}:*)`)
  lines.push('metadata:', `  author: team-${index % 17}`, `  version: "1.${index % 10}.${index % 7}"`)
  if (index % 3 === 2) lines.push(...gates(bin, name))
  else lines.push(`  category: ${words.pick(ROLES)}`)
  return `${lines.join('\n')}\n`
}

function plainBody(name, { words }) {
  return `\n# ${name}\n\n${words.paragraphs(3_500)}\n\nSee [guide](references/guide.md) and [api](references/api.md).\n`
}

/** Half of real skills use a block or quotes; some descriptions are as long as the standard allows. */
function description({ random, words }) {
  const length = random() < 0.1 ? 120 : 15 + Math.floor(random() * 40)
  const text = `${words.sentence(length)} Use when ${words.sentence(8).toLowerCase()}`.slice(0, 1_000).trimEnd()
  const share = random()
  if (share < 0.25 || !/^\p{L}/u.test(text)) return `description: ${JSON.stringify(text)}`
  if (share < 0.35) return `description: '${text.replaceAll("'", "''")}'`
  if (share < 0.55) return `description: >-\n${wrap(text)}`
  if (share < 0.62) return `description: |\n${wrap(text)}`
  if (share < 0.65) return `description: >\n${wrap(text)}`
  return `description: ${text}`
}

function wrap(text) {
  const lines = ['']
  for (const word of text.split(' ')) {
    if (lines.at(-1).length + word.length > 90) lines.push('')
    lines[lines.length - 1] += lines.at(-1) === '' ? word : ` ${word}`
  }
  return lines.map((line) => `  ${line}`).join('\n')
}

function metadata(bin, { random, name, index }) {
  const share = random()
  if (share < 0.35) return []
  if (share < 0.6) return ['metadata:', `  author: team-${index % 17}`, `  version: "1.${index % 10}.${index % 7}"`]
  if (share < 0.7)
    return [`metadata: {"openclaw":{"emoji":"🧰","requires":{"bins":["${bin}"],"env":["${variableOf(name)}"]}}}`]
  return ['metadata:', ...gates(bin, name)]
}

function variableOf(name) {
  return `${name.toUpperCase().replaceAll('-', '_')}_TOKEN`
}

/** Lines below `metadata:`. */
function gates(bin, name) {
  const variable = variableOf(name)
  return [
    '  openclaw:',
    '    emoji: "🧰"',
    '    os: ["darwin", "linux"]',
    '    requires:',
    `      bins: ["${bin}"]`,
    `      env: ["${variable}"]`,
    `    primaryEnv: ${variable}`,
    '    install:',
    '      - id: apt',
    '        kind: apt',
    `        package: ${bin}`,
    `        bins: ["${bin}"]`,
    `        label: "Install ${bin} (apt)"`,
  ]
}

/** 1 to 30 KB, most of them short. */
function body(name, { random, words }) {
  const bytes = 1_000 + 29_000 * random() ** 4
  let text = `\n# ${name}\n\n${words.paragraphs(300)}\n\n## Steps\n\n`
  for (let step = 1; text.length < bytes; step++) {
    text +=
      random() < 0.7
        ? `${step}. ${words.sentence(10)}\n`
        : `\n### ${words.sentence(3)}\n\n${words.paragraphs(300)}\n\n---\n\n`
  }
  return `${text}\nSee [guide](references/guide.md).\n`
}
