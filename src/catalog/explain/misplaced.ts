import { shellWord } from '../../kernel/index.ts'
import { type Finding, finding } from './finding.ts'

/** A directory that was searched for skills. */
export interface SearchedRoot {
  /** Id of the source. */
  readonly source: string
  readonly path: string
}

/** A file that looks like a skill, in a place where none is looked for. */
export interface StrayFile {
  /** The SKILL.md, or what stands in its place; for `no-skill-file` the directory. */
  readonly file: string
  /**
   * `below-skill`: inside another skill. `too-deep`: beyond the depth limit. `hidden`: in a hidden directory or node_modules.
   * `beside-root`: in the workspace, outside of every root. `elsewhere`: where another program keeps its skills.
   * `no-skill-file`: a directory of that name without SKILL.md. `other-file`: with a file that was probably meant to be it.
   * `single-file`: one file instead of a directory. `archive`: packed.
   */
  readonly why:
    | 'below-skill'
    | 'too-deep'
    | 'hidden'
    | 'beside-root'
    | 'elsewhere'
    | 'no-skill-file'
    | 'other-file'
    | 'single-file'
    | 'archive'
  /** For `below-skill`: the directory of the skill around it. */
  readonly inside?: string
}

/** Where a misplaced skill is, why it is not found there, and the command that moves it. */
export function misplaced(asked: string, stray: StrayFile, roots: readonly SearchedRoot[]): Finding {
  const { file, why } = stray
  const directory = directoryOf(file)
  const root = rootFor(stray, roots)
  const name = nameFor(asked, directory)
  const words = wordsFor(stray, { directory, root, name, target: `${root}/${name}` })
  return finding(why === 'no-skill-file' ? 'no-skill-file' : 'wrong-place', 'problem', { ...words, file })
}

interface Goal {
  readonly directory: string
  readonly root: string
  readonly name: string
  /** The directory where the skill would be found. */
  readonly target: string
}

function wordsFor(
  { file, why, inside }: StrayFile,
  { directory, root, target, name }: Goal,
): { text: string; fix: string } {
  const move = `mkdir -p ${shellWord(root)} && mv ${shellWord(directory)} ${shellWord(target)}`
  const copy = `mkdir -p ${shellWord(root)} && cp -R ${shellWord(directory)} ${shellWord(target)}`
  const search = `Have it searched: --skills-dir ${shellWord(directoryOf(directory))}, or skills.load.extraDirs in nexus.yaml`
  const into = `mkdir -p ${shellWord(target)} && mv ${shellWord(file)} ${shellWord(`${target}/SKILL.md`)}`
  switch (why) {
    case 'below-skill':
      return inside === root
        ? {
            text: `Wrong place: ${root} has a SKILL.md of its own, and the search ends at a skill.`,
            fix: `Give that one a directory of its own: mkdir ${shellWord(`${root}/my-skill`)} && mv ${shellWord(`${root}/SKILL.md`)} ${shellWord(`${root}/my-skill/`)}`,
          }
        : {
            text: `Wrong place: it lies inside another skill, ${inside ?? directory}, and the search ends at a skill.`,
            fix: `Move it: ${move}`,
          }
    case 'too-deep':
      return { text: 'Wrong place: it lies deeper than the search goes.', fix: `Move it: ${move}` }
    case 'hidden':
      return lastPart(directory).startsWith('.')
        ? {
            text: 'Wrong place: its directory is hidden, and hidden directories are not searched.',
            fix: `Move it: ${move}`,
          }
        : {
            text: 'Wrong place: it lies in a hidden directory or in node_modules, where skills are not looked for.',
            fix: `${search}; or copy it: ${copy}`,
          }
    case 'elsewhere':
      return {
        text: 'Wrong place: another program keeps its skills there; Nexus does not look there by itself.',
        fix: `${search}; or copy it: ${copy}`,
      }
    case 'beside-root':
      return root.startsWith(`${directory}/`)
        ? { text: 'Wrong place: it does not lie in a directory where skills are looked for.', fix: `Move it: ${into}` }
        : {
            text: 'Wrong place: it does not lie in a directory where skills are looked for.',
            fix: `${search}; or move it: ${move}`,
          }
    case 'no-skill-file':
      return {
        text: `There is a directory ${lastPart(file)}, but no SKILL.md in it.`,
        fix: `Write the skill into ${file}/SKILL.md, beginning with the lines: ---, name: ${name}, description: "What it does. Use when …", ---`,
      }
    case 'other-file':
      return {
        text: `The directory has ${/\s/.test(lastPart(file)) ? JSON.stringify(lastPart(file)) : lastPart(file)}, but a skill's file is called exactly SKILL.md.`,
        fix: `Rename it: mv ${shellWord(file)} ${shellWord(`${directory}/SKILL.md`)}`,
      }
    case 'single-file':
      return { text: 'It is a single file; a skill is a directory with a SKILL.md.', fix: `Give it one: ${into}` }
    case 'archive':
      return {
        text: 'It is packed; archives are not searched.',
        fix: `Unpack it: ${/\.(?:zip|skill)$/i.test(file) ? `unzip ${shellWord(file)} -d ${shellWord(target)}` : `mkdir -p ${shellWord(target)} && tar -xf ${shellWord(file)} -C ${shellWord(target)}`}`,
      }
  }
}

/** The root it lies in; for what lies in none, the workspace's, and the user's own for what lies outside. */
function rootFor({ file, why }: StrayFile, roots: readonly SearchedRoot[]): string {
  const around = roots.find(({ path }) => file.startsWith(`${path}/`))
  const own = why === 'elsewhere' ? roots.find(({ source }) => source === 'local') : undefined
  return (around ?? own ?? roots[0])?.path ?? 'skills'
}

/** The name that was asked for where a directory can have it. */
function nameFor(asked: string, directory: string): string {
  const name = lastPart(asked.replace(/^\$/, '').replace(/\/(?:SKILL\.md)?$/i, ''))
  if (/^[\p{L}\p{N}][\p{L}\p{N}._-]*$/u.test(name)) return name.replace(/\.(?:md|markdown|zip|skill)$/i, '')
  return lastPart(directory).replace(/^\.+/, '') || 'my-skill'
}

export function directoryOf(path: string): string {
  return path.replace(/[/\\][^/\\]*$/, '')
}

export function lastPart(path: string): string {
  return path.replace(/^.*[/\\]/, '')
}
