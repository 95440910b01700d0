/** words: every sentence of the commands that install skills. */
import { commandFix, toSafeLine } from '../../../kernel/index.ts'
import { many } from '../failure.ts'

const list = (words: Iterable<string>): string => [...words].map(toSafeLine).join(', ')

export const INSTALL_WORDS = {
  needsChoice: (count: number, source: string) => ({
    message: `Nothing was installed: ${toSafeLine(source)} has ${many(count, 'skill')}.`,
    ...commandFix('Choose, for example:', 'skills', 'install', toSafeLine(source), '--all'),
  }),
  needsYes: (command: readonly string[]) => ({
    message: 'Nothing was changed: without a terminal nobody can answer.',
    ...commandFix('If you agree with the plan:', ...command, '--yes'),
  }),
  needsAccept: (names: readonly string[], command: readonly string[]) => ({
    message: `Nothing was changed: --yes does not give new skills what your settings keep for ${list(names)}.`,
    ...commandFix('If you agree with the plan:', ...command, '--yes', '--accept', names.join(',')),
  }),
  needsNames: (command: string) => ({
    message: `nexus ${command} needs the name of a skill, or --all.`,
    ...commandFix('For example:', ...command.split(' '), '--all'),
  }),
  unknownClient: (name: string, known: readonly string[]) => ({
    message: `Nothing was changed: --client '${toSafeLine(name)}' is not supported.`,
    fix: `Supported: ${known.join(', ')}.`,
  }),
  policyFinding: (name: string, severity: string, text: string) =>
    `      policy, ${toSafeLine(name)}: ${severity}: ${toSafeLine(text)}`,
  nothingMissing: (name: string) => `✓ ${toSafeLine(name)} has every program that it requires.`,
  misses: (bins: readonly string[]) => `missing here: ${list(bins)}`,
  toRun: (name: string) => `To run the install, after a question: nexus skills deps ${toSafeLine(name)} --run`,
  willRun: (line: string) => `  ${line}`,
  runIt: () => 'Run it with your rights?',
  notRun: (name: string, why: string | undefined, line: string | undefined) => ({
    message: `Nothing was installed for ${toSafeLine(name)}: ${toSafeLine(why ?? 'it proposes no install')}.`,
    fix: line ? `Read it, then run it yourself: ${toSafeLine(line)}` : undefined,
  }),
  stillMissing: (bins: readonly string[], where: readonly string[]) =>
    `Installed, but commands of skills do not find ${list(bins)}. They look in ${list(where)}.`,
  mountable: (programs: readonly string[], file: string) =>
    `It is in your home. For commands to have it, add to ${file}: execution: { programs: [${list(programs)}] }`,
  refused: () => 'Nothing was changed.',
  dryRun: () => 'Nothing was changed (--dry-run).',
  question: () => 'Place them?',
  fetching: (what: string, bytes: number) => (bytes === 0 ? what : `${what}, ${size(bytes)}`),
  which: () => 'Type numbers or names, such as 1,3, or all. Enter takes none.\nWhich ones?',
  whichAgain: () => 'Type numbers or names of the list, or all.',
  policyReason: (name: string, why: string) =>
    `      policy, ${toSafeLine(name)}: warns${why === '' ? '' : `: ${toSafeLine(why)}`}`,
  typeName: (name: string) => `To take it all the same, type its name: ${toSafeLine(name)}`,
  typeAgain: (name: string) => `Type ${toSafeLine(name)}, or Enter to change nothing.`,
  frozenSource: () => ({
    message: 'Nothing was changed: --frozen restores the lock and takes no source.',
    ...commandFix('Run:', 'skills', 'install', '--frozen'),
  }),
  lacks: (text: string, fix: string) => `      ${toSafeLine(text)}. ${toSafeLine(fix)}`,
  lacksSkill: (name: string, source: readonly string[]) => {
    const { fix } = commandFix('To get it:', 'skills', 'install', ...source.map(toSafeLine))
    return `      requires the skill ${toSafeLine(name)}, which is not here. ${fix}`
  },
  cycle: (names: readonly string[]) =>
    `      requires itself: ${names.map(toSafeLine).join(' → ')}. Ask its author to remove one of the requirements.`,
  moreLines: (count: number) => `      … ${many(count, 'more line')}; --dry-run shows every line`,
  plan: (where: string) => `Plan for ${where}:`,
  row: (row: { readonly mark: string; readonly name: string; readonly what: string; readonly from: string }) =>
    `  ${row.mark} ${row.name}  ${row.what}  ${row.from}`,
  same: () => 'unchanged',
  files: (count: number, bytes: number) => `${many(count, 'file')}, ${size(bytes)}`,
  asks: (kind: string, words: readonly string[]) => `      asks for ${kind}: ${list(words)}`,
  widens: (kind: string, words: readonly string[]) => `      new: asks for ${kind}: ${list(words)}`,
  leftOut: (words: readonly string[]) => `      not placed, as they are links or submodules: ${list(words)}`,
  edited: (words: readonly string[]) => `      has local edits: ${list(words)}`,
  change: (change: string, path: string) => `      ${change} ${toSafeLine(path)}`,
  gets: (key: string, words: readonly string[]) =>
    `      would get what skills.entries.${toSafeLine(key)} has${words.length === 0 ? '' : `: ${list(words)}`}`,
  trusted: () => 'This root is trusted: agents may run what is placed here.',
  untrusted: () => 'This workspace is not trusted: what is placed here is listed, and runs nothing.',
  refusedSkill: (path: string, why: string) => `  not installable: ${toSafeLine(path) || '.'}: ${toSafeLine(why)}`,
  placed: (count: number, lock: string) => `${many(count, 'skill')} placed; the lock is ${lock}`,
  keptEdits: (name: string, path: string) => `The local edits of ${toSafeLine(name)} are kept in ${path}`,
  upToDate: () => 'Every skill is up to date.',
  outdated: (row: { readonly name: string; readonly from: string; readonly to: string; readonly source: string }) =>
    `${row.name}  ${row.from} → ${row.to}  ${toSafeLine(row.source)}`,
  pinned: (name: string) => `${name} is pinned: update passes it over.`,
  unpinned: (name: string) => `${name} may be updated again.`,
  unreachable: (name: string, why: string) => `${name}  not known: ${toSafeLine(why)}`,
  removed: (names: readonly string[]) => `removed ${list(names)}`,
  rolledBack: (name: string, digest: string) => `${name} is back at ${digest.slice(0, 19)}…`,
  notFetched: (url: string, why: string | undefined) =>
    `The skills of ${toSafeLine(url)} are not fetched yet${why === undefined ? '' : `: ${toSafeLine(why)}`} Run: nexus skills refresh`,
  cachedSince: (url: string, seenAt: string, why: string) =>
    `The skills of ${toSafeLine(url)} are cached since ${seenAt}: ${toSafeLine(why)}`,
  waits: (name: string) =>
    `A new revision of ${toSafeLine(name)} asks for more and waits. To see and take it: nexus skills update ${toSafeLine(name)}`,
  taken: (names: readonly string[]) => `✓ now served: ${list(names)}`,
  refreshed: (url: string, commit: string) => `✓ ${toSafeLine(url)} ${commit.slice(0, 12)}`,
  noSources: () => 'nexus.yaml names no git source. Add one under skills.sources.',
  verified: (count: number) => `✓ ${many(count, 'skill')} as the lock has ${count === 1 ? 'it' : 'them'}`,
  drift: (place: string, path: string, change: string) => `${change} ${toSafeLine(`${place}/${path}`)}`,
  notVerified: (names: readonly string[]) => ({
    message: `Files of ${list(names)} are not as the lock has them.`,
    ...commandFix('To put the locked files back:', 'skills', 'ci', '--overwrite', names.join(',')),
  }),
  hosts: (hosts: readonly string[]) =>
    hosts.length === 0 ? 'Every revision is on this machine.' : `Will be asked: ${list(hosts)}`,
  restored: (count: number) =>
    count === 0 ? '✓ Every copy is as the lock has it.' : `✓ ${many(count, 'skill')} restored from the lock`,
} as const

function size(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`
  return bytes < 1_000_000 ? `${Math.round(bytes / 1_000)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`
}
