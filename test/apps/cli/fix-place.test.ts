import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import assert from 'node:assert/strict'
import { DESCRIPTION, Desk, GOOD, fixes, NAME, skill } from './stranger.ts'

const FILE = 'skills/pdf/SKILL.md'
const asRoot = process.getuid?.() === 0 && 'root may read everything'
const other = (name: string, more = ''): string => skill(`name: ${name}`, DESCRIPTION, ...(more === '' ? [] : [more]))
const at =
  (...paths: readonly string[]): ((desk: Desk) => void) =>
  (desk) => {
    for (const path of paths) desk.put(path, GOOD)
  }

// The name of the file.
for (const name of ['skill.md', 'Skill.md', 'SKILL.MD', 'README.md', 'SKILLS.md', 'SKILL.md.txt'])
  fixes(`the file name ${name}`, {
    break: at(`skills/pdf/${name}`),
    code: 'skill-file-name',
    says: /Nexus reads only SKILL\.md.*mv /,
  })
fixes('the file name pdf.md', {
  break: at('skills/pdf/pdf.md'),
  ...{ code: 'no-skill-file', says: /has no SKILL\.md/ },
  fix: (desk) => desk.put(FILE, GOOD),
})
fixes('an empty directory', {
  break: (desk) => mkdirSync(desk.at('skills/pdf')),
  ...{ code: 'no-skill-file', says: /has no SKILL\.md.*name: pdf/ },
  fix: (desk) => desk.put(FILE, GOOD),
})
fixes('a single file', { break: at('skills/pdf.md'), code: 'skill-single-file', says: /A skill is a directory/ })
fixes('a packed skill', {
  break: (desk) => {
    desk.put('pdf/SKILL.md', GOOD)
    execFileSync('tar', ['-czf', desk.at('skills/pdf.tgz'), '-C', desk.workspace, 'pdf'])
    rmSync(desk.at('pdf'), { recursive: true })
  },
  ...{ code: 'skill-archive', says: /does not search archives.*tar -xf/ },
})

// The directory.
fixes('a skill inside another skill', {
  break: (desk) => {
    desk.put('skills/foo/SKILL.md', other('foo'))
    desk.put('skills/foo/pdf/SKILL.md', GOOD)
  },
  ...{ code: 'wrong-place', says: /inside the skill .*skills\/foo\. .*mv / },
})
fixes('a SKILL.md in the root that hides the others', {
  break: (desk) => {
    desk.put('skills/SKILL.md', other('my-skill'))
    desk.put(FILE, GOOD)
  },
  ...{ code: 'wrong-place', says: /has a SKILL\.md of its own/ },
})
fixes('a directory that is too deep', {
  break: at('skills/1/2/3/4/5/6/7/8/9/pdf/SKILL.md'),
  code: 'wrong-place',
  says: /deeper than the levels that Nexus searches/,
})
fixes('a blank after SKILL.md', {
  break: at('skills/pdf/SKILL.md '),
  ...{ code: 'no-skill-file', says: /has no SKILL\.md/ },
  fix: (desk) => desk.put(FILE, GOOD),
})
fixes('a skill beside the roots', {
  break: at('tools/pdf/SKILL.md'),
  code: 'wrong-place',
  says: /--skills-dir .*tools, or skills\.load\.extraDirs/,
})
fixes('a SKILL.md in the workspace itself', {
  break: at('SKILL.md'),
  code: 'wrong-place',
  says: /mkdir -p .*skills\/pdf && mv /,
})
fixes('a directory called skill', {
  break: at('skill/pdf/SKILL.md'),
  code: 'wrong-place',
  says: /not in a directory that Nexus searches/,
})
fixes('a hidden directory', { break: at('skills/.pdf/SKILL.md'), code: 'wrong-place', says: /its directory is hidden/ })
fixes('the directory of another client', {
  break: at('.codex/skills/pdf/SKILL.md'),
  code: 'wrong-place',
  says: /hidden directory.*cp -R/,
})
fixes('node_modules', { break: at('skills/node_modules/pdf/SKILL.md'), code: 'wrong-place', says: /node_modules/ })
fixes('the home of another client', {
  break: (desk) => desk.put(join(desk.home, '.claude/skills/pdf/SKILL.md'), GOOD),
  ...{ code: 'wrong-place', says: /another program keeps its skills there.*cp -R/ },
})
fixes('a name with blanks on its way', {
  break: at("my $(touch x)'s/pdf/SKILL.md"),
  code: 'wrong-place',
  says: /'\\''s/,
})
fixes('a file where the skills should be', {
  break: (desk) => {
    rmSync(desk.at('skills'), { recursive: true })
    writeFileSync(desk.at('skills'), GOOD)
  },
  ...{ code: 'not-found', says: /Fix the problem below first/ },
  fix: (desk) => {
    renameSync(desk.at('skills'), desk.at('old'))
    desk.put(FILE, GOOD)
  },
})

