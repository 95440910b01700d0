/** yaml: text to values, for frontmatter and nexus.yaml alike. The fast reader declines what it does not surely read. */
export { type FastForm, type KeyPlaces, readYamlFast } from './fast.ts'
export { closingQuote, exactNumber } from './fast-scalars.ts'
