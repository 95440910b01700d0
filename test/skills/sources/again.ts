import { execFileSync } from 'node:child_process'
import { statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import type { TestContext } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { createFolderSource, type FolderSourceOptions, type SourceResult } from '../../../src/skills/sources/index.ts'

/** ext, XFS, Btrfs, F2FS, tmpfs, overlay, ZFS, bcachefs: where the times of files tell of every change. */
const TELLING = [0xef53, 0x58465342, 0x9123683e, 0xf2f52010, 0x01021994, 0x794c7630, 0x2fc12fc1, 0xca451a4e]

/** Whether skills are kept from one look to the next where tests have their folders. */
export const isKept = process.platform === 'linux' && TELLING.includes(statfsSync(tmpdir()).type >>> 0)
export const NOT_KEPT = isKept ? false : 'the file system of temporary folders does not tell of every change'

/** Longer than a file is mistrusted after a change. */
const AGED_MS = 60_000

/** The clock of many kernels goes in steps, the largest of 10 ms. */
const CLOCK_STEP_MS = 12

/**
 * Every look is a minute after the last, so that no file counts as just written. The files' own times stay those of the machine, and
 * what happens after a look has another time than what happened before.
 */
export function minutesApart(t: TestContext): () => Promise<void> {
  let now = Date.now() + AGED_MS
  t.mock.timers.enable({ apis: ['Date'], now })
  return async () => {
    await sleep(CLOCK_STEP_MS)
    t.mock.timers.setTime((now += AGED_MS))
  }
}

/** A source that is asked again and again, and what one that never looked before finds. */
export function searchers(t: TestContext, path: string, more: Partial<FolderSourceOptions> = {}) {
  const options = { id: 'test', tier: 'extra', rank: 0, trusted: true, path, ...more } as const
  const known = createFolderSource(options)
  const pass = minutesApart(t)
  return {
    async again(): Promise<SourceResult> {
      const found = await known.discover()
      await pass()
      return found
    },
    fresh: (): Promise<SourceResult> => createFolderSource(options).discover(),
  }
}

/** Everything that a look says, in a form that can be compared. */
export function told({ skills, invalid, diagnostics }: SourceResult): unknown {
  return JSON.parse(JSON.stringify({ skills, invalid, diagnostics }))
}

/** How many of the things of one look are the very same in another. */
export function shared(before: SourceResult, now: SourceResult): number {
  const old = new Set<unknown>([...before.skills, ...before.invalid])
  return [...now.skills, ...now.invalid].filter((found) => old.has(found)).length
}

export function makeFifo(path: string): void {
  execFileSync('mkfifo', [path])
}
