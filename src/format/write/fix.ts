import type { Diagnostic, SkillDocument } from '../../kernel/index.ts'
import { parseSkill } from '../parse.ts'
import { applyEdits, type Finding } from './edits.ts'
import type { Change } from './layout.ts'
import { isReadAlike, type Rewritten, type RewriteOptions, unchanged } from './rewritten.ts'

export interface FixOptions extends RewriteOptions {
  /** Also remove a byte order mark and turn lone CR line ends into LF, in the body too. Default false. */
  readonly encoding?: boolean
}

/** An edit can uncover the next finding, and edits of one line are made one after the other. */
const MOST_ROUNDS = 5

/**
 * Makes the edits of the findings of reading: quotes around repaired values, the spelling of known keys, a missing name (the
 * directory's), no blank lines and invisible characters before the frontmatter, --- at its end. Every other byte stays. Twice does nothing
 * more. Never throws. A text that cannot be read, or that would be read otherwise, is returned as it is, with its diagnostics.
 */
export function fixSkill(given: string, options: FixOptions): Rewritten {
  const first = parseSkill(given, options)
  if (!given.isWellFormed()) return unchanged(given, first.diagnostics)
  const start = options.encoding === true ? withPlainEncoding(given) : { text: given, changes: [] }
  let { text } = start
  const changes: Change[] = [...start.changes]
  const made: Finding[] = []
  let before: SkillDocument | undefined
  let readable: Rewritten | undefined
  for (let round = 0; round <= MOST_ROUNDS; round++) {
    const { document, diagnostics } = parseSkill(text, options)
    const result = { text, changes: [...changes], diagnostics }
    if (before === undefined && document !== undefined) {
      before = document
      readable = result
    }
    const findings = diagnostics.filter(hasEdit)
    if (findings.length === 0 || round === MOST_ROUNDS) {
      const isKept =
        before !== undefined && document !== undefined && isAsPromised({ before, after: document }, made, options)
      return isKept ? result : (readable ?? unchanged(given, first.diagnostics))
    }
    const edited = applyEdits(text, findings, given)
    text = edited.text
    changes.push(...edited.changes)
    made.push(...edited.made)
  }
  return unchanged(given, first.diagnostics)
}

function hasEdit(found: Diagnostic): found is Finding {
  return found.edit !== undefined
}

/** True when everything that is read is the same, but for the keys that were given their own names and the name that was filled in. */
function isAsPromised(
  { before, after }: { readonly before: SkillDocument; readonly after: SkillDocument },
  made: readonly Finding[],
  { directoryName }: FixOptions,
): boolean {
  const isRename = ({ code, subject }: Finding): boolean =>
    code === 'key-spelling' || (code.endsWith('-missing') && subject !== 'name')
  const renamed = made.filter(isRename)
  const isNamed = made.some((found) => found.code === 'name-missing' && !isRename(found))
  return isReadAlike(isNamed ? { ...before, name: directoryName } : before, after, {
    except: ['name', ...renamed.flatMap(({ subject = '', edit }) => [subject, edit.text])],
    free: renamed.filter(({ code }) => code !== 'key-spelling').map(({ edit }) => edit.text),
  })
}

function withPlainEncoding(given: string): { readonly text: string; readonly changes: readonly Change[] } {
  const changes: Change[] = []
  let text = given
  if (text.startsWith('\uFEFF')) {
    text = text.replace(/^\uFEFF+/, '')
    changes.push({ line: 1, was: 'a byte order mark', now: undefined, why: 'other clients do not skip it' })
  }
  if (/\r(?!\n)/.test(text)) {
    text = text.replace(/\r(?!\n)/g, '\n')
    changes.push({ line: 1, was: 'line ends CR', now: 'line ends LF', why: 'most programs do not know CR alone' })
  }
  return { text, changes }
}
