/** saved: the rules of an agent as plain JSON and back, whole: nothing is built again from the name of a preset. Pure. */
import { isJsonObject, type JsonObject, type JsonValue } from '../kernel/index.ts'
import type { Layer } from './decide.ts'
import { type Ceiling, ceilingLayers, type GrantOptions, grantsLayer } from './grants.ts'
import { type Profile, PROFILE_NAMES } from './groups.ts'
import { type Level, LEVELS, type Permissions } from './permissions.ts'
import type { PolicyRules } from './policy.ts'

/** Policy and permissions of an agent, and the ceilings of it and of all its ancestors. */
export interface AgentRules extends Pick<GrantOptions, 'destructiveTools'> {
  readonly policy: PolicyRules
  readonly permissions: Permissions
  /** With its own. */
  readonly ceilings: readonly Ceiling[]
}

/** The two parts of a row of the store. */
export interface SavedAgentRules {
  readonly permissions: JsonObject
  readonly ceiling: JsonObject
}

export function saveRules({ policy, permissions, destructiveTools, ceilings }: AgentRules): SavedAgentRules {
  return {
    permissions: saved({ ...toSaved({ policy, permissions }), destructiveTools }),
    ceiling: saved({ ceilings: ceilings.map((ceiling) => ({ of: ceiling.of, ...toSaved(ceiling) })) }),
  }
}

/** The rules that were saved. Undefined when a part is missing or of another form: then the agent may do nothing. */
export function readRules({ permissions: own, ceiling }: SavedAgentRules): AgentRules | undefined {
  if (!isJsonObject(own) || !isJsonObject(ceiling)) return undefined
  const { destructiveTools = [] } = own
  const { ceilings } = ceiling
  if (!isRules(own) || !isTexts(destructiveTools) || !Array.isArray(ceilings) || ceilings.length === 0) return undefined
  const all: Ceiling[] = []
  for (const each of ceilings as readonly JsonValue[]) {
    if (!isJsonObject(each) || !isText(each.of) || !isRules(each)) return undefined
    all.push({ of: each.of, ...fromSaved(each) })
  }
  return { ...fromSaved(own), destructiveTools, ceilings: all }
}

/** The layers beside its policy in the decisions about its calls. */
export function layersOfRules({ permissions, destructiveTools, ceilings }: AgentRules): readonly Layer[] {
  return [grantsLayer(permissions, { destructiveTools }), ...ceilingLayers(ceilings)]
}

type Rules = Pick<AgentRules, 'policy' | 'permissions'>
type SavedRules = { readonly policy: Omit<PolicyRules, 'groups'> & { readonly groups: [string, string[]][] } } & Pick<
  Rules,
  'permissions'
>

const saved = (value: object): JsonObject => JSON.parse(JSON.stringify(value)) as JsonObject

const toSaved = ({ policy, permissions }: Rules): object => ({
  policy: { ...policy, groups: [...policy.groups] },
  permissions,
})

const fromSaved = ({ policy, permissions }: SavedRules): Rules => ({
  policy: { ...policy, groups: new Map(policy.groups) },
  permissions,
})

const isText = (value: unknown): value is string => typeof value === 'string'
const isTexts = (value: unknown): value is string[] => Array.isArray(value) && value.every(isText)
const isPaths = (value: unknown): boolean => value === null || isTexts(value)
const isFlag = (value: unknown): boolean => typeof value === 'boolean'
const isTime = (value: unknown): boolean => typeof value === 'number' && value >= 0
const maybe = (is: (value: unknown) => boolean) => (value: unknown) => value === undefined || is(value)
/** Every key is required that is listed, unless its form is `maybe`; an unknown one is refused. */
const isForm = (value: unknown, form: Readonly<Record<string, (value: unknown) => boolean>>): boolean =>
  isJsonObject(value) &&
  Object.keys(value).every((key) => Object.hasOwn(form, key)) &&
  Object.entries(form).every(([key, is]) => is(value[key]))

const isGroup = (value: unknown): boolean =>
  Array.isArray(value) && value.length === 2 && isText(value[0]) && isTexts(value[1])

const TOOL = {
  enabled: maybe(isFlag),
  allowedPaths: maybe(isPaths),
  timeoutMs: maybe(isTime),
  requiresConfirmation: maybe(isFlag),
}

const POLICY = {
  profile: (value: unknown) => PROFILE_NAMES.includes(value as Profile),
  allow: isTexts,
  ask: isTexts,
  deny: isTexts,
  groups: (value: unknown) => Array.isArray(value) && value.every(isGroup),
}

const PERMISSIONS = {
  preset: isText,
  level: (value: unknown) => LEVELS.includes(value as Level),
  allowedPaths: isPaths,
  blockedPaths: isTexts,
  isReadOnly: isFlag,
  network: (value: unknown) => isFlag(value) || isTexts(value),
  tools: (value: unknown) =>
    Array.isArray(value) &&
    value.every((line) => isForm(line, { entry: isText, permission: (each) => isForm(each, TOOL) })),
  defaultToolTimeoutMs: maybe(isTime),
}

function isRules(value: JsonObject): value is JsonObject & SavedRules {
  return isForm(value.policy, POLICY) && isForm(value.permissions, PERMISSIONS)
}
