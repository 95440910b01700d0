import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Diagnosis, Finding } from '../../../src/skills/diagnose/index.ts'
import type { Invocation } from '../../../src/apps/cli/command.ts'
import { diagnoseHere, type Known, seenIn } from '../../../src/apps/cli/show/facts.ts'
import { readEnvironment } from '../../../src/config/index.ts'
import { fixSkill } from '../../../src/skills/format/index.ts'
import { type Local, openLocal } from '../../../src/local/open-local.ts'

export const NAME = 'name: pdf'
export const DESCRIPTION = 'description: Reads a PDF. Use when a PDF is near.'

/** A SKILL.md with these lines of frontmatter. */
export function skill(...lines: readonly string[]): string {
  return `---\n${lines.join('\n')}\n---\n\n# PDF\n\nRead it.\n`
}

export const GOOD = skill(NAME, DESCRIPTION)

/** A workspace and a home of their own, removed afterwards. */
export class Desk {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), 'nexus-fix-')))
  readonly workspace = join(this.root, 'workspace')
  readonly home = join(this.root, 'home')
  isTrusted = true
  variables: Record<string, string> = {}
  skillsDirs: string[] = []
  agent: string | undefined

  constructor(t: TestContext) {
    mkdirSync(join(this.workspace, 'skills'), { recursive: true })
    mkdirSync(this.home)
    t.after(() => {
      for (const path of ['workspace/skills', 'workspace/skills/pdf']) {
        const directory = join(this.root, path)
        if (existsSync(directory)) chmodSync(directory, 0o755)
      }
      rmSync(this.root, { recursive: true, force: true })
    })
  }

  /** Absolute, below the workspace. */
  at(path: string): string {
    return join(this.workspace, path)
  }

  put(path: string, text: string | Uint8Array): string {
    const file = path.startsWith('/') ? path : this.at(path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
    return file
  }

  /** What `nexus skills why` finds. */
  async why(asked: string): Promise<Diagnosis> {
    const environment = readEnvironment({ HOME: this.home, PATH: process.env['PATH'] ?? '', ...this.variables })
    const options = { cwd: this.workspace, environment, record: 'memory', tolerateConfigErrors: true } as const
    const { isTrusted: trusted, skillsDirs, agent } = this
    const local = await openLocal({ ...options, ...(trusted && { trusted }), skillsDirs })
    try {
      const { runtime } = local
      const flags = agent === undefined ? {} : { agent }
      const signal = AbortSignal.timeout(20_000)
      const invocation = { flags, environment, cwd: this.workspace, signal } as unknown as Invocation
      return await diagnoseHere(asked, seenIn(local, invocation), invocation, knownBy(runtime, agent))
    } finally {
      await local.close()
    }
  }
}

/** As the command does it. */
function knownBy(runtime: Local['runtime'], id: string | undefined): Known {
  const agent = runtime.openAgent({ id })
  const canLoad = agent.definitions().some(({ name }) => name === 'load_skill')
  return { index: agent.index(), canLoad: canLoad || agent.catalog().skills.length === 0 }
}

/** One way to break a skill called pdf, and what the answer must say. */
export interface Broken {
  readonly break: (desk: Desk) => void
  readonly ask?: string
  readonly code: string
  readonly line?: number
  /** What text and fix must say. */
  readonly says: RegExp
  /** What a person does who reads it, where that is more than copying a line or a command. */
  readonly fix?: (desk: Desk, finding: Finding) => void
  /** What is asked when it is fixed; default pdf. */
  readonly then?: string
  /** It is as its author wants it, so there is nothing to fix. */
  readonly isFine?: true
  readonly skip?: string | false
}

const MAX_STEPS = 3

