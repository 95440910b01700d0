/** authorize: may this call run? Policy and trust in, one decision and its explanation out; pure. */
export { decide, type DecideInput, type Layer, untrustedWorkspace } from './decide.ts'
export { explain, explanationLines } from './explain.ts'
export { GROUPS, type Profile, PROFILE_NAMES, PROFILES } from './groups.ts'
export { ALIASES } from './names.ts'
export { coversCommand, shownCommand, type ShownCommand } from './remembered.ts'
export { parsePolicy, type PolicyInput, type PolicyPlace } from './parse-policy.ts'
export {
  allowsGroup,
  decideByPolicy,
  deniedCapabilities,
  namesTool,
  toolGroupRule,
  type PolicyRules,
} from './policy.ts'
