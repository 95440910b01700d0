/** diff: what changes in a text, as `diff -u` shows it. */
import { structuredPatch } from 'diff'
import { toSafeText } from '../../../kernel/index.ts'
import { paintDiff, type Terminal } from '../terminal.ts'

/** Prints the changed lines of a file with three lines around them. */
export function printDiff(
  { before, after }: { readonly before: string; readonly after: string },
  name: string,
  { line, paint }: Pick<Terminal, 'line' | 'paint'>,
): void {
  line(paint('bold', name))
  for (const { oldStart, newStart, lines } of structuredPatch(name, name, before, after, '', '', { context: 3 })
    .hunks) {
    line(paint('dim', `@@ -${oldStart} +${newStart} @@`))
    for (const each of lines) line(paintDiff(toSafeText(each).replace(/[\n\t]/g, '  '), paint))
  }
}
