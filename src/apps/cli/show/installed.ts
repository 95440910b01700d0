/** installed: where copies came from and since when they are cached, for the commands that show skills. */
import type { LoadedConfig } from '../../../config/index.ts'
import { toSafeLine } from '../../../kernel/index.ts'
import { gitSources, type Installed } from '../../../local/index.ts'
import { readStatus } from '../../../skills/install/index.ts'
import type { Invocation } from '../command.ts'
import { INSTALL_WORDS } from '../installing/words.ts'

/** Where a copy came from, in one line. */
export function sourceText(source: Installed['source']): string {
  if (source.type === 'git') return toSafeLine(`${source.url}#${source.ref ?? ''}@${source.commit.slice(0, 12)}`)
  if (source.type === 'archive') return toSafeLine(source.url ?? `archive ${source.sha256.slice(0, 12)}`)
  return source.path === undefined ? 'a folder of this machine' : toSafeLine(source.path)
}

/** Says on stderr which sources are not fetched, are old, or have something that waits. */
export function noteSources(loaded: LoadedConfig, { terminal }: Pick<Invocation, 'terminal'>): void {
  for (const { shown, scope } of gitSources(loaded)) {
    const { seenAt, problem, waiting } = readStatus(scope)
    if (seenAt === undefined) terminal.note(INSTALL_WORDS.notFetched(shown, problem))
    else if (problem !== undefined) terminal.note(INSTALL_WORDS.cachedSince(shown, seenAt, problem))
    for (const { name } of waiting) terminal.note(INSTALL_WORDS.waits(name))
  }
}

/** For JSON: where a copy came from and when that was last seen. */
export function installedData(installed: Installed | undefined) {
  return installed === undefined ? {} : { installed: { ...installed } }
}

/** For people: the rows of the same. */
export function installedRows(installed: Installed | undefined): readonly (readonly [string, string])[] {
  if (installed === undefined) return []
  const { source, version = '', lastGood = '', waiting } = installed
  return [
    ['installed from', sourceText(source)],
    ['version', version],
    ['last seen there', lastGood],
    ['waiting', waiting === undefined ? '' : INSTALL_WORDS.waits(waiting.name)],
  ]
}
