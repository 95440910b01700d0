import { CLIENT_BLOCKS, isJsonObject, type JsonObject, type JsonValue, type Skill } from '../kernel/index.ts'

/** The tool groups a skill says it needs: `metadata.toolGroups`, a list or a comma string. Source: contracts §2.1. */
export function toolGroupsOf(skill: Pick<Skill, 'frontmatter'>): readonly string[] {
  const metadata = own(skill.frontmatter, 'metadata')
  if (!isJsonObject(metadata)) return []
  for (const block of [metadata, ...CLIENT_BLOCKS.map((name) => own(metadata, name))]) {
    const groups = isJsonObject(block) ? toNames(own(block, 'toolGroups')) : []
    if (groups.length > 0) return groups
  }
  return []
}

function own(object: JsonObject, key: string): JsonValue | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined
}

function toNames(value: JsonValue | undefined): readonly string[] {
  const parts =
    typeof value === 'string' ? value.split(',') : Array.isArray(value) ? (value as readonly JsonValue[]) : []
  return parts
    .filter((part) => typeof part === 'string')
    .map((part) => part.trim())
    .filter((part) => part !== '')
}
