import type { Frontmatter } from '../front.ts'
import { FORMAT_LIMITS } from '../limits.ts'
import type { Report } from '../report.ts'
import { countCharacters, trimText } from './text.ts'
import { shown } from '../messages/words.ts'

/** The label, checked against the published naming rule; breaches are warnings. Source: decisions, "names". */
export function readName(front: Frontmatter, directoryName: string | undefined, report: Report): string | undefined {
  const written = front.written('name')
  const name = written === undefined || written === 'collection' ? '' : trimText(written.text ?? '')
  if (name === '') return noName(front, directoryName, report)
  const breaches = isCleanName(name) ? [] : nameBreaches(name)
  if (breaches.length > 0) {
    report.add('name-invalid', front.place('name'), name, breaches, rightName(name, directoryName))
  }
  if (
    directoryName !== undefined &&
    name !== directoryName &&
    name.normalize('NFKC') !== directoryName.normalize('NFKC')
  ) {
    report.add('name-differs', front.place('name'), name, directoryName, waysToAgree(name, directoryName))
  }
  return name
}

/** The directory has the right name where it has a valid one: two proposals would contradict each other. */
function rightName(
  name: string,
  directoryName: string | undefined,
): { readonly name: string; readonly rename: boolean } {
  if (directoryName === undefined) return { name: suggestName(name), rename: false }
  if (isCleanName(directoryName)) return { name: directoryName, rename: false }
  return { name: suggestName(name), rename: nameBreaches(directoryName).length > 0 }
}

function noName(front: Frontmatter, directoryName: string | undefined, report: Report): undefined {
  const line = `name: ${directoryName === undefined ? 'my-skill' : suggestName(directoryName)}`
  const place = front.place('name')
  if (front.written('name') === 'collection') {
    report.add('name-not-text', place, line)
    return
  }
  const isUsable = directoryName !== undefined && nameBreaches(directoryName).length === 0
  const edit = isUsable ? front.fillIn('name', directoryName) : undefined
  report.add('name-missing', { ...place, edit }, line, front.written('name') !== undefined)
}

function waysToAgree(name: string, directoryName: string): readonly string[] {
  return [
    suggestName(directoryName) === directoryName ? `Write: name: ${directoryName}` : '',
    suggestName(name) === name ? `rename the directory to ${name}` : '',
  ].filter((way) => way !== '')
}

const CLEAN_NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*$/

/** True for a name of plain ASCII that keeps the rule, which needs no closer look. */
function isCleanName(name: string): boolean {
  return name.length <= FORMAT_LIMITS.maxNameLength && CLEAN_NAME.test(name)
}

/** Breaches of the rule: 1 to 64 lower-case letters, digits and single hyphens inside. Empty when it keeps it. */
export function nameBreaches(label: string): string[] {
  const name = label.normalize('NFKC')
  const breaches: string[] = []
  if (countCharacters(name) > FORMAT_LIMITS.maxNameLength)
    breaches.push(`is longer than ${FORMAT_LIMITS.maxNameLength} characters`)
  if (name !== name.toLowerCase()) breaches.push('has capital letters')
  const odd = [...new Set(name.match(/[^\p{L}\p{N}-]/gu) ?? [])]
  if (odd.length > 0) breaches.push(`has ${odd.slice(0, 5).map(shown).join(' ')}`)
  if (/^-|-$/.test(name)) breaches.push('begins or ends with a hyphen')
  if (name.includes('--')) breaches.push('has two hyphens in a row')
  return breaches
}

function suggestName(label: string): string {
  const slug = label
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}+/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, FORMAT_LIMITS.maxNameLength)
    .replace(/^-+|-+$/g, '')
  return slug === '' ? 'my-skill' : slug
}
