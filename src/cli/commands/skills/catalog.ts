import { type Catalog, copiesOf, everyCopy } from '../../../catalog/index.ts'
import { type JsonValue, NexusError, type Skill, toSafeLine, toSafeText } from '../../../kernel/index.ts'
import type { Look } from '../../../local/index.ts'
import { fileDigest, isSoundToLoad } from '../../../sources/index.ts'
import { type Invocation, lookingAlike } from '../../command.ts'
import { envelope } from '../../envelope.ts'
import { withLook } from '../../look.ts'
import { agentFlag } from '../../open.ts'
import { installData, installGround, installsOf, printInstalls } from '../../show/install.ts'
import { inParts } from '../../show/long-document.ts'
import {
  listData,
  listsIn,
  printHint,
  printOthers,
  printSkill,
  readyInParts,
  skillData,
  type SkillState,
  stateOf,
} from '../../show/skills.ts'
import { shellWord } from '../../show/shell-word.ts'
import type { Terminal } from '../../terminal.ts'
import { printVariables, variablesData, variablesIn } from '../../show/variables.ts'

/** `nexus skills list` */
export async function listSkills(invocation: Invocation): Promise<number> {
  return withLook(invocation, async (look, catalog) => {
    const { terminal } = invocation
    const all = invocation.flags['all'] === true
    if (invocation.flags['json'] === true) {
      const diagnostics = [...look.diagnostics, ...catalog.diagnostics]
      const document = envelope('skills list', listData(catalog, all), { diagnostics, exit: 0 })
      await writeParts(inParts(document, listsIn(catalog, all)), terminal)
      return 0
    }
    await writeParts(readyInParts(catalog, terminal), terminal)
    if (all) printOthers(catalog, terminal)
    else printHint(catalog, terminal)
    return 0
  })
}

async function writeParts(parts: Iterable<string>, terminal: Terminal): Promise<void> {
  for (const part of parts) {
    if (terminal.outputFailure) break
    terminal.write(part)
    // Whoever reads slowly sets the pace: what waits is one part.
    await terminal.drained()
  }
}

/** `nexus skills show <name>` */
export async function showSkill(invocation: Invocation): Promise<number> {
  const name = onlyName(invocation, 'skills show')
  return withLook(invocation, (look, catalog) => showOne(name, { look, catalog, invocation }))
}

/** Prints one of the skills that were seen. Throws SKILL_NOT_FOUND and SKILL_INVALID. */
export async function showOne(
  name: string,
  { look, catalog, invocation }: { readonly look: Look; readonly catalog: Catalog; readonly invocation: Invocation },
): Promise<number> {
  const { terminal, flags } = invocation
  const skill = await candidate(name, catalog, invocation)
  const state = await standing(skill, { look, catalog, invocation })
  const content = flags['content'] === true ? await load(state.address, invocation) : undefined
  const sha256 = (await fileDigest(skill)) ?? ''
  const shown = { skill, state, sha256, ...ofConfiguration(skill, look, invocation) }
  if (flags['json'] === true) {
    const diagnostics = [...look.diagnostics, ...skill.diagnostics]
    const data = { ...shownData(shown), ...(content && { content }) }
    terminal.json(envelope('skills show', data, { diagnostics, exit: 0 }))
  } else if (content !== undefined) terminal.line(toSafeText(content))
  else printShown(shown, terminal)
  return 0
}

/** Where it stands, with the reasons in the words of `nexus skills why`. What knows more of a held skill is loaded only for one. */
async function standing(
  skill: Skill,
  { look, catalog, invocation }: { readonly look: Look; readonly catalog: Catalog; readonly invocation: Invocation },
): Promise<SkillState> {
  const state = stateOf(catalog, skill)
  if (state.state === 'shadowed' || (state.state === 'ready' && (await isSoundToLoad(skill)))) return state
  const { held, ready } = await import('./standing.ts')
  const more = state.state === 'held' ? await held(skill, { look, catalog, invocation }) : await ready(skill)
  return { ...state, ...more }
}

interface Shown {
  readonly skill: Skill
  readonly state: SkillState
  readonly sha256: string
  readonly variables: Parameters<typeof printVariables>[0]
  readonly installs: Parameters<typeof printInstalls>[0]
}

