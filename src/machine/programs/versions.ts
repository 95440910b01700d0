/** versions: which of several installed versions of a program a person means. Pure. */

/** The path that a word of the person's choice names, wholly or as the beginning of a version; else the newest. */
export function newest(
  paths: readonly string[],
  chosen: readonly string[],
  partsOf: (path: string) => readonly string[],
): string | undefined {
  const plain = (part: string): string => part.replace(/^v(?=\d)/, '')
  // Other words name what is chosen, such as `node`.
  const words = chosen.map(plain).filter((word) => /\d/.test(word))
  const rank = (path: string): number => {
    const parts = partsOf(path).map(plain)
    if (words.some((word) => parts.includes(word))) return 2
    return words.some((word) => /^\d/.test(word) && parts.some((part) => part.startsWith(`${word}.`))) ? 1 : 0
  }
  return paths.toSorted((a, b) => rank(b) - rank(a) || compare(b, a))[0]
}

/** Numbers by their value, other text by its characters. */
function compare(a: string, b: string): number {
  const [left, right] = [a, b].map((text) => text.split(/(\d+)/))
  for (const [index, part] of (left ?? []).entries()) {
    const other = right?.[index] ?? ''
    const byNumber = index % 2 === 1 ? Number(part) - Number(other) : 0
    if (byNumber !== 0) return byNumber
    if (index % 2 === 0 && part !== other) return part < other ? -1 : 1
  }
  return 0
}
