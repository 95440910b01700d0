import type { Stats } from 'node:fs'
import type { FileStamp } from '../../kernel/index.ts'

/** Identity of a file when it was read: another one has other values. */
export function stampOf(stats: Stats): FileStamp {
  return { mtimeMs: stats.mtimeMs, size: stats.size, inode: stats.ino }
}
