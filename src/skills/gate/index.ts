/** gate: can this skill run where its commands would run? Ready, or held with every reason. Pure. */
export { gate } from './gate.ts'
export { type EntryRules, type GateRules, NO_GATE_RULES } from './prepare.ts'
