import { constants } from 'node:fs'
import { open, realpath } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { type Diagnostic, type JsonObject, NexusError } from '../kernel/index.ts'
import type { LoadedConfig } from './config.ts'
import { checkDocument } from './document/check-document.ts'
import { collectFindings } from './document/findings.ts'
import { copyValue } from './document/parts.ts'
import { parseYaml, type PathKey, type YamlFile } from './document/read-yaml.ts'
import { type Environment, expandHome } from './environment.ts'
import { mergeDocuments } from './merge.ts'
import { resolveReferences, type Unset } from './references.ts'
import { restrictUntrusted } from './restrict.ts'
import type { ConfigDocument } from './schema.ts'
import { type EnvironmentSettings, toConfig } from './to-config.ts'
import { listTrusted } from './trust.ts'
import { findWorkspace } from './workspace.ts'

export interface LoadConfigOptions {
  /** Where to look for the workspace. */
  readonly cwd: string
  readonly environment: Environment
  /** One more file, read after the workspace's; default `NEXUS_CONFIG`. Whoever names it trusts it. */
  readonly configPath?: string
  /** Settings of the command line, in the form of a file; they weigh most. Paths are relative to `cwd`. */
  readonly overrides?: ConfigDocument
  /** Whether the workspace is trusted, for this run; default what `nexus trust` remembers. */
  readonly trusted?: boolean
}

/** The size limit of one file. */
const MAX_BYTES = 256 * 1024
const ON = ['1', 'true', 'yes', 'y', 'on']

/**
 * Reads the user's, the workspace's and the named nexus.yaml, and lays them over each other. Faults in files are
 * diagnostics and what they touch is left out: whoever acts on the config first calls `assertValid`.
 * Throws only CONFIG_INVALID, when the file named by `configPath` or NEXUS_CONFIG cannot be read.
 */
export async function loadConfig(options: LoadConfigOptions): Promise<LoadedConfig> {
  const { environment } = options
  const found = findWorkspace(options.cwd, environment)
  const trust = await listTrusted(environment.nexusHome)
  const trusted = options.trusted ?? trust.directories.includes(found.directory)
  const so: Layers = {
    environment,
    document: {},
    diagnostics: [...trust.diagnostics],
    files: [],
    secrets: new Set([environment.openaiApiKey, environment.anthropicApiKey].filter((key) => key !== undefined)),
    unset: [],
  }
  for (const { path, isRequired, isTrusted } of await filesToRead(options, found, trusted)) {
    const file = await readConfigFile(path, so, isRequired)
    if (file) addLayer(so, file, { directory: dirname(path), isTrusted })
  }
  if (options.overrides) {
    const value = copyValue(options.overrides as JsonObject) as JsonObject
    const file: YamlFile = { path: 'command line', value, diagnostics: [], locate: () => undefined }
    addLayer(so, file, { directory: resolve(options.cwd), isTrusted: true })
  }
  const settings = readSettings(so)
  return Object.freeze({
    config: toConfig(so.document, { unset: so.unset, secrets: [...so.secrets], settings }),
    diagnostics: so.diagnostics,
    workspace: Object.freeze({ ...found, trusted }),
    nexusHome: environment.nexusHome,
    stateDirectory: environment.stateDirectory,
    files: so.files,
    secrets: [...so.secrets],
  })
}

/**
 * Returns the configuration when no file has an error. Else throws CONFIG_INVALID with every error and its place:
 * a deny list that could not be read must not become "allowed".
 */
export function assertValid(loaded: LoadedConfig): LoadedConfig['config'] {
  const errors = loaded.diagnostics.filter((diagnostic) => diagnostic.severity === 'error')
  if (errors.length === 0) return loaded.config
  const lines = errors.map(
    ({ path, line, column, message, fix }) =>
      `  ${path}${line === undefined ? '' : `:${line}:${column}`} ${message}${fix === undefined ? '' : ` ${fix}`}`,
  )
  throw new NexusError(
    'CONFIG_INVALID',
    `The configuration has ${errors.length === 1 ? 'an error' : `${errors.length} errors`}:\n${lines.join('\n')}`,
    {
      fix: 'Correct the file; nexus config check shows all findings.',
    },
  )
}

/** The configuration as it grows, file by file. */
interface Layers {
  readonly environment: Environment
  document: ConfigDocument
  readonly diagnostics: Diagnostic[]
  readonly files: string[]
  readonly secrets: Set<string>
  readonly unset: Unset[]
}

interface FileToRead {
  readonly path: string
  readonly isRequired: boolean
  readonly isTrusted: boolean
}

/** In the order of their weight; a file that is there twice counts where it weighs most. */
async function filesToRead(
  options: LoadConfigOptions,
  found: { directory: string },
  trusted: boolean,
): Promise<FileToRead[]> {
  const { environment, cwd, configPath = environment.configPath } = options
  const files: FileToRead[] = [
    { path: join(environment.nexusHome, 'nexus.yaml'), isRequired: false, isTrusted: true },
    { path: join(found.directory, 'nexus.yaml'), isRequired: false, isTrusted: trusted },
  ]
  if (configPath !== undefined)
    files.push({ path: resolve(cwd, expandHome(configPath, environment.home)), isRequired: true, isTrusted: true })
  const byRealPath = new Map<string, FileToRead>()
  for (const file of files) {
    const real = await realpath(file.path).catch(() => file.path)
    byRealPath.delete(real)
    byRealPath.set(real, file)
  }
  return [...byRealPath.values()]
}

