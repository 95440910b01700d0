import { errorOf } from '../failure.ts'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { explainConfig, type ExplainedConfig, type LoadedConfig, type Origin } from '../../../config/index.ts'
import {
  createRedactor,
  type Diagnostic,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  membersOf,
  nearest,
  commandFix,
  toSafeLine,
  toSafeText,
} from '../../../kernel/index.ts'
import { type Answer, type Invocation, stringFlag } from '../command.ts'
import { loadHere, printDiagnostics, NO_CONFIG } from '../open.ts'
import { printExplain, worstMark } from '../show/findings.ts'
import { trustText } from '../show/consent.ts'
import { formatDiagnostic } from '../terminal.ts'

/** `nexus config check`: exit code 1 when a file has an error. */
export async function checkConfig(invocation: Invocation): Promise<Answer> {
  const { terminal } = invocation
  const loaded = await loadHere(invocation)
  const diagnostics = await allFindings(loaded, invocation)
  const { document: config } = await explainConfig(loaded)
  return {
    data: { files: loaded.files, workspace: workspaceData(loaded), config },
    diagnostics,
    show: () => {
      for (const diagnostic of diagnostics) terminal.line(formatDiagnostic(diagnostic, terminal))
      if (diagnostics.length > 0) terminal.line()
      const files = loaded.files.length === 0 ? NO_CONFIG : `Read: ${loaded.files.map(terminal.shortPath).join(', ')}`
      terminal.line(`${worstMark(diagnostics, terminal)} ${files}`)
      terminal.line(`  workspace ${trustText(loaded.workspace, terminal)}`)
      printExplain(diagnostics, terminal)
    },
  }
}

/** `nexus config show [section]`: what holds and which line said so; only public values are shown. Exit code 1 when a file has an error. */
export async function showConfig(invocation: Invocation): Promise<Answer> {
  const { terminal } = invocation
  const loaded = await loadHere(invocation)
  const explained = await explainConfig(loaded)
  const { originOf } = explained
  const document = sectionOf(explained, invocation.positionals[0])
  const diagnostics = await allFindings(loaded, invocation)
  const values = settingsIn(document).map(({ keys, value }) => {
    const { path, line, column }: Origin = originOf(keys) ?? { path: 'default' }
    return { key: keyText(keys), value, from: { path, line, column } }
  })
  return {
    data: { files: loaded.files, workspace: workspaceData(loaded), document, values },
    diagnostics,
    show: async () => {
      printDiagnostics(diagnostics, terminal)
      const { Document, isNode } = await import('yaml')
      const yaml = new Document(document)
      for (const { keys } of settingsIn(document)) {
        const node = yaml.getIn(keys, true)
        if (isNode(node)) node.comment = ` ${describe(originOf(keys), invocation)}`
      }
      terminal.write(toSafeText(yaml.toString({ lineWidth: 0 })))
    },
  }
}

interface Setting {
  readonly keys: readonly (string | number)[]
  readonly value: JsonValue
}

/** Every value of a document in order; empty lists and maps count as values. */
function settingsIn(document: JsonValue, keys: Setting['keys'] = []): Setting[] {
  const members = membersOf(document)
  if (members.length === 0) return [{ keys, value: document }]
  return members.flatMap(([key, member]) => settingsIn(member, [...keys, key]))
}

/** `nexus config schema`: the JSON Schema of nexus.yaml, for editors and CI. */
export async function showSchema({ terminal }: Invocation): Promise<Answer> {
  const { packageRoot } = await import('../../../local/index.ts')
  const schema = readFileSync(join(packageRoot(), 'schema/nexus.schema.json'), 'utf8')
  return { data: { schema: JSON.parse(schema) as JsonObject }, show: () => terminal.write(schema) }
}

function workspaceData({ workspace }: LoadedConfig): JsonObject {
  return { ...workspace, files: [...workspace.files], lost: [...workspace.lost] }
}

/** Findings about the files, the policies that they make, and names in them that lead to nothing. */
async function allFindings(loaded: LoadedConfig, invocation: Invocation): Promise<readonly Diagnostic[]> {
  const all = [...loaded.diagnostics, ...(await findInSettings(loaded, invocation))]
  // Public values are quoted; a secret may be one of them by mistake.
  const redact = createRedactor(loaded.secrets)
  return all.map((found) => ({ ...found, message: redact(found.message), fix: found.fix && redact(found.fix) }))
}

/** Faults of settings that the schema allows. Skills are searched only when a setting names one. */
export async function findInSettings(loaded: LoadedConfig, invocation: Invocation): Promise<readonly Diagnostic[]> {
  const { findMissingDirectories, findUnknownSkills, inspectSkills, readEntries, readPolicies } =
    await import('../../../local/index.ts')
  const { diagnostics } = await readPolicies(loaded)
  const found = [...diagnostics, ...(await readEntries(loaded)), ...(await findMissingDirectories(loaded))]
  const { skills, agents } = loaded.config
  const namesSkills =
    skills.entries.size > 0 || skills.disabled_skills.length > 0 || agents.some((agent) => agent.skills?.length)
  if (!namesSkills) return found
  const { cwd, environment, signal } = invocation
  const configPath = stringFlag(invocation, 'config')
  const look = await inspectSkills({ cwd, environment, signal, configPath, tolerateConfigErrors: true })
  return [...found, ...(await findUnknownSkills(loaded, look.catalog()))]
}

/** The document with nothing in it but the part at a dotted path. Throws INVALID_ARGUMENT when there is none. */
function sectionOf({ document, keysAt }: ExplainedConfig, path: string | undefined): JsonObject {
  if (path === undefined) return document
  const keys = keysAt(path)
  if (keys === undefined) {
    const known = Object.keys(document)
    const guess = nearest(path.split('.', 1)[0] ?? '', known)
    const fix =
      guess === undefined
        ? `Choose one of: ${known.map(toSafeLine).join(', ')}`
        : commandFix('Did you mean:', 'config', 'show', guess)
    throw errorOf('INVALID_ARGUMENT', `No setting "${toSafeLine(path)}" is set.`, fix)
  }
  const part = keys.reduce<JsonValue>((holder, key) => (isJsonObject(holder) ? (holder[key] ?? null) : null), document)
  return keys.reduceRight<JsonValue>((inner, key) => ({ [key]: inner }), part) as JsonObject
}

function keyText(keys: Setting['keys']): string {
  return keys.map((key, index) => (typeof key === 'number' ? `[${key}]` : `${index > 0 ? '.' : ''}${key}`)).join('')
}

function describe(origin: Origin | undefined, { terminal }: Invocation): string {
  if (origin === undefined) return 'default'
  const { path, line } = origin
  const short = terminal.shortPath(path)
  return line === undefined ? short : `${short}:${line}`
}
