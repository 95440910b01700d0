import { readYamlFast } from '../../format/index.ts'
import type { Parsed } from './parse-yaml.ts'

/** A key that the library reports, and an escape that may write it or half a character. */
const REFUSED = /__proto__|\\u/

/** Reads the YAML of a nexus.yaml. Never throws. The library for YAML is loaded only for what the fast reader declines. */
export async function parseSettings(text: string, path: string): Promise<Parsed> {
  const value = REFUSED.test(text) ? undefined : readYamlFast(text)
  return value ? { value, diagnostics: [] } : (await import('./parse-yaml.ts')).parseYaml(text, path)
}