// Links and rights.
fixes('a link as SKILL.md inside the root', {
  break: (desk) => {
    desk.put('skills/real.md', GOOD)
    mkdirSync(desk.at('skills/pdf'))
    symlinkSync('../real.md', desk.at(FILE))
  },
  ...{ code: 'link-followed', says: /reads that file.*cp --remove-destination \S+real\.md \S+pdf\/SKILL\.md$/ },
})
fixes('a link as SKILL.md out of the root', {
  break: (desk) => {
    mkdirSync(desk.at('skills/pdf'))
    symlinkSync(desk.put('elsewhere.md', GOOD), desk.at(FILE))
  },
  ...{ code: 'link-outside', says: /^(?!.*\b(?:cp|mv) ).*leaves the directory of its source.*rm \S+pdf\/SKILL\.md$/ },
  fix: (desk) => {
    rmSync(desk.at(FILE))
    desk.put(FILE, GOOD)
  },
})
fixes('a link as SKILL.md to nowhere', {
  break: (desk) => {
    mkdirSync(desk.at('skills/pdf'))
    symlinkSync('nowhere.md', desk.at(FILE))
  },
  ...{ code: 'skill-file-unreadable', says: /to "nowhere\.md": it does not exist/ },
  fix: (desk) => {
    rmSync(desk.at(FILE))
    desk.put(FILE, GOOD)
  },
})
fixes('a linked directory out of the root', {
  break: (desk) => {
    desk.put(join(desk.root, 'team/pdf/SKILL.md'), GOOD)
    symlinkSync(join(desk.root, 'team/pdf'), desk.at('skills/pdf'))
  },
  ...{ code: 'link-outside', says: /leads out of the directory of its source, to ".*team\/pdf".*--skills-dir .*team,/ },
  fix: (desk) => void desk.skillsDirs.push(join(desk.root, 'team')),
})
fixes('a linked directory to nowhere', {
  break: (desk) => symlinkSync('/no/such/place', desk.at('skills/pdf')),
  ...{ code: 'link-broken', says: /to "\/no\/such\/place": it does not exist/ },
  fix: (desk) => {
    rmSync(desk.at('skills/pdf'))
    desk.put(FILE, GOOD)
  },
})
fixes('links in a circle', {
  break: (desk) => symlinkSync('pdf', desk.at('skills/pdf')),
  ...{ code: 'link-broken', says: /too many links/ },
  fix: (desk) => {
    rmSync(desk.at('skills/pdf'))
    desk.put(FILE, GOOD)
  },
})
fixes('a root that is a link out of the workspace', {
  break: (desk) => {
    desk.put(join(desk.root, 'team/pdf/SKILL.md'), GOOD)
    rmSync(desk.at('skills'), { recursive: true })
    symlinkSync(join(desk.root, 'team'), desk.at('skills'))
  },
  ...{ code: 'not-found', says: /Fix the problem below first/ },
  fix: (desk) => {
    rmSync(desk.at('skills'))
    renameSync(join(desk.root, 'team'), desk.at('skills'))
  },
})
for (const kind of ['directory', 'FIFO'] as const)
  fixes(`a ${kind} called SKILL.md`, {
    break: (desk) => {
      mkdirSync(desk.at('skills/pdf'))
      if (kind === 'FIFO') execFileSync('mkfifo', [desk.at(FILE)])
      else mkdirSync(desk.at(FILE))
    },
    ...{ code: 'skill-file-kind', says: new RegExp(`SKILL\\.md is a ${kind}.*Replace it with a text file`) },
    fix: (desk) => {
      rmSync(desk.at(FILE), { recursive: true })
      desk.put(FILE, GOOD)
    },
  })
