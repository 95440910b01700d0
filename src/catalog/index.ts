/** catalog: which skills an agent sees, and what the model is told about them within a budget. Pure. */
export { buildCatalog, type CatalogParts } from './build-catalog.ts'
export type { Catalog, PromptIndex, ShadowedSkill } from './catalog.ts'
export { type IndexOptions, renderIndex } from './render-index.ts'
export { estimateTokens, shownName } from './shown-text.ts'
export { skillRules } from './skill-rules.ts'
export { type CatalogSnapshot, fromSnapshot, type SnapshotSkill, toSnapshot } from './snapshot.ts'
export type { IndexStyle } from './styles.ts'
