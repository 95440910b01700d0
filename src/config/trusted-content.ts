/** Trust is bound to content: whether the nexus.yaml of a trusted workspace still is the one that was trusted. */
import { type Diagnostic, sha256 } from '../kernel/index.ts'
import { readBytesOf } from './read-files.ts'

/** `sha256:…` of a file's bytes. */
export function digestOfBytes(bytes: Uint8Array): string {
  return `sha256:${sha256(bytes)}`
}

/** The digest of a file, or `absent`; undefined for what cannot be read as a configuration, which then is not trusted. */
export function digestOfFile(path: string): string | undefined {
  const bytes = readBytesOf(path)
  return bytes === 'absent' || bytes === undefined ? bytes : digestOfBytes(bytes)
}

/** How the file that is there differs from the one that was trusted; undefined when it does not. */
export function describeChange(
  path: string,
  { trusted, now }: { readonly trusted: string | undefined; readonly now: Uint8Array | undefined },
): Diagnostic | undefined {
  const digest = now === undefined ? 'absent' : digestOfBytes(now)
  if (digest === trusted || (digest === 'absent' && trusted === undefined)) return undefined
  const what =
    trusted === undefined
      ? 'The workspace was trusted by an older version, which did not note what this file held.'
      : trusted === 'absent'
        ? 'This file appeared after the workspace was trusted.'
        : digest === 'absent'
          ? 'This file is gone since the workspace was trusted.'
          : 'This file was changed since the workspace was trusted.'
  const effect =
    digest === 'absent' ? 'What it set does not hold any more.' : 'Until it is trusted it may only tighten.'
  return {
    code: 'config-changed-since-trust',
    severity: 'warning',
    message: `${what} ${effect}`,
    path,
    fix: 'Look at it, then type: nexus trust',
  }
}
