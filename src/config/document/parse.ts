import type { Diagnostic, JsonObject } from '../../kernel/index.ts'

/** A file as plain data. Objects have no prototype. */
export interface Parsed {
  readonly value: JsonObject
  readonly diagnostics: readonly Diagnostic[]
}

/** Reads the YAML of a nexus.yaml. Never throws. The library for YAML costs as much as half an empty process, so it is loaded here only. */
export async function parseSettings(text: string, path: string): Promise<Parsed> {
  return (await import('./parse-yaml.ts')).parseYaml(text, path)
}
