/** git-run: git of the host in one repository of a workspace, as its owner, without its hooks. */
import { isUtf8 } from 'node:buffer'
import { join } from 'node:path'
import { nameOf, type Owner, type Tree } from '../files/index.ts'
import { type GitRepository, type GitRequest, runGit } from '../host/index.ts'

/** A repository, and whom its files belong to where that is not us. */
export interface Repository extends GitRepository {
  readonly as?: Owner | undefined
}

/** Git refused, or is not on this machine. The message completes "held, because …". */
export class GitRefused extends Error {}

const TIMEOUT_MS = 120_000
const MAX_OUTPUT_BYTES = 256 * 1024 * 1024

/** The input of a run, and the codes of an end that is an answer. */
export interface GitInput extends Pick<GitRequest, 'input' | 'inputFrom'> {
  readonly codes?: readonly number[]
}

/** Its output. Throws GitRefused. */
export async function git(
  { as, ...repository }: Repository,
  args: readonly string[],
  { codes = [0], ...input }: GitInput = {},
): Promise<Buffer> {
  const ended = await runGit({
    args,
    repository,
    as,
    timeoutMs: TIMEOUT_MS,
    maxOutputBytes: MAX_OUTPUT_BYTES,
    ...input,
  })
  if (ended.type === 'failed') throw new GitRefused(`git ${ended.why}`)
  if (!codes.includes(ended.code)) {
    const [said = ''] = new TextDecoder().decode(ended.stderr).split('\n')
    throw new GitRefused(`git ${args[0]} refused it${said === '' ? '' : ` (${said.slice(0, 200)})`}`)
  }
  return Buffer.from(ended.stdout.buffer, ended.stdout.byteOffset, ended.stdout.byteLength)
}

/** The parts of an output that end with a byte, as names. */
export function partsOf(output: Buffer, end = 0): string[] {
  if (isUtf8(output)) return output.toString().split(String.fromCharCode(end)).filter(Boolean)
  const parts: string[] = []
  for (let at = 0; at < output.length;) {
    const next = output.indexOf(end, at)
    const stop = next < 0 ? output.length : next
    parts.push(nameOf(output.subarray(at, stop)))
    at = stop + 1
  }
  return parts.filter(Boolean)
}

/** The repository of a git directory of a workspace. */
export function repositoryAt(host: Tree, workspace: string, directory: string): Repository {
  const path = join(workspace, directory)
  const isOfWorktree = directory === '.git' || directory.endsWith('/.git')
  const owner = process.getuid?.() === 0 ? host.ownerOf(directory) : undefined
  return {
    directory: path,
    ...(isOfWorktree && { worktree: join(path, '..') }),
    ...(owner !== undefined && owner.uid !== 0 && { as: owner }),
  }
}
