/** load-module: imports a module that the configuration names, in bounded time. It runs in our process, with our rights. */
import { createRequire } from 'node:module'
import { isAbsolute, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { existsSync } from 'node:fs'
import { errorCode, errorMessage, toSafeLine } from '../../kernel/index.ts'
import { ModuleFault, type MakeTools, toolsOfExport } from './tools-of-export.ts'

export interface ModuleName {
  /** An absolute path, or the name of a package. */
  readonly module: string
  readonly exported: string
}

/** `./tools/weather.ts#default`; the name of the export may be left out. */
export function readModuleName(text: string): ModuleName {
  const hash = text.lastIndexOf('#')
  if (hash < 1) return { module: text, exported: 'default' }
  return { module: text.slice(0, hash), exported: text.slice(hash + 1) || 'default' }
}

/** A module that waits for something at its top must not keep Nexus from starting. */
const LOAD_MS = 10_000

/** `from`: the directory of the file that names it, where a package is searched. Throws `ModuleFault` with what is wrong. */
export async function loadModule(
  { module, exported }: ModuleName,
  { from, loadMs = LOAD_MS }: { readonly from: string; readonly loadMs?: number },
): Promise<MakeTools> {
  const file = isAbsolute(module) ? module : packageFile(module, from)
  if (!existsSync(file)) throw new ModuleFault('the file does not exist')
  const loaded = await importWithin(file, loadMs)
  if (!Object.hasOwn(loaded, exported)) {
    const names = Object.keys(loaded)
    throw new ModuleFault(`it has no export '${toSafeLine(exported)}' (${names.map(toSafeLine).join(', ') || 'none'})`)
  }
  return toolsOfExport(loaded[exported])
}

function packageFile(name: string, from: string): string {
  try {
    return createRequire(join(from, 'nexus.yaml')).resolve(name)
  } catch (error) {
    throw new ModuleFault(`the package is not installed beside ${from} (${errorCode(error) ?? 'not found'})`)
  }
}

async function importWithin(file: string, loadMs: number): Promise<Readonly<Record<string, unknown>>> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new ModuleFault(`it was not loaded within ${loadMs / 1000} s`)), loadMs)
  try {
    const loading = import(pathToFileURL(file).href) as Promise<Record<string, unknown>>
    // When it is late, its failure is ignored.
    loading.catch(() => undefined)
    return await Promise.race([loading, late.promise])
  } catch (error) {
    throw error instanceof ModuleFault ? error : new ModuleFault(`it failed: ${shortReason(error)}`)
  } finally {
    clearTimeout(timer)
  }
}

const MAX_REASON_CHARS = 300

export function shortReason(error: unknown): string {
  const text = toSafeLine(errorMessage(error))
  return text.length > MAX_REASON_CHARS ? `${text.slice(0, MAX_REASON_CHARS).toWellFormed()}…` : text
}