/** What becomes of configured variables, and what would be installed. For most skills there is neither, and what knows them is not loaded. */
function ofConfiguration(skill: Skill, look: Look, invocation: Invocation): Pick<Shown, 'variables' | 'installs'> {
  const hasEntries = look.loaded.config.skills.entries.size > 0
  return {
    variables: hasEntries ? variablesIn(look, agentFlag(invocation))(skill) : [],
    installs: skill.metadata.install.length > 0 ? installsOf(skill, installGround(look, invocation)) : [],
  }
}

function shownData({ skill, state: { state, reasons, address }, sha256, variables, installs }: Shown): {
  [key: string]: JsonValue
} {
  return {
    ...skillData(skill, address),
    sha256,
    ...{ state, reasons: reasons.map((reason) => ({ ...reason })) },
    description: skill.description,
    ...(skill.metadata.install.length > 0 && { install: installData(installs) }),
    ...(variables.length > 0 && { variables: variablesData(variables) }),
  }
}

function printShown({ skill, state, sha256, variables, installs }: Shown, terminal: Terminal): void {
  printSkill(skill, { ...state, sha256 }, terminal)
  if (variables.length + installs.length > 0) terminal.line('')
  if (variables.length > 0) printVariables(variables, { terminal, all: true })
  if (installs.length > 0) printInstalls(installs, { terminal, indent: '' })
}

/** The instructions as the model would get them: for them there must be a runtime. */
async function load(name: string, invocation: Invocation): Promise<string> {
  const { agentOf, openFor } = await import('../../open.ts')
  const local = await openFor(invocation, { record: 'memory' })
  try {
    const { outcome } = await local.runtime.call(
      { tool: 'load_skill', arguments: { skill_name: name }, origin: 'cli', ...agentOf(invocation) },
      { signal: invocation.signal },
    )
    if (outcome.type !== 'failed') return outcome.text
    const { notLoaded } = await import('../../show/not-loaded.ts')
    throw notLoaded(outcome, { name, catalog: local.runtime.catalog(agentFlag(invocation)), invocation })
  } finally {
    await local.close()
  }
}

function onlyName(invocation: Invocation, command: string): string {
  const [name] = invocation.positionals
  if (name !== undefined) return name
  throw new NexusError('INVALID_ARGUMENT', `nexus ${command}: the name of the skill is missing.`, {
    fix: 'nexus skills list',
  })
}

/** The copy that a name, an address or a path means first, whatever its state. */
async function candidate(name: string, catalog: Catalog, invocation: Invocation): Promise<Skill> {
  const { cwd } = invocation
  const why = `${lookingAlike(invocation)('nexus skills why')} ${shellWord(name)}`
  const copies = copiesOf(catalog, name)
  const found = everyCopy(copies)[0] ?? (copies.files.size > 0 ? undefined : await atPath(name, catalog, cwd))
  if (found) return found
  const [broken] = copies.rejected
  if (broken) {
    const [first] = broken.diagnostics
    throw new NexusError('SKILL_INVALID', `${broken.file}: ${first?.message ?? 'cannot be read'}`, {
      fix: first?.fix ?? why,
    })
  }
  throw notFound(catalog, name, why)
}

/** By a path from the working directory; most names cannot be one, and what looks at files is not loaded for them. */
async function atPath(name: string, catalog: Catalog, cwd: string): Promise<Skill | undefined> {
  if (!looksLikePath(name)) return undefined
  const { realPathOf } = await import('../../show/explanation.ts')
  const path = realPathOf(name, cwd)
  return path === undefined ? undefined : everyCopy(copiesOf(catalog, path))[0]
}

function looksLikePath(name: string): boolean {
  return name.includes('/') || /\.md$/i.test(name)
}

const MAX_NAMED = 20

function notFound(catalog: Catalog, name: string, why: string): NexusError {
  const names = catalog.skills.slice(0, MAX_NAMED).map((skill) => toSafeLine(skill.name))
  const more = catalog.skills.length > MAX_NAMED ? ` and ${catalog.skills.length - MAX_NAMED} more` : ''
  const ready = names.length === 0 ? 'none' : `${names.join(', ')}${more}`
  return new NexusError('SKILL_NOT_FOUND', `There is no skill '${toSafeLine(name)}'. Ready: ${ready}.`, {
    fix: why,
  })
}