/** Breaks the skill, asks why, follows the answer to the letter, and asks again until it is offered. */
export function fixes(what: string, broken: Broken): void {
  test(`${what}: why names the cause, and following it fixes the skill`, { skip: broken.skip ?? false }, async (t) => {
    const desk = new Desk(t)
    broken.break(desk)
    let answer = await desk.why(broken.ask ?? 'pdf')
    const finding = found(answer, broken.code)
    assert.match(`${finding.message} ${finding.fix}`, broken.says)
    assert.equal(finding.line, broken.line)
    if (finding.code !== 'not-found') assert.ok(existsOrDangles(finding.path ?? ''), `no place: ${finding.path}`)
    if (broken.isFine) return
    for (let step = 0; step < MAX_STEPS; step++) {
      const next = step === 0 ? finding : answer.findings.find(({ severity }) => severity === 'error')
      if (next === undefined) break
      if (broken.fix) broken.fix(desk, next)
      else follow(next, desk.workspace)
      answer = await desk.why(broken.then ?? 'pdf')
    }
    assert.equal(answer.verdict, 'ready', JSON.stringify(answer.findings, undefined, 2))
    const left = answer.findings.filter(({ code, severity }) => severity === 'error' || code === broken.code)
    assert.deepEqual(left, [])
  })
}

function found({ findings }: Diagnosis, code: string): Finding {
  const match = findings.find((finding) => finding.code === code)
  assert.ok(match, `${code} is not among ${JSON.stringify(findings, undefined, 2)}`)
  const first = findings.find(({ severity }) => severity === 'error')
  if (first) assert.equal(first.code, code, 'the cause comes first')
  return match
}

function existsOrDangles(path: string): boolean {
  return path !== '' && existsSync(dirname(path))
}

/** What a fix may say, and doing it. */
const WAYS: readonly (readonly [
  pattern: RegExp,
  act: (said: string, where: { file: string; line: number; workspace: string }) => void,
])[] = [
  [
    /typed in its directory: (iconv .*?)(?: \(.*\))?$/,
    (command, { file }) => void execFileSync('/bin/sh', ['-c', command], { cwd: dirname(file) }),
  ],
  [
    /(?:^|[:;,] )((?:mkdir|mv|cp|rm|chmod|unzip|tar) .*)$/,
    // Where the question was asked.
    (command, { workspace }) => void execFileSync('/bin/sh', ['-c', command], { cwd: workspace }),
  ],
  [
    /^Write: (.*?)(?:[;.]? [oO]r run: .*|, or rename .*|, and rename .*)?$/,
    (text, { file, line }) => edit(file, (lines) => lines.with(line - 1, text)),
  ],
  [
    /^Add a line below the opening ---: (.*?)(?:[;.]? [oO]r run: .*)?$/,
    (text, { file, line }) => edit(file, (lines) => lines.toSpliced(line, 0, text)),
  ],
  [
    /^Write a line with only --- below line (\d+)/,
    (line, { file }) => edit(file, (all) => all.toSpliced(Number(line), 0, '---')),
  ],
  [
    /nexus skills validate (--fix(?:-encoding)?) /,
    (flag, { file }) => {
      const options = { path: file, directoryName: 'pdf', encoding: flag === '--fix-encoding' }
      writeFileSync(file, fixSkill(readFileSync(file, 'utf8'), options).text)
    },
  ],
  [/^Remove (?:the|this) line()/, (_, { file, line }) => edit(file, (lines) => lines.toSpliced(line - 1, 1))],
]

/** Does what a fix says, as somebody would who knows nothing else. */
function follow({ fix, path: file = '', line = 1 }: Finding, workspace: string): void {
  for (const [pattern, act] of WAYS) {
    // A person writes words of their own for those of a template.
    const said = pattern.exec(fix)?.[1]?.replace('What it does. Use when …', 'Reads PDF files. Use when asked to.')
    if (said !== undefined) return act(said, { file, line, workspace })
  }
  assert.fail(`nothing to copy in: ${fix}`)
}

/** Changes the lines of a file. */
export function edit(file: string, change: (lines: string[]) => readonly string[]): void {
  writeFileSync(file, change(readFileSync(file, 'utf8').split('\n')).join('\n'))
}

/** For a case whose fix is an edit: a line of the file named by the finding is replaced, or removed when nothing is given. */
export function rewrite(number: number, ...now: readonly string[]): (desk: Desk, finding: Finding) => void {
  return (_desk, { path = '' }) => edit(path, (lines) => lines.toSpliced(number - 1, 1, ...now))
}
