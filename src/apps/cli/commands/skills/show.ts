import { errorOf } from '../../failure.ts'
import { everyCopy } from '../../../../skills/catalog/index.ts'
import { FINE } from '../../../../skills/diagnose/index.ts'
import { type Skill, toSafeLine, toSafeText } from '../../../../kernel/index.ts'
import { currentRevision } from '../../../../skills/load/index.ts'
import { fileDigest } from '../../../../skills/sources/index.ts'
import { type Installed, installedCopies } from '../../../../local/index.ts'
import { type Answer, argument, commandHint, type Invocation } from '../../command.ts'
import { installedData, installedRows } from '../../show/installed.ts'
import { agentOf, openFor, withInspection } from '../../open.ts'
import { formatTable } from '../../show/columns.ts'
import { copiesMeant, factsAbout, type Seen, seenIn } from '../../show/facts.ts'
import { formatFinding } from '../../show/findings.ts'
import { installsOf, printInstalls } from '../../show/install.ts'
import { notFound, notLoaded } from '../../show/not-found.ts'
import { copyData, copyDescriber, type DescribedCopy, printVariables } from '../../show/copy.ts'

/** `nexus skills show <name>`. Throws SKILL_NOT_FOUND and SKILL_INVALID. */
export async function showSkill(invocation: Invocation): Promise<Answer> {
  const name = argument(invocation, 'the name of a skill', ['csv-report'])
  return withInspection(invocation, async (inspection, catalog) => {
    const { terminal, flags } = invocation
    const seen = { ...inspection, catalog }
    const skill = await skillMeant(name, seen, invocation)
    const shown = await readShown(skill, seen, invocation)
    const content = flags['content'] === true ? await load(shown.address, invocation) : undefined
    return {
      data: { ...shownData(shown), content },
      diagnostics: [...inspection.diagnostics, ...skill.diagnostics],
      exit: 0,
      show: () => (content === undefined ? printShown(shown, invocation) : terminal.line(toSafeText(content))),
    }
  })
}

/** The first copy that a name, an address or a path refers to, whatever its state. */
async function skillMeant(name: string, seen: Seen, invocation: Invocation): Promise<Skill> {
  const copies = copiesMeant(name, seen.catalog, invocation.cwd)
  const [skill] = everyCopy(copies)
  if (skill) return skill
  const why = commandHint('To see why, run:', ['skills', 'why', name], invocation)
  const [broken] = copies.invalid
  if (broken) {
    const [{ message = 'cannot be read', line, fix } = {}] = broken.diagnostics
    const file = invocation.terminal.shortPath(broken.file)
    const place = line === undefined ? file : `${file}:${line}`
    throw errorOf(
      'SKILL_INVALID',
      `The skill '${toSafeLine(broken.name)}' is invalid (${place}): ${message}`,
      fix ?? why,
    )
  }
  throw await notFound(name, seen, invocation)
}

interface Shown extends DescribedCopy {
  readonly installed: Installed | undefined
  /** Undefined when its SKILL.md cannot be read any more. */
  readonly sha256: string | undefined
  /** The revision of all its files. */
  readonly treeDigest: string | undefined
}

async function readShown(skill: Skill, seen: Seen, invocation: Invocation): Promise<Shown> {
  const facts = await factsAbout([skill], seen, invocation, true)
  return {
    ...copyDescriber(facts, seen, invocation, installsOf)(skill),
    installed: installedCopies(seen.loaded)(skill.file),
    sha256: await fileDigest(skill),
    treeDigest: await currentRevision(skill, invocation.signal),
  }
}

function shownData(shown: Shown) {
  const { sha256, treeDigest, installed } = shown
  const { description, license, compatibility, metadata, allowedTools } = shown.skill
  return {
    ...copyData(shown),
    ...installedData(installed),
    sha256,
    treeDigest,
    description,
    license,
    compatibility,
    metadata,
    allowedTools,
  }
}

function printShown(
  { skill, address, verdict, findings, installed, sha256 = '', treeDigest = '', variables, installs }: Shown,
  { terminal }: Invocation,
): void {
  const { shortPath } = terminal
  const { metadata, origin } = skill
  const emoji = metadata.emoji === undefined ? '' : `${metadata.emoji} `
  terminal.line(`${emoji}${terminal.paint('bold', toSafeLine(skill.name))}  ${verdict}`)
  for (const found of findings) if (!FINE.has(found.code)) terminal.line(formatFinding(found, terminal, '  '))
  terminal.line(`\n${toSafeLine(skill.description)}\n`)
  const rows: readonly (readonly [string, string])[] = [
    ['address', address],
    ['file', shortPath(skill.file)],
    ['source', `${origin.tier}${origin.trusted ? '' : ', untrusted'}`],
    ['license', skill.license ?? ''],
    ['compatibility', skill.compatibility ?? ''],
    ['homepage', metadata.homepage ?? ''],
    ['os', metadata.os.join(', ')],
    ['needs', metadata.requires.bins.join(', ')],
    ['needs one of', metadata.requires.anyBins.join(', ')],
    ['variables', metadata.requires.env.join(', ')],
    ['config', metadata.requires.config.join(', ')],
    ['allowed tools', skill.allowedTools.join(', ')],
    ['sha256', sha256],
    ['revision', treeDigest],
    ...installedRows(installed),
  ]
  terminal.line(
    formatTable(rows.filter(([, value]) => value !== '').map(([label, value]) => [label, toSafeLine(value)])),
  )
  if (variables.length + installs.length > 0) terminal.line('')
  printVariables(variables, terminal, true)
  printInstalls(installs, terminal, '')
}

/** The instructions as the model would get them: for them there must be a runtime. */
async function load(name: string, invocation: Invocation): Promise<string> {
  await using local = await openFor(invocation, { record: 'memory' })
  const call = { tool: 'load_skill', arguments: { skill_name: name }, origin: 'cli' } as const
  const { outcome } = await agentOf(local, invocation).call(call, { signal: invocation.signal })
  if (outcome.type !== 'failed') return outcome.text
  throw await notLoaded(outcome, name, seenIn(local, invocation), invocation)
}