fixes('a file without rights', {
  break: (desk) => chmodSync(desk.put(FILE, GOOD), 0),
  ...{ code: 'skill-file-unreadable', says: /permission denied.*chmod a\+r/, skip: asRoot },
})
fixes('a directory without rights', {
  break: (desk) => {
    desk.put(FILE, GOOD)
    chmodSync(desk.at('skills/pdf'), 0)
  },
  ...{ code: 'directory-unreadable', says: /permission denied.*chmod a\+rx/, skip: asRoot },
})

// Two copies.
const copyAtHome =
  (mine: string, theirs: string): ((desk: Desk) => void) =>
  (desk) => {
    desk.put(FILE, mine)
    desk.put(join(desk.home, '.nexus/skills/pdf/SKILL.md'), theirs)
  }
fixes('a copy in a lower tier', {
  break: copyAtHome(GOOD, skill(NAME, DESCRIPTION, 'license: MIT')),
  ask: 'local/pdf',
  ...{
    code: 'shadowed',
    says: /shadowed by \.\/skills\/pdf\/SKILL\.md \(workspace ranks above local\).*local\/pdf/,
  },
  fix: (desk) => rmSync(desk.at('skills/pdf'), { recursive: true }),
  then: 'local/pdf',
})
fixes('a duplicate', {
  break: copyAtHome(GOOD, GOOD),
  ask: 'local/pdf',
  code: 'duplicate',
  says: /all its files equal those of .*Nothing to fix/,
  isFine: true,
})
fixes('two skills of one name in one source', {
  break: (desk) => {
    desk.put('skills/a/SKILL.md', GOOD)
    desk.put('skills/b/SKILL.md', skill(NAME, DESCRIPTION, 'license: MIT'))
  },
  ...{ code: 'shadowed', says: /One source has the name twice.*another name/ },
  fix: (desk) => rmSync(desk.at('skills/a'), { recursive: true }),
})

// What was asked.
const asked = (ask: string, says: RegExp): void =>
  fixes(`asking for ${ask}`, { break: at(FILE), ask, code: 'not-found', says, isFine: true })
asked('pfd', /Did you mean 'pdf'\? Run: nexus skills why pdf$/)
asked('PDF', /Did you mean 'pdf'/)
asked('$pfd', /Did you mean 'pdf'/)
asked('local/pdf', /Source 'local' has no skill named 'pdf'.*nexus skills why workspace\/pdf$/)
asked('claude/pdf', /There is no source 'claude'.*workspace\/pdf$/)
asked('../../etc/passwd', /nexus skills list --all$/)
asked('new-skill', /Put it at \.\/skills\/new-skill\/SKILL\.md, or create it: nexus skills init new-skill$/)

test('a skill is known by name, mention, address, directory and path, also a relative one', async (t) => {
  const desk = new Desk(t)
  desk.put(FILE, skill('name: reader', DESCRIPTION))
  for (const asking of [
    'reader',
    '$reader',
    'workspace/reader',
    'pdf',
    'skills/pdf',
    './skills/pdf/SKILL.md',
    desk.at(FILE),
  ])
    assert.equal((await desk.why(asking)).verdict, 'ready', asking)
})
