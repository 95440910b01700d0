import type { Skill } from '../../kernel/index.ts'
import { type Finding, finding } from './finding.ts'

/** What reading a skill as loading reads it came to. */
export interface Examined {
  /** Why it cannot be loaded; absent when it can. */
  readonly problem?: {
    readonly code: string
    readonly text: string
    readonly file: string
    readonly line?: number
    readonly fix: string
  }
  /** Links and special files in its directory, which are no part of it. */
  readonly leftOut: readonly { readonly path: string; readonly kind: string }[]
}

export interface ExaminedParts {
  /** Catalogs know what lists need; what is read only by loading is told by this. Undefined: the skill was not examined. */
  readonly examined?: (skill: Skill) => Examined | undefined
}

const MAX_LEFT_OUT = 5

/** Why it cannot be loaded: the answer, whatever else is true of it. */
export function aboutLoading(skill: Skill, { examined }: ExaminedParts): Finding[] {
  const problem = examined?.(skill)?.problem
  if (!problem) return []
  return [finding(problem.code, 'problem', { ...problem, text: `It cannot be loaded: ${problem.text}.` })]
}

/** What of its directory commands and the model do not get. */
export function aboutLeftOut(skill: Skill, { examined }: ExaminedParts): Finding[] {
  const leftOut = examined?.(skill)?.leftOut ?? []
  const [first] = leftOut
  if (!first) return []
  const shown = leftOut.slice(0, MAX_LEFT_OUT).map(({ path, kind }) => `${path} (${kind})`)
  const rest = leftOut.length > shown.length ? ` and ${leftOut.length - shown.length} more` : ''
  return [
    finding('left-out', 'note', {
      text: `Not part of the skill, so neither read nor seen by its commands: ${shown.join(', ')}${rest}.`,
      file: `${skill.directory}/${first.path}`,
      fix: LEFT_OUT_FIX,
    }),
  ]
}

/** For whoever needs what is left out. No command: nobody should copy what a link of a stranger leads to. */
export const LEFT_OUT_FIX =
  'nothing has to be done, if the skill does not need it; what it needs must lie there itself, as a regular file'
