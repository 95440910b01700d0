/** Why `validate --fix` changes a line, by the code of the finding. */
const REASONS: Readonly<Record<string, string>> = {
  'yaml-repaired': 'The value is not valid YAML. This is how Nexus read it.',
  'leading-blank-lines': 'Other clients find the frontmatter in the first line only.',
  'frontmatter-closed-by-dots': 'Other clients expect --- at the end.',
  'name-missing': "The specification requires a name. Nexus uses the directory's name.",
}

export function reasonOfChange(code: string, isRename: boolean): string {
  return isRename ? 'This is the right spelling of the key.' : (REASONS[code] ?? 'Nexus reads it this way.')
}
