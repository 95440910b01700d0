import type { JsonValue } from '../../../kernel/index.ts'

/** How the package of a kind is named. */
export interface PackageRule {
  readonly field: string
  readonly pattern: RegExp
  readonly example: string
}

/** The field that names the package of each kind, and its pattern: no option, no path upwards, nothing for a shell. */
export const PACKAGE_RULES: Readonly<Record<string, PackageRule>> = {
  brew: {
    field: 'formula',
    pattern: /^(?:[a-z0-9][\w.-]*\/[a-z0-9][\w.-]*\/)?[a-z0-9][\w.@+-]*$/i,
    example: 'formula: gh',
  },
  node: { field: 'package', pattern: npmName(), example: 'package: "@scope/name@1.2.3"' },
  npm: { field: 'package', pattern: npmName(), example: 'package: "@scope/name@1.2.3"' },
  go: {
    field: 'module',
    pattern: /^[a-z0-9][\w.-]*(?:\/[\w.~-]+)*(?:@[\w.+-]+)?$/i,
    example: 'module: github.com/owner/tool@latest',
  },
  uv: {
    field: 'package',
    pattern: /^[a-z0-9][\w.-]*(?:\[[\w,.-]+\])?(?:(?:==|@)[\w.+!-]+)?$/i,
    example: 'package: ruff==0.14.0',
  },
  // A minus at the end removes the package.
  apt: { field: 'package', pattern: /^[a-z0-9](?:[a-z0-9+.-]*[a-z0-9+])?$/, example: 'package: jq' },
}
export const ARCHIVES = ['zip', 'tar.gz', 'tgz', 'tar.bz2', 'tbz2', 'tar.xz', 'txz', 'tar']
const MAX_SPEC_CHARS = 214
export const BIN = /^[A-Za-z0-9_][A-Za-z0-9._+-]{0,63}$/

function npmName(): RegExp {
  return /^(?:@[a-z0-9][\w.-]*\/)?[a-z0-9][\w.-]*(?:@[\w.^~+-]+)?$/i
}

/** True for the name of a package that an installer may be given. */
export function isSafePackage(value: string, { pattern }: PackageRule): boolean {
  return value.length <= MAX_SPEC_CHARS && pattern.test(value) && !value.includes('..')
}

/** True for an address that a download may come from: https, without a password, nothing for a shell. */
export function isHttps(url: string): boolean {
  return /^https:\/\/[^\s"'`$;|&<>\\]{1,2000}$/i.test(url) && URL.canParse(url) && new URL(url).username === ''
}

export function isArchive(value: JsonValue): boolean {
  return typeof value === 'string' && ARCHIVES.includes(value.toLowerCase())
}

export function isCount(value: JsonValue): boolean {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= 32
}

/** A relative path inside, or one below the home directory as OpenClaw writes it. */
export function isTarget(value: JsonValue): boolean {
  return (
    typeof value === 'string' && /^(?:~\/)?[\w.@][\w.@/-]{0,200}$/.test(value) && !/(?:^|\/)\.\.(?:\/|$)/.test(value)
  )
}
