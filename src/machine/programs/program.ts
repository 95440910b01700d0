/** program: a program of a person, as it is found. Types only. */
import type { Installation } from './installations.ts'
import type { Link } from './links.ts'

/** Where a person's programs are searched for. */
export interface ProgramSearch {
  readonly home: string
  /** Directories of the person's PATH, in order. */
  readonly path: readonly string[]
  /** A variable of the person, such as PYENV_ROOT. */
  readonly variable: (name: string) => string | undefined
  /** Directories that commands see anyway. */
  readonly system: readonly string[]
  /** Programs that commands have anyway. */
  readonly given: readonly string[]
}

/** A directory or a file that is mounted read-only at its own path. */
export interface Place {
  readonly path: string
  readonly kind: string
  readonly isSealed: boolean
}

/** A program and all that it needs. */
export interface Program {
  readonly type: 'found'
  readonly name: string
  /** The file that is started: no shim, at its own path. */
  readonly file: string
  /** How it is installed, for people. */
  readonly kind: string
  readonly places: readonly Place[]
  /** Outside of the places. */
  readonly links: readonly Link[]
}

export type Refusal = 'never-runs' | 'unknown' | 'home' | 'keys' | 'broken'

/** A program that is there and is not mounted. `why` completes "…, because …". */
export interface Refused {
  readonly type: 'refused'
  readonly name: string
  readonly path: string
  readonly because: Refusal
  readonly why: string
}

/** `system`: commands find it by themselves. */
export type Located =
  | Program
  | Refused
  | { readonly type: 'system'; readonly name: string; readonly path: string }
  | { readonly type: 'absent'; readonly name: string }

/** A row of the table at a place of this machine. */
export interface Based {
  readonly row: Installation
  /** Its name; `real` is where links lead. */
  readonly base: string
  readonly real: string
}
