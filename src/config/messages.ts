/** messages: words about the configuration that several files need; the others are where a finding is made. */
import { commandFix, type Words } from '../kernel/index.ts'

/** One finding in words. */
export type Message = Words & { readonly code: string }

export const STRICTER = 'Nexus applies only the stricter settings of this file.'

/** `setting` is dotted as in the file. */
export function notApplied(code: string, setting: string, why: string, fix: string): Message {
  return { code, message: `${setting} is not applied. ${why}`, fix }
}

export function unreadableFile(why: string): Message {
  const fix = 'Make it a regular file that you may read.'
  return { code: 'config-unreadable', message: `Nexus cannot read this file: ${why}.`, fix }
}

/** Without a number, the rest was not looked for. */
export function moreFindings(count?: number): Message {
  const message =
    count === undefined ? 'This file has more errors.' : `This file has ${count} more findings, which are not shown.`
  return { code: 'config-more', message, ...commandFix('Fix the ones above first. Then run:', 'config', 'check') }
}
