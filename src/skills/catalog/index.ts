/** catalog: which skills an agent sees, what the model reads about them within a budget, and why. Pure. */
export { buildCatalog } from './build-catalog.ts'
export type { Catalog, OverBudget, PromptIndex, ShadowedSkill } from './catalog.ts'
export { type Copies, copiesOf, everyCopy } from './copies-of.ts'
export { toSkillUri } from './address.ts'
export { mentions } from './mentions.ts'
export { aboutBudget, type IndexOptions, MAX_NAME_POINTS, renderIndex } from './prompt/render-index.ts'
export { skillRules, skillToolPrompt } from './prompt/tool-prompt.ts'
export type { IndexStyle } from './prompt/styles.ts'
export { estimateLine, estimateTokens, measure, shownName, shownText } from './shown-text.ts'
export { createSkillSearch, type SkillSearch } from './skill-search.ts'
export {
  type CatalogSnapshot,
  describeDiff,
  diffCatalogs,
  diffSnapshots,
  fromSnapshot,
  type SnapshotDiff,
  toSnapshot,
} from './snapshot.ts'
