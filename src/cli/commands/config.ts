import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  explainConfig,
  loadConfig,
  type LoadedConfig,
  type Origin,
  sourceOf,
  type SourceLines,
} from '../../config/index.ts'
import {
  createRedactor,
  type Diagnostic,
  hasErrors,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  NexusError,
  nearest,
  toSafeLine,
} from '../../kernel/index.ts'
import { type Invocation, stringFlag } from '../command.ts'
import { envelope } from '../envelope.ts'
import { printDiagnostics } from '../open.ts'
import { type Setting, settingsIn, settingsText } from '../settings/settings-text.ts'
import type { Terminal } from '../terminal.ts'

/** `nexus config check`: exit code 1 when a file has an error. */
export async function checkConfig(invocation: Invocation): Promise<number> {
  const { terminal } = invocation
  const loaded = await load(invocation)
  const diagnostics = await allFindings(loaded)
  const bad = hasErrors(diagnostics)
  if (invocation.flags['json'] === true) {
    const { document: config } = await explainConfig(loaded)
    const data = { files: [...loaded.files], workspace: { ...loaded.workspace }, config }
    terminal.json(envelope('config check', data, diagnostics))
    return bad ? 1 : 0
  }
  await printFindings(diagnostics, loaded, terminal)
  const files =
    loaded.files.length === 0 ? 'No nexus.yaml was found; the defaults hold.' : `Read: ${loaded.files.join(', ')}`
  const isDoubtful = diagnostics.some(({ severity }) => severity === 'warning')
  const mark = bad
    ? terminal.paint('red', '✗')
    : isDoubtful
      ? terminal.paint('yellow', '!')
      : terminal.paint('green', '✓')
  terminal.line(`${mark} ${toSafeLine(files)}`)
  terminal.line(
    `  workspace ${toSafeLine(loaded.workspace.directory)} (${loaded.workspace.trusted ? 'trusted' : 'not trusted: nexus trust'})`,
  )
  return bad ? 1 : 0
}

/** Each finding with the lines of its file: all keys, and the values that are public. */
async function printFindings(
  diagnostics: readonly Diagnostic[],
  loaded: LoadedConfig,
  terminal: Terminal,
): Promise<void> {
  if (diagnostics.length === 0) return
  const { formatWithFrame } = await import('../validation/code-frame.ts')
  const sources = new Map<string, SourceLines | undefined>()
  for (const diagnostic of diagnostics) {
    const { path, line = 1, column = 1 } = diagnostic
    if (!sources.has(path)) sources.set(path, await sourceOf(loaded, path))
    const source = sources.get(path)
    const frame = { lines: source?.lines ?? [], column: source?.columnOf(line, column) }
    terminal.line(formatWithFrame(diagnostic, frame, terminal))
  }
  terminal.line()
}

/** `nexus config show [section]`: what holds and which line said so; only public values are shown. Exit code 1 when a file has an error. */
export async function showConfig(invocation: Invocation): Promise<number> {
  const { terminal } = invocation
  const loaded = await load(invocation)
  const { document, originOf } = await explainConfig(loaded)
  const part = sectionOf(document, invocation.positionals[0])
  const diagnostics = await allFindings(loaded)
  const bad = hasErrors(diagnostics)
  if (invocation.flags['json'] === true) {
    const values = settingsIn(part.document, []).map(({ keys, value }) => ({
      key: keyText(keys),
      value,
      from: placeOf(originOf(keys)),
    }))
    const data = { files: [...loaded.files], workspace: { ...loaded.workspace }, document: part.document, values }
    terminal.json(envelope('config show', data, diagnostics))
    return bad ? 1 : 0
  }
  printDiagnostics(diagnostics, terminal)
  const comment = ({ keys }: Setting): string => terminal.paint('dim', `# ${describe(originOf(keys), invocation)}`)
  terminal.line(settingsText(part.document, comment))
  return bad ? 1 : 0
}

/** `nexus config schema`: the JSON Schema of nexus.yaml, for editors and CI. */
export async function showSchema({ command, flags, terminal }: Invocation): Promise<number> {
  const { packageRoot } = await import('../../local/index.ts')
  const schema = readFileSync(join(packageRoot(), 'schema/nexus.schema.json'), 'utf8')
  if (flags['json'] === true) terminal.json(envelope(command, { schema: JSON.parse(schema) as JsonObject }))
  else terminal.write(schema)
  return 0
}

/** Of the files, and of the policies that they make. */
async function allFindings(loaded: LoadedConfig): Promise<readonly Diagnostic[]> {
  const { readPolicies } = await import('../../local/index.ts')
  const { readEntries } = await import('../../local/index.ts')
  const all = [...loaded.diagnostics, ...(await readPolicies(loaded)).diagnostics, ...(await readEntries(loaded))]
  // Public values are quoted; a secret may be one of them by mistake.
  const redact = createRedactor(loaded.secrets)
  return all.map((found) => ({
    ...found,
    message: redact(found.message),
    ...(found.fix !== undefined && { fix: redact(found.fix) }),
  }))
}

function load(invocation: Invocation): Promise<LoadedConfig> {
  const { environment, cwd } = invocation
  const configPath = stringFlag(invocation, 'config')
  return loadConfig({ cwd, environment, ...(configPath !== undefined && { configPath }) })
}

/** The document with nothing in it but the part at a dotted path. Throws INVALID_ARGUMENT when there is none. */
function sectionOf(document: JsonObject, path: string | undefined): { document: JsonObject } {
  if (path === undefined) return { document }
  const keys = path.split('.')
  let part: JsonValue = document
  for (const [index, key] of keys.entries()) {
    const known = isJsonObject(part) ? Object.keys(part) : []
    if (!isJsonObject(part) || !known.includes(key)) throw noSection(keys.slice(0, index), key, known)
    part = part[key] as JsonValue
  }
  return { document: keys.reduceRight<JsonValue>((inner, key) => ({ [key]: inner }), part) as JsonObject }
}

function noSection(parents: readonly string[], key: string, known: readonly string[]): NexusError {
  const guess = nearest(key, known)
  const inside = parents.length === 0 ? '' : ` in ${parents.join('.')}`
  return new NexusError('INVALID_ARGUMENT', `Nothing is set under "${toSafeLine(key)}"${inside}.`, {
    fix: guess === undefined ? `There is: ${known.join(', ')}` : `Did you mean ${[...parents, guess].join('.')}?`,
  })
}

function keyText(keys: Setting['keys']): string {
  return keys.map((key, index) => (typeof key === 'number' ? `[${key}]` : `${index > 0 ? '.' : ''}${key}`)).join('')
}

function placeOf({ path, line, column }: Origin = { path: 'default' }): JsonObject {
  return { path, ...(line !== undefined && { line }), ...(column !== undefined && { column }) }
}

function describe(origin: Origin | undefined, { environment }: Invocation): string {
  if (origin === undefined) return 'default'
  const { path, line } = origin
  const short = path.startsWith(`${environment.home}/`) ? `~${path.slice(environment.home.length)}` : path
  return toSafeLine(line === undefined ? short : `${short}:${line}`)
}
