import { readYamlFast } from '../../format/index.ts'
import type { Diagnostic, JsonObject } from '../../kernel/index.ts'

/** A file as plain data. Objects have no prototype. */
export interface Parsed {
  readonly value: JsonObject
  readonly diagnostics: readonly Diagnostic[]
}

/** A key that the library reports, and an escape that may write it or half a character. */
const REFUSED = /__proto__|\\u/

/** Reads the YAML of a nexus.yaml. Never throws. The library for YAML is loaded only for what the fast reader declines. */
export async function parseSettings(text: string, path: string): Promise<Parsed> {
  const value = REFUSED.test(text) ? undefined : readYamlFast(text)
  return value ? { value, diagnostics: [] } : (await import('./parse-yaml.ts')).parseYaml(text, path)
}
