import type { Parsed, placesIn } from './parse-yaml.ts'

/** A key that the library reports, and an escape that may write it or half a character. */
const REFUSED = /__proto__|\\u/

/** Reads the YAML of a nexus.yaml. Never throws. Readers are loaded when used; the library for YAML only for what the fast one declines. */
export async function parseSettings(text: string, path: string): Promise<Parsed> {
  const { readYamlFast } = await import('../../yaml/index.ts')
  const value = REFUSED.test(text) ? undefined : readYamlFast(text)
  return value ? { value, diagnostics: [] } : (await import('./parse-yaml.ts')).parseYaml(text, path)
}

/** Finds line and column of a value, a key or an item by its keys; of the nearest parent when it is not there. */
export async function settingsPlaces(text: string): Promise<ReturnType<typeof placesIn>> {
  return (await import('./parse-yaml.ts')).placesIn(text)
}
