import { gitSources, refreshAll } from '../../../../local/index.ts'
import { readStatus } from '../../../../skills/install/index.ts'
import type { Answer, Invocation } from '../../command.ts'
import { openInstalling } from '../../installing/place.ts'
import { noteSources } from '../../show/installed.ts'
import { INSTALL_WORDS } from '../../installing/words.ts'
import { withProgress } from '../../interactive/progress.ts'

/** `nexus skills refresh`: exit code 1 when a source could not be asked; its copies go on serving. */
export async function refreshSources(invocation: Invocation): Promise<Answer> {
  const { terminal, environment, signal } = invocation
  const { loaded } = await openInstalling(invocation)
  const sources = gitSources(loaded)
  await withProgress(terminal, 'asking git sources', () => refreshAll(sources, loaded, { environment, signal }))
  const asked = sources.map(({ shown, scope }) => ({ url: shown, ...readStatus(scope) }))
  return {
    data: { sources: asked },
    exit: asked.some(({ problem }) => problem !== undefined) ? 1 : 0,
    show: () => {
      noteSources(loaded, invocation)
      for (const { url, commit = '', problem } of asked)
        if (problem === undefined) terminal.line(INSTALL_WORDS.refreshed(url, commit))
      if (asked.length === 0) terminal.line(INSTALL_WORDS.noSources())
    },
  }
}
