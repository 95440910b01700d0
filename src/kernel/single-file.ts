import { shellWord } from './safe-text.ts'
import { SKILL_FILE } from './vocabulary.ts'

/** About a skill that is one file beside the directories of skills; `directory` is the one that it needs. */
export function aboutSingleFile(file: string, directory: string): { readonly message: string; readonly fix: string } {
  return {
    message: `It is a single file. A skill is a directory with a ${SKILL_FILE}.`,
    fix: `Give it one: mkdir -p ${shellWord(directory)} && mv ${shellWord(file)} ${shellWord(`${directory}/${SKILL_FILE}`)}`,
  }
}
