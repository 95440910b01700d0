import type { JsonValue } from '../../../kernel/index.ts'

/** A member of an install entry, for those who check it and those who make commands of it. */
export interface InstallRule {
  readonly key: string
  readonly accepts: (value: JsonValue) => boolean
  readonly wanted: string
  /** A whole line that is right. */
  readonly example: string
  readonly isRequired?: boolean
}

const MAX_SPEC_CHARS = 214
const NPM = /^(?:@[a-z0-9][\w.-]*\/)?[a-z0-9][\w.-]*(?:@[\w.^~+-]+)?$/i
const NPM_EXAMPLE = 'package: "@scope/name@1.2.3"'

/** By kind, the member that names the package: no option, no path upwards, nothing for a shell. */
const PACKAGE_RULES: Readonly<Record<string, InstallRule>> = {
  brew: named('brew', 'formula: gh', /^(?:[a-z0-9][\w.-]*\/[a-z0-9][\w.-]*\/)?[a-z0-9][\w.@+-]*$/i),
  node: named('node', NPM_EXAMPLE, NPM),
  npm: named('npm', NPM_EXAMPLE, NPM),
  go: named('go', 'module: github.com/owner/tool@latest', /^[a-z0-9][\w.-]*(?:\/[\w.~-]+)*(?:@[\w.+-]+)?$/i),
  uv: named('uv', 'package: ruff==0.14.0', /^[a-z0-9][\w.-]*(?:\[[\w,.-]+\])?(?:(?:==|@)[\w.+!-]+)?$/i),
  // A minus at the end removes the package.
  apt: named('apt', 'package: jq', /^[a-z0-9](?:[a-z0-9+.-]*[a-z0-9+])?$/),
}

function named(kind: string, example: string, pattern: RegExp): InstallRule {
  const accepts = (value: JsonValue): boolean =>
    isText(value, pattern) && value.length <= MAX_SPEC_CHARS && !value.includes('..')
  const key = example.slice(0, example.indexOf(':'))
  return { key, accepts, wanted: `a name that ${kind} may be given`, example, isRequired: true }
}

const ARCHIVES = ['zip', 'tar.gz', 'tgz', 'tar.bz2', 'tbz2', 'tar.xz', 'txz', 'tar']

const DOWNLOAD_RULES: readonly InstallRule[] = [
  {
    key: 'url',
    accepts: isHttps,
    wanted: 'an address of https',
    example: 'url: https://example.com/tool.tar.gz',
    isRequired: true,
  },
  {
    key: 'sha256',
    accepts: (value) => isText(value, /^[0-9a-f]{64}$/i),
    wanted: '64 hex digits',
    example: 'sha256: "<64 hex digits>"',
  },
  {
    key: 'archive',
    accepts: (value) => typeof value === 'string' && ARCHIVES.includes(value.toLowerCase()),
    wanted: `one of ${ARCHIVES.join(', ')}`,
    example: 'archive: tar.gz',
  },
  {
    key: 'extract',
    accepts: (value) => typeof value === 'boolean',
    wanted: 'true or false',
    example: 'extract: true',
  },
  {
    key: 'stripComponents',
    accepts: (value) => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 32,
    wanted: 'a number from 0 to 32',
    example: 'stripComponents: 1',
  },
  {
    key: 'targetDir',
    // Relative, or below the home directory as OpenClaw writes it.
    accepts: (value) => isText(value, /^(?:~\/)?[\w.@][\w.@/-]{0,200}$/) && !/(?:^|\/)\.\.(?:\/|$)/.test(value),
    wanted: 'a directory inside the directory of tools',
    example: 'targetDir: bin',
  },
]

export const INSTALL_KINDS: readonly string[] = [...Object.keys(PACKAGE_RULES), 'download']

/** The rules of a kind; undefined for a kind that is unknown. */
export function rulesOf(kind: string): readonly InstallRule[] | undefined {
  if (kind === 'download') return DOWNLOAD_RULES
  const rule = Object.hasOwn(PACKAGE_RULES, kind) ? PACKAGE_RULES[kind] : undefined
  return rule && [rule]
}

/** Nothing and null are the same. */
export function isFine(value: JsonValue | undefined, { accepts, isRequired }: InstallRule): boolean {
  return value === undefined || value === null ? isRequired !== true : accepts(value)
}

function isText(value: JsonValue, pattern: RegExp): value is string {
  return typeof value === 'string' && pattern.test(value)
}

/** True for an address that a download may come from: https, without a password, nothing for a shell. */
function isHttps(url: JsonValue): boolean {
  return isText(url, /^https:\/\/[^\s"'`$;|&<>\\]{1,2000}$/i) && URL.parse(url)?.username === ''
}
