/** The entry `nexus-skills/local`: a runtime for one machine. */
export { type Local, type LocalOptions, openLocal } from '../local/index.ts'
