/** Why `validate --fix` changes a line, by the code of the finding. */
const REASONS: Readonly<Record<string, string>> = {
  'yaml-repaired': 'The value is not valid YAML. This is how Nexus read it.',
  'quoted-unindented': 'The further lines of a quoted value need indentation.',
  'leading-blank-lines': 'Other clients find the frontmatter in the first line only.',
  'frontmatter-closed-by-dots': 'Other clients expect --- at the end.',
  'frontmatter-missing': 'An invisible character hides the line ---.',
  'frontmatter-unterminated': 'An invisible character hides the line ---.',
  'name-missing': "The specification requires a name. Nexus uses the directory's name.",
}

export function reasonOfChange(code: string, isRename: boolean): string {
  return isRename ? 'This is the right spelling of the key.' : (REASONS[code] ?? 'Nexus reads it this way.')
}
