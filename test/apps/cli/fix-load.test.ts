// Skills that lists take for ready, and that cannot be loaded: only reading all of a skill shows it.
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { DESCRIPTION, type Desk, edit, GOOD, fixes, NAME, skill } from './stranger.ts'

const noFifo = spawnSync('mkfifo', ['--version']).error ? 'mkfifo is not installed' : false
const isRoot = process.geteuid?.() === 0 ? 'root may read everything' : false
const FILE = 'skills/pdf/SKILL.md'
const LONG = `${GOOD}${'word '.repeat(2_000)}`

function files(desk: Desk, directory: string, count: number): void {
  desk.put(FILE, GOOD)
  mkdirSync(desk.at(`skills/pdf/${directory}`), { recursive: true })
  for (let index = 0; index < count; index++) writeFileSync(desk.at(`skills/pdf/${directory}/f${index}`), '')
}

fixes('a NUL deep in the body', {
  break: (desk) => desk.put(FILE, `${LONG}\0\n`),
  ...{ code: 'nul-character', line: 9, says: /^The file contains a NUL character/ },
  fix: (desk) => desk.put(FILE, LONG),
})
fixes('more files than a skill may have', {
  break: (desk) => files(desk, 'scripts/node_modules', 2_100),
  ...{
    code: 'cannot-load',
    says: /^Nexus cannot load it: .*more than 2000 files.*most of it lies in "scripts": move that out/,
  },
  fix: (desk) => renameSync(desk.at('skills/pdf/scripts'), desk.at('elsewhere')),
})
fixes('a file that is larger than a file of a skill may be', {
  break: (desk) => {
    desk.put(FILE, GOOD)
    truncateSync(desk.put('skills/pdf/model.bin', ''), 600 * 1_048_576)
  },
  ...{
    code: 'cannot-load',
    says: /a file of 629145600 bytes, "model\.bin"; the limit is 10485760.*make it smaller, or move it out/,
  },
  fix: (_desk, { path = '' }) => rmSync(path),
})
fixes('more bytes than a skill may have', {
  break: (desk) => {
    desk.put(FILE, GOOD)
    for (let index = 0; index < 6; index++) truncateSync(desk.put(`skills/pdf/assets/${index}`, ''), 10_000_000)
  },
  ...{ code: 'cannot-load', says: /more than 52428800 bytes in all.*most of it lies in "assets"/ },
  fix: (_desk, { path = '' }) => rmSync(path, { recursive: true }),
})
fixes('directories that are too deep', {
  break: (desk) => {
    desk.put(FILE, GOOD)
    desk.put(`skills/pdf/${'d/'.repeat(17)}x`, '')
  },
  ...{ code: 'cannot-load', says: /more than 16 levels of directories.*further up/ },
  fix: (desk) => rmSync(desk.at('skills/pdf/d'), { recursive: true }),
})
fixes('a file with a line break in its name', {
  break: (desk) => {
    desk.put(FILE, GOOD)
    desk.put('skills/pdf/a\nb', '')
  },
  ...{ code: 'cannot-load', says: /"a\\nb" in .* control character.*rename it/ },
  fix: (desk) => rmSync(desk.at('skills/pdf/a\nb')),
})
fixes('a file that nobody may read', {
  break: (desk) => {
    desk.put(FILE, GOOD)
    chmodSync(desk.put('skills/pdf/secret.md', 'x'), 0)
  },
  ...{ code: 'cannot-load', says: /secret\.md" cannot be read: permission denied.*chmod -R a\+rX / },
  skip: isRoot,
})
fixes('a skill that lacks a program and cannot be loaded either', {
  break: (desk) => {
    files(desk, 'data', 2_100)
    desk.put(FILE, skill(NAME, DESCRIPTION, 'metadata: { requires: { bins: [no-such-program] } }'))
  },
  ...{ code: 'bin', line: 4, says: /missing binary: no-such-program/ },
  fix: (desk, { code }) => {
    if (code === 'bin') edit(desk.at(FILE), (lines) => lines.toSpliced(3, 1))
    else rmSync(desk.at('skills/pdf/data'), { recursive: true })
  },
})

for (const [what, make] of [
  ['a link to a file of the same skill', (at: string) => symlinkSync('SKILL.md', `${at}/b.md`)],
  ['a link to nowhere', (at: string) => symlinkSync('/nonexist', `${at}/LICENSE`)],
  ['a link to a directory', (at: string) => symlinkSync('/etc', `${at}/references`)],
] as const)
  fixes(`${what} in the skill`, {
    break: (desk) => {
      desk.put(FILE, GOOD)
      make(desk.at('skills/pdf'))
    },
    ...{
      code: 'left-out',
      says: /not part of the skill.*\(a link\)\. Nothing to fix if .* as regular files/,
    },
    isFine: true,
  })
fixes('a FIFO in the skill', {
  break: (desk) => {
    desk.put(FILE, GOOD)
    execFileSync('mkfifo', [desk.at('skills/pdf/pipe')])
  },
  ...{ code: 'left-out', says: /pipe \(a FIFO\)\. Nothing to fix/ },
  isFine: true,
  skip: noFifo,
})

// Answers that did harm.
fixes('a link out of the root that is asked for by its path', {
  break: (desk) => {
    desk.put(`${desk.root}/team/pdf/SKILL.md`, GOOD)
    symlinkSync(`${desk.root}/team/pdf`, desk.at('skills/pdf'))
  },
  ask: 'skills/pdf',
  ...{ code: 'link-outside', says: /^(?!.*mv )/ },
  fix: (desk) => void desk.skillsDirs.push(`${desk.root}/team`),
})
fixes('a directory that is searched, and is a skill of another name', {
  break: (desk) => desk.put('skills/SKILL.md', GOOD),
  ...{ code: 'name-differs', line: 2, says: /^(?!.*rename the directory).*Nothing to fix/ },
  isFine: true,
})
fixes('a SKILL.md that is a link to that of another skill, asked for by its directory', {
  break: (desk) => {
    desk.put('skills/q/SKILL.md', GOOD)
    mkdirSync(desk.at('skills/lk'))
    symlinkSync('../q/SKILL.md', desk.at('skills/lk/SKILL.md'))
  },
  ask: 'lk',
  ...{ code: 'duplicate', says: /all its files equal/ },
  isFine: true,
})
fixes('a name that differs where SKILL.md is a link to that of another skill', {
  break: (desk) => {
    desk.put('skills/q/SKILL.md', GOOD)
    mkdirSync(desk.at('skills/lk'))
    symlinkSync('../q/SKILL.md', desk.at('skills/lk/SKILL.md'))
  },
  ask: 'lk',
  ...{ code: 'other-name', says: /^(?!.*in its frontmatter).*put a file with name: lk in place of the link/ },
  isFine: true,
})
