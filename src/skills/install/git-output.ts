/** git-output: reads what git prints about a repository. */

/** One name of a repository and the commit that it names. */
export interface Ref {
  readonly kind: 'branch' | 'tag'
  readonly name: string
  readonly commit: string
}

export interface Refs {
  /** Name of the host's default branch; undefined in a repository without commits. */
  readonly defaultBranch: string | undefined
  readonly all: readonly Ref[]
}

/** A file of a commit. */
export interface TreeFile {
  readonly path: string
  readonly id: string
  readonly kind: 'file' | 'executable' | 'link' | 'submodule'
}

const COMMIT = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/

export function readRefs(text: string): Refs {
  const rows = text.split('\n').map((line) => line.split('\t'))
  const commits = new Map(rows.flatMap(([commit = '', name = '']) => (COMMIT.test(commit) ? [[name, commit]] : [])))
  const all = [...commits].flatMap(([name, commit]): Ref[] => {
    if (name.startsWith('refs/heads/')) return [{ kind: 'branch', name: name.slice(11), commit }]
    if (!name.startsWith('refs/tags/') || name.endsWith('^{}')) return []
    // An annotated tag has an object of its own, which leads to the commit.
    return [{ kind: 'tag', name: name.slice(10), commit: commits.get(`${name}^{}`) ?? commit }]
  })
  const branches = all.filter(({ kind }) => kind === 'branch')
  const [head] = rows.find(([first = '', name]) => name === 'HEAD' && first.startsWith('ref: ')) ?? []
  const named = branches.find(({ name }) => `ref: refs/heads/${name}` === head)
  // Old servers do not name it.
  const same = branches.find(({ commit }) => commit === commits.get('HEAD'))
  return { defaultBranch: (named ?? same)?.name, all }
}

const KINDS: Readonly<Record<string, TreeFile['kind']>> = {
  '100644': 'file',
  '100664': 'file',
  '100755': 'executable',
  '120000': 'link',
  '160000': 'submodule',
}

export function readTree(output: Uint8Array): TreeFile[] {
  // Names that are not UTF-8 become others with U+FFFD, which the check of names refuses where a skill has them.
  const rows = new TextDecoder().decode(output).split('\0').filter(Boolean)
  return rows.map((row) => {
    const [about = '', path = ''] = splitOnce(row, '\t')
    const [mode = '', , id = ''] = about.split(' ')
    return { path, id, kind: KINDS[mode] ?? 'submodule' }
  })
}

function splitOnce(text: string, by: string): [string, string] {
  const at = text.indexOf(by)
  return [text.slice(0, at), text.slice(at + 1)]
}

/** Rows of `<id> blob <size>`, each followed by its bytes and a line end. */
export function readBlobs(output: Uint8Array): ReadonlyMap<string, Uint8Array> {
  const blobs = new Map<string, Uint8Array>()
  for (let at = 0; at < output.length;) {
    const end = output.indexOf(10, at)
    const [id = '', , size = ''] = Buffer.from(output.subarray(at, end)).toString('latin1').split(' ')
    const from = end + 1
    blobs.set(id, output.subarray(from, from + Number(size)))
    at = from + Number(size) + 1
  }
  return blobs
}

/** Ends what ssh says, whose own words are before it. */
const SSH_ENDED = /^fatal: Could not read from remote repository/

/** Git says the reason first, and then what it gave up. */
export function lastLine(said: string): string {
  const lines = said.split('\n').filter((line) => line.trim() !== '' && !SSH_ENDED.test(line))
  return (
    lines.find((line) => /^(?:fatal|error|remote: (?!Enumerating|Counting|Compressing|Total))/.test(line)) ??
    lines[0] ??
    'no reason given'
  )
}
