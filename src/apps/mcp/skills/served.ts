/** One skill as the skills extension serves it: its SKILL.md in a form that every client reads, with digests of exactly these bytes. */
import {
  SKILL_LIMITS,
  type Skill as Entry,
  SkillCatalogError,
  skillEntry,
} from '@modelcontextprotocol/server/ext/skills'
import { type Catalog, toSkillUri } from '../../../skills/catalog/index.ts'
import { exportFlat } from '../../../skills/format/index.ts'
import { errorMessage, sha256, type Skill, SKILL_FILE, utf8Text } from '../../../kernel/index.ts'
import { binaryType, textType } from '../../../skills/load/index.ts'
import { readManifest, readOfSkill } from '../../../machine/skill-files/index.ts'

/** Bytes of one file, as text where they are text. */
export type ServedFile =
  | { readonly text: string; readonly mimeType: string }
  | { readonly bytes: Uint8Array; readonly mimeType: string }

/** The URI of a skill's directory, without a slash at the end. */
export function rootUri(catalog: Catalog, skill: Skill): string {
  return toSkillUri(catalog.addressOf(skill)).slice(0, -`/${SKILL_FILE}`.length)
}

export function fileUri(root: string, path: string): string {
  return `${root}/${path.split('/').map(encodeURIComponent).join('/')}`
}

/** Hidden files stay here, as in the list that a model gets. */
export function isShown(path: string): boolean {
  return !/(?:^|\/)\./.test(path)
}

/** SKILL.md and its frontmatter as clients read them. Throws what `problemsOf` explains. */
export async function frontmatterOf(
  skill: Skill,
  signal: AbortSignal,
): Promise<{ readonly frontmatter: Entry['frontmatter']; readonly text: string }> {
  const text = await skillText(skill, signal)
  return { text, frontmatter: (await skillEntry(`x/${skill.name}`, { [SKILL_FILE]: text })).frontmatter }
}

/** Throws what `problemsOf` explains, when the skill cannot be served. */
export async function entryOf(skill: Skill, root: string, signal: AbortSignal): Promise<Entry> {
  const { text, frontmatter } = await frontmatterOf(skill, signal)
  const { files } = await readManifest(skill, { signal })
  const resources = files
    .filter(({ path }) => isShown(path) && path !== SKILL_FILE)
    .map(({ path, sha256: digest, size }) => ({ uri: fileUri(root, path), digest: `sha256:${digest}`, size }))
  const own = { uri: `${root}/${SKILL_FILE}`, digest: `sha256:${sha256(text)}`, size: Buffer.byteLength(text) }
  return { uri: own.uri, frontmatter, resources: [own, ...resources] } as Entry
}

export function problemsOf(error: unknown): readonly string[] {
  return error instanceof SkillCatalogError ? error.problems.map(({ message }) => message) : [errorMessage(error)]
}

/** A file of a skill, as it is now. Throws as `readOfSkill`. */
export async function readServed(skill: Skill, path: string, signal: AbortSignal): Promise<ServedFile> {
  if (path === SKILL_FILE) return { text: await skillText(skill, signal), mimeType: 'text/markdown' }
  const { bytes } = await readOfSkill(skill, path, { maxBytes: SKILL_LIMITS.bytes, signal })
  const text = utf8Text(bytes)
  return text === undefined ? { bytes, mimeType: binaryType(bytes) } : { text, mimeType: textType(path) }
}

/** SKILL.md with metadata as text to text, which is all that the specification allows. */
async function skillText(skill: Skill, signal: AbortSignal): Promise<string> {
  const { bytes } = await readOfSkill(skill, SKILL_FILE, { maxBytes: SKILL_LIMITS.bytes, signal })
  const text = utf8Text(bytes)
  if (text === undefined) throw new SkillCatalogError([{ path: skill.file, message: 'SKILL.md is not valid UTF-8' }])
  return exportFlat(text, { path: skill.file }).text
}
