/** A word as a POSIX shell reads it back: as it is when that is safe, else in single quotes. */
export function shellWord(word: string): string {
  return /^[\w@%+:,./-]+$/.test(word) ? word : quoted(word)
}

/** A word in single quotes, so that it is neither an assignment nor a keyword. */
export function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`
}