function addLayer(
  so: Layers,
  file: YamlFile,
  { directory, isTrusted }: { directory: string; isTrusted: boolean },
): void {
  const checked = checkDocument(file)
  so.diagnostics.push(...file.diagnostics, ...checked.diagnostics)
  const allowed = isTrusted
    ? { document: checked.document, diagnostics: [] }
    : restrictUntrusted(checked.document, { base: so.document, file })
  const resolved = resolveReferences(allowed.document, { file, directory, environment: so.environment })
  so.diagnostics.push(
    ...allowed.diagnostics,
    ...resolved.diagnostics,
    ...findUnused(resolved.document, file),
    ...findTwins(checked.document, file),
  )
  for (const secret of resolved.secrets) so.secrets.add(secret)
  so.unset.push(...resolved.unset)
  so.document = mergeDocuments(so.document, resolved.document)
}

/** What the schema accepts and this version does not act on: said, so that nothing is silent. */
function findUnused({ skills }: ConfigDocument, file: YamlFile): Diagnostic[] {
  const findings = collectFindings(file)
  const add = (keys: readonly PathKey[], what: string): void => {
    const message = `This version does not ${what} yet; the setting has no effect.`
    findings.add(keys, { code: 'config-not-used', severity: 'warning', message })
  }
  for (const [index, { type }] of (skills?.sources ?? []).entries()) {
    if (type !== 'local') add(['skills', 'sources', index], `fetch skills from a ${type} source`)
  }
  if (skills?.builtin) add(['skills', 'builtin'], 'choose built-in tools by skills.builtin')
  if (skills?.custom) add(['skills', 'custom'], 'load tools from modules')
  return findings.list()
}

/** Two agents of one name in one file: their rules are laid over each other, which nobody meant. */
function findTwins({ agents = [] }: ConfigDocument, file: YamlFile): Diagnostic[] {
  const findings = collectFindings(file)
  const seen = new Set<string>()
  for (const [index, { id }] of agents.entries()) {
    const message = `There is already an agent "${id}" in this file.`
    const fix = 'Give it another id, or put the settings together.'
    if (seen.has(id))
      findings.add(['agents', index], { code: 'config-duplicate-agent', severity: 'error', message, fix })
    seen.add(id)
  }
  return findings.list()
}

async function readConfigFile(path: string, so: Layers, isRequired: boolean): Promise<YamlFile | undefined> {
  const bad = (code: string, message: string, fix: string): undefined => {
    if (isRequired) throw new NexusError('CONFIG_INVALID', `${path}: ${message}`, { fix })
    so.diagnostics.push({ code, severity: 'error', message, path, fix })
  }
  const read = await readBytes(path)
  if (read.type === 'absent' && !isRequired) return undefined
  if (read.type === 'absent')
    return bad('config-unreadable', 'There is no such file.', 'Name a file that exists with --config or NEXUS_CONFIG.')
  if (read.type === 'unreadable')
    return bad(
      'config-unreadable',
      `The file cannot be read: ${read.why}.`,
      'Make it a regular file that you may read.',
    )
  so.files.push(path)
  if (read.isOpen) {
    const fix = `chmod o-w ${path}`
    so.diagnostics.push({
      code: 'config-open',
      severity: 'warning',
      message: 'Anyone can change this file.',
      path,
      fix,
    })
  }
  if (read.bytes.length > MAX_BYTES)
    return bad(
      'config-too-large',
      `The file is larger than ${MAX_BYTES} bytes.`,
      'Make it smaller: it is a configuration.',
    )
  try {
    return parseYaml(new TextDecoder('utf-8', { fatal: true }).decode(read.bytes), path)
  } catch {
    // Only decoding can fail here: parseYaml never throws.
    return bad('config-encoding', 'The file is not UTF-8 text.', 'Save it as UTF-8.')
  }
}

type Read =
  | { type: 'absent' }
  | { type: 'unreadable'; why: string }
  | { type: 'read'; bytes: Uint8Array; isOpen: boolean }

/** Reads at most one byte more than the limit, and never waits on a pipe. */
async function readBytes(path: string): Promise<Read> {
  try {
    await using handle = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
    const stat = await handle.stat()
    if (!stat.isFile()) return { type: 'unreadable', why: 'it is not a regular file' }
    const buffer = new Uint8Array(MAX_BYTES + 1)
    let length = 0
    for (let bytesRead = -1; bytesRead !== 0 && length < buffer.length; length += bytesRead) {
      ;({ bytesRead } = await handle.read(buffer, length, buffer.length - length))
    }
    return {
      type: 'read',
      bytes: buffer.subarray(0, length),
      isOpen: process.platform !== 'win32' && (stat.mode & 0o002) !== 0,
    }
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown'
    return code === 'ENOENT' || code === 'ENOTDIR' ? { type: 'absent' } : { type: 'unreadable', why: code }
  }
}

function readSettings({ environment, diagnostics }: Layers): EnvironmentSettings {
  const budget = environment.skillsPromptCharBudget?.trim()
  const isNumber = budget !== undefined && /^\d{1,9}$/.test(budget)
  if (budget !== undefined && !isNumber) {
    diagnostics.push({
      code: 'environment-wrong-value',
      severity: 'warning',
      message: 'SKILLS_PROMPT_CHAR_BUDGET must be a whole number; it is ignored.',
      path: 'environment',
      fix: 'Set it to a number such as 12000.',
    })
  }
  const refresh = environment.skillsRefreshOnCall?.trim().toLowerCase()
  return {
    ...(isNumber && { budgetChars: Number(budget) }),
    ...(refresh !== undefined && { refreshOnCall: ON.includes(refresh) }),
  }
}
