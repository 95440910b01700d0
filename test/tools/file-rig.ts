/** What the tests of the file tools share: a workspace with files, and one call of a tool. */
import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { TestContext } from 'node:test'
import type { CallLimits, JsonObject, Outcome, Services, ToolContext } from '../../src/kernel/index.ts'
import {
  createRegistry,
  createServices,
  executeTool,
  FILES,
  type FileSettings,
  REDACT_TEXT,
  registerBuiltins,
  toModelText,
  WORKSPACE,
} from '../../src/tools/index.ts'
import { freshDirectory } from '../machine/files/rig.ts'
import { contextOf } from './rig.ts'

export interface FileRig {
  /** Real path. */
  readonly workspace: string
  /** The directory around it. */
  readonly above: string
  readonly services: Services
  call(tool: string, args: JsonObject, limits?: CallLimits, more?: Partial<ToolContext>): Promise<Outcome>
  text(path: string): string | undefined
}

/** Paths and texts, relative to the workspace; a text that begins with `->` is a link. */
export type Files = Readonly<Record<string, string | Uint8Array>>

export interface RigOptions {
  readonly settings?: FileSettings
  readonly secret?: string
  /** What the tools are told as the workspace; default its real path. */
  readonly given?: (above: string) => string
}

export function openFiles(t: TestContext, files: Files = {}, options: RigOptions = {}): FileRig {
  const above = freshDirectory(t)
  const workspace = join(above, 'work')
  mkdirSync(workspace)
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(workspace, path)), { recursive: true })
    if (typeof content === 'string' && content.startsWith('->')) symlinkSync(content.slice(2), join(workspace, path))
    else writeFileSync(join(workspace, path), content)
  }
  const services = createServices()
  services.register(WORKSPACE, options.given?.(above) ?? workspace)
  if (options.settings) services.register(FILES, options.settings)
  const { secret } = options
  if (secret !== undefined) services.register(REDACT_TEXT, (text, isCut) => hide(text, secret, isCut))
  const registry = createRegistry(services)
  registerBuiltins(registry)
  return {
    workspace,
    above,
    services,
    call(name, args, limits, more) {
      const tool = registry.get(name)
      assert.ok(tool)
      return executeTool(tool, args, { ...contextOf({ services }), ...(limits && { limits }), ...more })
    },
    text(path) {
      const at = join(workspace, path)
      return existsSync(at) ? readFileSync(at, 'utf8') : undefined
    },
  }
}

/** As the redactor of a runtime, for one secret of one line. */
function hide(text: string, secret: string, isCut: boolean): string {
  const whole = text.replaceAll(secret, '[redacted]')
  for (let length = secret.length - 1; isCut && length > 5; length--)
    if (whole.endsWith(secret.slice(0, length))) return `${whole.slice(0, -length)}[redacted]`
  return whole
}

/** Code and message of a failure; else what the model reads. */
export function answerOf(outcome: Outcome): string {
  return outcome.type === 'failed' ? `${outcome.code}: ${outcome.message}` : toModelText(outcome)
}
