/** authorize: may this call run? Policy and trust in, one decision and its explanation out; pure. */
export { exceeds } from './child-request.ts'
export { decide, type DecideInput, type Layer, type SkillInUse, untrustedWorkspace } from './decide.ts'
export { explain, type Explanation, explanationLines, type PermissionLine, permissionLines } from './explain.ts'
export { type Ceiling, ceilingLayers, grantsLayer, noGrants } from './grants.ts'
export { PROFILE_NAMES, toolCovered } from './groups.ts'
export { combineLimits } from './limits.ts'
export { ALIASES } from './names.ts'
export { coversCommand, shownCall, shownCommand, type ShownCommand } from './remembered.ts'
export {
  applyDelta,
  DEFAULT_PRESET,
  type Permissions,
  presetChain,
  presetPermissions,
  unnamedPermissions,
} from './permissions.ts'
export { type AgentRules, layersOfRules, readRules, saveRules } from './saved.ts'
export { checkToolNames, parsePolicy, type PolicyInput, type PolicyPlace } from './parse-policy.ts'
export { type Shadow, withShadow } from './shadow.ts'
export {
  allowsGroup,
  decideByPolicy,
  deniedCapabilities,
  namesTool,
  type PolicyRules,
  toolGroupRule,
} from './policy.ts'
