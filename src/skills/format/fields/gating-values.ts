import { type Requirements, toOsName } from '../../../kernel/index.ts'

/** What an entry of each list of `requires` must look like. */
export const REQUIRED: Readonly<Record<keyof Requirements, RegExp>> = {
  bins: /^[A-Za-z0-9._+-]{1,64}$/,
  anyBins: /^[A-Za-z0-9._+-]{1,64}$/,
  env: /^[A-Za-z_][A-Za-z0-9_]{0,127}$/,
  config: /^[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*$/,
}

/** Words that people write for every system; without `os` a skill is for all of them. */
export const ANY_SYSTEM: ReadonlySet<string> = new Set(['all', 'any', '*'])

export const SYSTEM_NAMES: readonly string[] = ['linux', 'darwin', 'windows']

/** True for a system that skills can be for, by any of its names. */
export function isSystem(name: string): boolean {
  return SYSTEM_NAMES.includes(toOsName(name))
}

/** True for the name of a variable. */
export function isVariable(name: string): boolean {
  return REQUIRED.env.test(name)
}

const NONE: readonly never[] = Object.freeze([])

/** One name per system, each once. */
export function osNames(names: readonly string[]): readonly string[] {
  if (names.length === 0) return NONE
  return [...new Set(names.map(toOsName))]
}

/** True for an address that a browser would open. */
export function isWebAddress(text: string): boolean {
  return /^https?:\/\/[^\s]+$/i.test(text)
}
