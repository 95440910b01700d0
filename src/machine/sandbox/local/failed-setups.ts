/** failed-setups: setups of skills that failed a short time ago, with the end of what they wrote: gating reads it. */
import { rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isJsonObject, sha256, type Skill, stampText } from '../../../kernel/index.ts'
import { readSmall } from '../../files/index.ts'
import type { LocalSettings } from './options.ts'
import { ownDirectory, projectDirectoryOf } from './state.ts'

/** A setup that failed is not tried again before. */
const AGAIN_MS = 600_000
const MAX_RECORD_BYTES = 64 * 1024

interface Failure {
  /** The key of the result that it did not make. */
  readonly key: string
  readonly output: string
  /** SKILL.md as it was. */
  readonly stamp: string
}

/** The end of what the setup of a skill wrote, where it failed a short time ago and the skill is the same. */
export function failedSetup(settings: LocalSettings, skill: Skill, command: string): string | undefined {
  const failure = failureOf(settings, skill, command)
  return failure?.stamp === stampText(skill.stamp) ? failure.output : undefined
}

export function failureOf(settings: LocalSettings, skill: Skill, command: string): Failure | undefined {
  try {
    const { bytes } = readSmall(fileOf(settings, skill, command), { maxBytes: MAX_RECORD_BYTES })
    const record: unknown = JSON.parse(new TextDecoder().decode(bytes))
    if (!isJsonObject(record) || Number(record['at']) + AGAIN_MS < Date.now()) return undefined
    return { key: String(record['key']), output: String(record['output']), stamp: String(record['stamp']) }
  } catch {
    // None failed, or its record cannot be read: then it is tried again.
    return undefined
  }
}

export function recordFailure(
  settings: LocalSettings,
  { skill, command, key, output }: { readonly skill: Skill; readonly command: string } & Omit<Failure, 'stamp'>,
): void {
  const file = fileOf(settings, skill, command)
  ownDirectory(dirname(file), 0o700)
  writeFileSync(file, JSON.stringify({ key, output, at: Date.now(), stamp: stampText(skill.stamp) }), { mode: 0o600 })
}

export function forgetFailure(settings: LocalSettings, skill: Skill, command: string): void {
  rmSync(fileOf(settings, skill, command), { force: true })
}

function fileOf(settings: LocalSettings, { directory }: Skill, command: string): string {
  const name = sha256(`${directory}\0${command}`).slice(0, 32)
  return join(projectDirectoryOf(settings), 'setups', `${name}.json`)
}
