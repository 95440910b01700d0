/** git-paths: which files in a git directory are data of git, and what becomes of each. Pure. */

/** How a path in a git directory is treated. */
export type GitRole = 'objects' | 'by-git' | 'config' | 'state' | 'made-again' | 'other'

/** Objects, references, index and HEAD: git itself takes them over. */
const OBJECTS: readonly RegExp[] = [
  /^objects(?:\/pack|\/[0-9a-f]{2})?$/,
  /^objects\/[0-9a-f]{2}\/(?:[0-9a-f]{38}|[0-9a-f]{62})$/,
  /^objects\/pack\/pack-[0-9a-f]+\.(?:pack|idx)$/,
]
const BY_GIT = /^(?:(?:refs|reftable)(?:\/.+)?|packed-refs|index|HEAD)$/

const STATE_FILES: ReadonlySet<string> = new Set([
  'COMMIT_EDITMSG', 'TAG_EDITMSG', 'MERGE_MSG', 'SQUASH_MSG', 'MERGE_HEAD', 'MERGE_MODE', 'MERGE_RR', 'AUTO_MERGE', 'CHERRY_PICK_HEAD',
  'REVERT_HEAD', 'REBASE_HEAD', 'ORIG_HEAD', 'FETCH_HEAD',
]) // oxfmt-ignore

/** A merge, a rebase or a revert under way writes these down; each directory with its known files. */
const STATE_BELOW: readonly RegExp[] = [
  /^logs(?:\/HEAD|\/refs(?:\/stash|\/(?:heads|tags|remotes|notes)(?:\/.+)?)?)?$/,
  /^sequencer(?:\/(?:todo|head|abort-safety))?$/,
  /^rebase-merge(?:\/(?:author-script|done|drop_redundant_commits|keep_redundant_commits|end|git-rebase-todo|git-rebase-todo\.backup|head-name|interactive|message|msgnum|no-reschedule-failed-exec|onto|orig-head|patch|stopped-sha|refs-to-delete|update-refs|amend|current-fixups|message-fixup|message-squash|quiet|verbose|allow_rerere_autoupdate))?$/,
]

/** Git makes these again by itself. */
const MADE_AGAIN: readonly RegExp[] = [
  /\.lock$/,
  /^gc\.(?:pid|log)$/,
  /^info\/refs$/,
  /^objects\/info(?:\/(?:packs|commit-graph|commit-graphs(?:\/.+)?))?$/,
  /^objects\/pack\/(?:pack-[0-9a-f]+\.(?:rev|bitmap|mtimes|keep)|multi-pack-index.*)$/,
  /^fsmonitor--daemon/,
  /^(?:.+\/)?tmp_(?:obj|pack)_/,
]

/** References that git only shows. `refs/replace` has it show other objects, and `refs/bisect` belongs to files that are held. */
export const PLAIN_REFERENCE: RegExp = /^refs\/(?:(?:heads|tags|remotes|notes|rewritten)\/|stash$)/

/** A path relative to the git directory that it is in. */
export function restIn(directory: string, path: string): string {
  return directory === '' ? path : path.slice(directory.length + 1)
}

/** The role of a path relative to its git directory. */
export function gitRole(path: string): GitRole {
  if (MADE_AGAIN.some((form) => form.test(path))) return 'made-again'
  if (OBJECTS.some((form) => form.test(path))) return 'objects'
  if (BY_GIT.test(path)) return 'by-git'
  if (path === 'config') return 'config'
  return STATE_FILES.has(path) || STATE_BELOW.some((form) => form.test(path)) ? 'state' : 'other'
}

const STEP =
  /^\s*(?:#.*|(?:p|pick|r|reword|e|edit|s|squash|f|fixup|d|drop|l|label|t|reset|m|merge|u|update-ref|noop|b|break)\b.*)?$/

/** False for the steps of a rebase of which one runs a program (`exec`). */
export function isPlainTodo(text: string): boolean {
  return text.split('\n').every((line) => STEP.test(line))
}

/** Whether a directory is one that git uses as a repository: a bare one, or one of a worktree. `has` asks for a path. */
export function isRepository(directory: string, has: (path: string) => boolean): boolean {
  const at = (name: string): string => (directory === '' ? name : `${directory}/${name}`)
  return has(at('HEAD')) && ((has(at('objects')) && has(at('refs'))) || has(at('commondir')))
}
