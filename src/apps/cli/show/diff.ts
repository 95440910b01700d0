/** diff: what changes in a text, as `diff -u` shows it. */
import { structuredPatch } from 'diff'
import { toSafeText } from '../../../kernel/index.ts'
import { paintDiff, type Terminal } from '../terminal.ts'

/** Texts can be made so that to compare them takes hours. */
const TIMEOUT_MS = 2_000

/** Prints the changed lines of a file with three lines around them. */
export function printDiff(
  { before, after }: { readonly before: string; readonly after: string },
  name: string,
  { line, paint }: Pick<Terminal, 'line' | 'paint'>,
): void {
  line(paint('bold', name))
  const patch = structuredPatch(name, name, before, after, '', '', { context: 3, timeout: TIMEOUT_MS })
  if (!patch) return line(`  ${paint('dim', 'too different to show')}`)
  for (const { oldStart, newStart, lines } of patch.hunks) {
    line(paint('dim', `@@ -${oldStart} +${newStart} @@`))
    for (const each of lines) line(paintDiff(toSafeText(each).replace(/[\n\t]/g, '  '), paint))
  }
}
