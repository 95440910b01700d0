/** place: copies a skill's files once per content to where commands of the project can read them and cannot change them. */
import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { makeDirectory, type Manifest, randomHex, type Skill } from '../../../kernel/index.ts'
import { readManifest, readOfSkill, type SkillLocation } from '../../skill-files/index.ts'
import { FAILURES, sandboxError } from '../messages.ts'
import { removeTree } from '../runner/temp.ts'
import type { PlacedSkill } from '../sandbox.ts'

/** Places a revision. The copy's own digest must be the one of the manifest, or SANDBOX_FAILED is thrown and nothing is left. */
export async function placeSkill(
  skill: Pick<Skill, 'directory' | 'linkedTo' | 'name'>,
  revisions: string,
  signal?: AbortSignal,
): Promise<PlacedSkill> {
  const manifest = await readManifest(skill, { signal })
  const { treeDigest } = manifest
  const home = join(revisions, treeDigest.replace(/^sha256:/, ''))
  const baseDir = join(home, safeName(basename(skill.directory)))
  if (existsSync(baseDir)) return { baseDir, treeDigest }
  makeDirectory(home, { mkdirSync, statSync, mode: 0o755 })
  chmodSync(home, 0o755)
  const part = join(home, `.part-${randomHex(8)}`)
  try {
    await copy(manifest, { from: skill, to: part, signal })
    const copied = await readManifest(part, { signal })
    if (copied.treeDigest !== treeDigest) {
      throw sandboxError(FAILURES.skillChanged({ name: skill.name }))
    }
    openDirectories(part)
    renameSync(part, baseDir)
  } catch (error) {
    await removeTree(part)
    // Another process placed the same content at the same time.
    if (!existsSync(baseDir)) throw error
  }
  return { baseDir, treeDigest }
}

async function copy(
  manifest: Manifest,
  options: { from: SkillLocation; to: string; signal: AbortSignal | undefined },
): Promise<void> {
  const { from, to, signal } = options
  mkdirSync(to, { mode: 0o755 })
  for (const file of manifest.files) {
    const { bytes } = await readOfSkill(from, file.path, { maxBytes: file.size, signal })
    const target = join(to, file.path)
    makeDirectory(dirname(target), { mkdirSync, statSync, mode: 0o755 })
    writeFileSync(target, bytes, { flag: 'wx', mode: file.executable ? 0o755 : 0o644 })
    // The umask does not decide whether commands can read it.
    chmodSync(target, file.executable ? 0o555 : 0o444)
  }
}

/** The umask does not decide whether commands can enter. Only we can write: mounts keep commands out, whoever they are. */
function openDirectories(directory: string): void {
  chmodSync(directory, 0o755)
  for (const entry of readdirSync(directory, { withFileTypes: true })) {
    if (entry.isDirectory()) openDirectories(join(directory, entry.name))
  }
}

/** A name that is the same in a path, a shell word and a prompt. */
function safeName(name: string): string {
  const safe = name
    .replace(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[.-]+/, '')
    .slice(0, 64)
  return safe === '' ? 'skill' : safe
}
