/** Top-level keys whose values are true or false. */
export const FLAGS: ReadonlySet<string> = new Set([
  ...['disable-model-invocation', 'disable_model_invocation', 'user-invocable', 'user_invocable', 'background'],
])
const MAPPINGS: ReadonlySet<string> = new Set(['metadata', 'requires', 'install', 'hooks', 'tools'])
const LISTS: ReadonlySet<string> = new Set([
  ...['allowed-tools', 'allowed_tools', 'disallowed-tools', 'arguments', 'tags', 'triggers', 'paths', 'os', 'anyBins'],
])
/** Their values are flags, lists, mappings or names: text in their place would not do what the YAML says. */
export const NOT_PROSE: ReadonlySet<string> = new Set([...FLAGS, ...MAPPINGS, ...LISTS, 'primaryEnv', 'name'])
