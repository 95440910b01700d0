/** What happened and why, and one complete next step. */
export type Words = readonly [message: string, fix: string]

/** A text in quotes for a message, cut when long. */
export function shown(text: string): string {
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80).toWellFormed()}…` : text)
}

/** A line to type. */
export function write(line: string): string {
  return `Write: ${line}`
}
