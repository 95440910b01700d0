/** git-state: what a repository says besides its objects, as values by key: HEAD, references, and each path of the index. */
import { bytesOf } from '../files/index.ts'
import { git, partsOf, type Repository } from './git-run.ts'

/** `HEAD`, names of references, and paths after `INDEX`. Values: an id or `ref: <name>`, and `<mode> <id> <stage>` joined by commas. */
export type GitState = ReadonlyMap<string, string>

/** A value that is another one after a command; undefined: there was, or is, none. */
export interface Move {
  readonly key: string
  readonly from?: string | undefined
  readonly to?: string | undefined
}

export const INDEX = 'index '

/** Reads it; without an index where `hasIndex` is false. */
export async function readState(repository: Repository, hasIndex: boolean): Promise<GitState> {
  const [symbolic, detached, references, index] = await Promise.all([
    git(repository, ['symbolic-ref', '-q', 'HEAD'], { codes: [0, 1, 128] }),
    git(repository, ['rev-parse', '-q', '--verify', 'HEAD'], { codes: [0, 1, 128] }),
    git(repository, ['for-each-ref', '--format=%(refname) %(objectname) %(symref)']),
    hasIndex ? git(repository, ['ls-files', '-s', '-z']) : Buffer.alloc(0),
  ])
  const state = new Map<string, string>()
  const head = symbolic.length > 0 ? `ref: ${lineOf(symbolic)}` : lineOf(detached)
  if (head !== '') state.set('HEAD', head)
  for (const line of partsOf(references, 10)) {
    const [name = '', id = '', symbolicTo = ''] = line.split(' ')
    state.set(name, symbolicTo === '' ? id : `ref: ${symbolicTo}`)
  }
  for (const line of partsOf(index)) {
    const tab = line.indexOf('\t')
    const key = `${INDEX}${line.slice(tab + 1)}`
    const earlier = state.get(key)
    state.set(key, `${earlier === undefined ? '' : `${earlier},`}${line.slice(0, tab)}`)
  }
  return state
}

function lineOf(output: Buffer): string {
  return output.toString().trim()
}

/** The moves from one state to another. */
export function movesBetween(from: GitState, to: GitState): Move[] {
  const keys = new Set([...from.keys(), ...to.keys()])
  return [...keys]
    .filter((key) => from.get(key) !== to.get(key))
    .map((key) => ({ key, from: from.get(key), to: to.get(key) }))
    .toSorted((a, b) => (a.key < b.key ? -1 : 1))
}

/** One side of moves as text, a line each; `movesOf` reads both again. */
export function textOf(moves: readonly Move[], side: 'from' | 'to'): string {
  const lines = moves.flatMap(({ key, [side]: value }) =>
    value === undefined ? [] : [`${JSON.stringify(key)} ${value}\n`],
  )
  return lines.join('')
}

export function movesOf(from: string, to: string): Move[] {
  return movesBetween(stateIn(from), stateIn(to))
}

function stateIn(text: string): GitState {
  const rows = [...text.matchAll(/^("(?:[^"\\]|\\.)*") (.*)$/gm)]
  return new Map(rows.map(([, key = '""', value = '']) => [JSON.parse(key) as string, value]))
}

/**
 * Makes moves, which may have been made in part before: references in one transaction with their old values, then HEAD, then the index.
 * False when a value is neither the old nor the new one, unless forced. Throws GitRefused; references are then as they were.
 */
export async function makeMoves(repository: Repository, moves: readonly Move[], force = false): Promise<boolean> {
  const now = await readState(repository, moves.some(isOfIndex))
  const ahead = moves
    .filter(({ key, to }) => now.get(key) !== to)
    .map((move) => ({ ...move, wasAsExpected: now.get(move.key) === move.from, from: now.get(move.key) }))
  if (!force && ahead.some(({ wasAsExpected }) => !wasAsExpected)) return false
  const references = ahead.filter(({ key }) => key.startsWith('refs/'))
  // Git makes `own/more` only when `own` is gone, and not in the transaction that removes it.
  const gone = references.filter(({ key, to }) => to === undefined && references.some((each) => isInPlaceOf(each, key)))
  const rest = references.filter((each) => !gone.includes(each))
  await moveReferences(repository, gone)
  try {
    await moveReferences(repository, rest)
  } catch (error) {
    await moveReferences(repository, gone.map(reversed))
    throw error
  }
  try {
    // Git refuses both in one transaction when HEAD is a name of one of them.
    await moveReferences(repository, ahead.filter(({ key, to }) => key === 'HEAD' && isId(to))) // oxfmt-ignore
    const head = ahead.find(({ key, to }) => key === 'HEAD' && to !== undefined && !isId(to))
    if (head?.to !== undefined) await git(repository, ['symbolic-ref', 'HEAD', head.to.slice('ref: '.length)])
    await moveIndex(repository, ahead.filter(isOfIndex))
  } catch (error) {
    const head = ahead.find(({ key }) => key === 'HEAD')?.from
    await moveReferences(repository, rest.map(reversed))
    await moveReferences(repository, gone.map(reversed))
    if (head !== undefined && isId(head)) await moveReferences(repository, [{ key: 'HEAD', to: head }])
    else if (head !== undefined) await git(repository, ['symbolic-ref', 'HEAD', head.slice('ref: '.length)])
    throw error
  }
  return true
}

function reversed({ key, from, to }: Move): Move {
  return { key, from: to, to: from }
}

/** Whether it makes a reference that cannot be there together with the other one. */
function isInPlaceOf({ key, to }: Move, other: string): boolean {
  return to !== undefined && (key.startsWith(`${other}/`) || other.startsWith(`${key}/`))
}

export function isOfIndex({ key }: Pick<Move, 'key'>): boolean {
  return key.startsWith(INDEX)
}

export function isId(value = ''): boolean {
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(value)
}

async function moveReferences(repository: Repository, moves: readonly Move[]): Promise<void> {
  if (moves.length === 0) return
  const zeros = zerosOf(moves)
  const lines = moves.map(({ key, from, to = zeros }) => {
    // HEAD that was a name of a branch has no value of its own.
    const old = key === 'HEAD' && !isId(from) ? '' : (from ?? zeros)
    return `option no-deref\0update ${key}\0${to}\0${old}\0`
  })
  const args = ['update-ref', '-m', 'nexus: changes of a command', '--stdin', '-z']
  await git(repository, args, { input: bytesIn(lines) })
}

/** The id of nothing, as long as the ids of the repository. */
function zerosOf(moves: readonly Move[]): string {
  const isLong = moves.some(({ from = '', to = '' }) => /[0-9a-f]{64}/.test(`${from} ${to}`))
  return '0'.repeat(isLong ? 64 : 40)
}

function bytesIn(lines: readonly string[]): Buffer {
  return Buffer.concat(lines.map((line) => Buffer.from(bytesOf(line) as string)))
}

/** Entries that are not named keep their flags and times. */
async function moveIndex(repository: Repository, moves: readonly Move[]): Promise<void> {
  if (moves.length === 0) return
  const zeros = zerosOf(moves)
  const removed = moves.map(({ key }) => `0 ${zeros}\t${key.slice(INDEX.length)}\0`)
  const added = moves.flatMap(({ key, to }) =>
    to === undefined ? [] : to.split(',').map((each) => `${each}\t${key.slice(INDEX.length)}\0`),
  )
  await git(repository, ['update-index', '-z', '--index-info'], { input: bytesIn([...removed, ...added]) })
}
