import { mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { makeDirectory } from '../../kernel/index.ts'

/** The parts of the directory: finished blobs by digest, those on their way, and those that are being removed. */
export interface Places {
  readonly blobs: string
  readonly incoming: string
  readonly leaving: string
}

export function placeOf({ blobs }: Places, digest: string): string {
  return join(blobs, digest.slice(0, 2), digest)
}

export function makePrivate(directory: string): void {
  makeDirectory(directory, { mkdirSync, statSync, mode: 0o700 })
}
