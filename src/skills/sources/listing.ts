import { compareUtf8 } from '../../kernel/index.ts'

const SURROGATE = /[\ud800-\udfff]/

/** True for a directory in which no skills are searched. */
export function isLeftOut(name: string): boolean {
  return name.startsWith('.') || name === 'node_modules'
}

/** Sorts names. Only characters above U+FFFF sort otherwise as UTF-16, which is what `sort` does by itself, than as bytes. */
export function inByteOrder(names: string[]): string[] {
  return SURROGATE.test(names.join('')) ? names.sort(compareUtf8) : names.sort()
}
