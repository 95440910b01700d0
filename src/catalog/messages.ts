import { toSafeLine } from '../kernel/index.ts'

/** What the catalog says about one name. */
interface LowerCopy {
  readonly name: string
  /** Source of the better copy, and its SKILL.md. */
  readonly source: string
  readonly file: string
  /** SKILL.md of the copy that is used. */
  readonly used: string
}

interface Words {
  readonly message: string
  readonly fix: string
}

/** The words of every diagnostic of the catalog, by its code. Facts come from outside, so they are made safe to print. */
export const MESSAGES = {
  'lower-copy-used': {
    invalid: ({ name, source, file, used }: LowerCopy): Words => ({
      message: `Nexus uses ${toSafeLine(used)} for '${name}', because the copy of source '${source}' is invalid.`,
      fix: `Run: nexus skills validate ${toSafeLine(file)}`,
    }),
    held: ({ name, source, file, used }: LowerCopy, reasons: readonly string[]): Words => ({
      message: `Nexus uses ${toSafeLine(used)} for '${name}', because the copy of source '${source}' is held: ${toSafeLine(reasons.join('; '))}.`,
      fix: `To use the other copy, fix what it lacks. Run: nexus skills why ${toSafeLine(file)}`,
    }),
  },
} as const
