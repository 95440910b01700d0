/** chosen-builtins: which built-in tools `skills.builtin` leaves out. Source: seed 002, "Built-in Skills". */
import type { Config } from '../config/index.ts'

const GROUPS: Readonly<Record<string, readonly string[]>> = {
  web_search: ['web_search', 'web_fetch'],
  file_ops: ['read_file', 'write_file', 'edit_file', 'list_directory'],
  shell: ['run_command'],
}

/** Tools of the groups that a configuration with `skills.builtin` does not name; tools of no group are always there. */
export function leftOutBuiltins({ skills: { builtin } }: Pick<Config, 'skills'>): readonly string[] {
  if (builtin === undefined) return []
  return Object.entries(GROUPS).flatMap(([group, tools]) => (builtin.includes(group) ? [] : tools))
}
