import { CLIENT_BLOCKS, isJsonObject, type JsonValue, ownValue, type Skill } from '../../kernel/index.ts'

/** The tool groups a skill says it needs: `metadata.toolGroups`, a list or a comma string. Source: contracts §2.1. */
export function toolGroupsOf(skill: Pick<Skill, 'frontmatter'>): readonly string[] {
  const metadata = ownValue(skill.frontmatter, 'metadata')
  if (!isJsonObject(metadata)) return []
  for (const block of [metadata, ...CLIENT_BLOCKS.map((name) => ownValue(metadata, name))]) {
    const groups = isJsonObject(block) ? toNames(ownValue(block, 'toolGroups')) : []
    if (groups.length > 0) return groups
  }
  return []
}

function toNames(value: JsonValue | undefined): readonly string[] {
  const parts = typeof value === 'string' ? value.split(',') : value
  if (!Array.isArray(parts)) return []
  return (parts as readonly JsonValue[])
    .filter((part) => typeof part === 'string')
    .map((part) => part.trim())
    .filter((part) => part !== '')
}
