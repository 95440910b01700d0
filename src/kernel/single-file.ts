import { shellFix } from './commands.ts'
import { shellWord } from './safe-text.ts'
import { SKILL_FILE } from './vocabulary.ts'

/** About a skill that is one file beside the directories of skills; `directory` is the one that it needs. */
export function aboutSingleFile(file: string, directory: string): { readonly message: string; readonly fix: string } {
  return {
    message: `It is a single file. A skill is a directory with a ${SKILL_FILE}.`,
    fix: `Give it one: mkdir -p ${shellWord(directory)} && mv ${shellWord(file)} ${shellWord(`${directory}/${SKILL_FILE}`)}`,
  }
}

/** Names of archives, as skills are packed. */
export const ARCHIVE = /\.(?:zip|skill|tgz|tar|tar\.gz|tar\.bz2|tar\.xz)$/i

/** About a skill that is packed beside the directories of skills; `directory` is where it is unpacked. */
export function aboutArchive(file: string, directory: string): { readonly message: string; readonly fix: string } {
  const message = 'It is an archive. Nexus does not search archives.'
  if (/\.(?:zip|skill)$/i.test(file)) return { message, ...shellFix('Unpack it:', 'unzip', file, '-d', directory) }
  const [archive, target] = [shellWord(file), shellWord(directory)]
  return { message, fix: `Unpack it: mkdir -p ${target} && tar -xf ${archive} -C ${target}` }
}
