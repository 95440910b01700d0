import { basename, dirname } from 'node:path'
import { shellWord, SKILL_FILE } from '../kernel/index.ts'
import type { SearchedRoot, StrayFile } from './facts.ts'
import { type Finding, finding } from './finding.ts'

/** Where a misplaced skill is, why it is not found there, and the command that moves it. */
export function misplaced(asked: string, stray: StrayFile, roots: readonly SearchedRoot[]): Finding {
  const { file, why } = stray
  const directory = dirname(file)
  const root = rootFor(stray, roots)
  const name = nameFor(asked, directory)
  const words = wordsFor(stray, { directory, root, name, target: `${root}/${name}` })
  return finding(why === 'no-skill-file' ? 'no-skill-file' : 'wrong-place', 'error', { ...words, path: file })
}

interface Goal {
  readonly directory: string
  readonly root: string
  readonly name: string
  /** The directory where the skill would be found. */
  readonly target: string
}

type Words = Pick<Finding, 'message' | 'fix'>

function wordsFor({ file, why, inside }: StrayFile, { directory, root, target, name }: Goal): Words {
  const words = (message: string, fix: string): Words => ({ message, fix })
  const move = `mkdir -p ${shellWord(root)} && mv ${shellWord(directory)} ${shellWord(target)}`
  const copy = `mkdir -p ${shellWord(root)} && cp -R ${shellWord(directory)} ${shellWord(target)}`
  const into = `mkdir -p ${shellWord(target)} && mv ${shellWord(file)} ${shellWord(`${target}/${SKILL_FILE}`)}`
  const search = `Have it searched: --skills-dir ${shellWord(dirname(directory))}, or skills.load.extraDirs in nexus.yaml`
  switch (why) {
    case 'below-skill': {
      if (inside !== root) {
        const around = `it lies inside another skill, ${inside ?? directory}, and the search ends at a skill`
        return words(`Wrong place: ${around}.`, `Move it: ${move}`)
      }
      const own = `mkdir ${shellWord(`${root}/my-skill`)} && mv ${shellWord(`${root}/${SKILL_FILE}`)} ${shellWord(`${root}/my-skill/`)}`
      return words(
        `Wrong place: ${root} has a SKILL.md of its own, and the search ends at a skill.`,
        `Give that one a directory of its own: ${own}`,
      )
    }
    case 'too-deep':
      return words('Wrong place: it lies deeper than the search goes.', `Move it: ${move}`)
    case 'hidden':
      return basename(directory).startsWith('.')
        ? words('Wrong place: its directory is hidden, and hidden directories are not searched.', `Move it: ${move}`)
        : words(
            'Wrong place: it lies in a hidden directory or in node_modules, where skills are not looked for.',
            `${search}; or copy it: ${copy}`,
          )
    case 'elsewhere':
      return words(
        'Wrong place: another program keeps its skills there; Nexus does not look there by itself.',
        `${search}; or copy it: ${copy}`,
      )
    case 'beside-root':
      return words(
        'Wrong place: it does not lie in a directory where skills are looked for.',
        root.startsWith(`${directory}/`) ? `Move it: ${into}` : `${search}; or move it: ${move}`,
      )
    case 'no-skill-file':
      return words(
        `There is a directory ${basename(file)}, but no SKILL.md in it.`,
        `Write the skill into ${file}/SKILL.md, beginning with the lines: ---, name: ${name}, description: "What it does. Use when …", ---`,
      )
    case 'other-file': {
      const found = /\s/.test(basename(file)) ? JSON.stringify(basename(file)) : basename(file)
      return words(
        `The directory has ${found}, but a skill's file is called exactly SKILL.md.`,
        `Rename it: mv ${shellWord(file)} ${shellWord(`${directory}/${SKILL_FILE}`)}`,
      )
    }
    case 'single-file':
      return words('It is a single file; a skill is a directory with a SKILL.md.', `Give it one: ${into}`)
    case 'archive': {
      const unpack = /\.(?:zip|skill)$/i.test(file)
        ? `unzip ${shellWord(file)} -d ${shellWord(target)}`
        : `mkdir -p ${shellWord(target)} && tar -xf ${shellWord(file)} -C ${shellWord(target)}`
      return words('It is packed; archives are not searched.', `Unpack it: ${unpack}`)
    }
  }
}

/** The root around it; for what is in none, the workspace's, and the user's own for what is elsewhere. */
function rootFor({ file, why }: StrayFile, roots: readonly SearchedRoot[]): string {
  const around = roots.find(({ path }) => file.startsWith(`${path}/`))
  const own = why === 'elsewhere' ? roots.find(({ source }) => source === 'local') : undefined
  return (around ?? own ?? roots[0])?.path ?? 'skills'
}

/** The name that was asked for where a directory can have it. */
function nameFor(asked: string, directory: string): string {
  const name = lastPart(asked.replace(/^\$/, '').replace(/\/(?:SKILL\.md)?$/i, ''))
  if (/^[\p{L}\p{N}][\p{L}\p{N}._-]*$/u.test(name)) return name.replace(/\.(?:md|markdown|zip|skill)$/i, '')
  return basename(directory).replace(/^\.+/, '') || 'my-skill'
}

/** Unlike `basename` it leaves a path that ends in a slash empty. */
export function lastPart(path: string): string {
  return path.replace(/^.*[/\\]/, '')
}
