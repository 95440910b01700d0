/** White space that YAML itself does not count as text; a no-break space stays. */
export function trimText(text: string): string {
  // Nearly all texts have nothing to trim.
  if (text.trim() === text) return text
  // Not a pattern with $: its time would be quadratic in the white space inside of the text.
  let start = 0
  let end = text.length
  while (start < end && isBlank(text.charCodeAt(start))) start++
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--
  return text.slice(start, end)
}

/** A space, a tab or a line end. */
function isBlank(unit: number): boolean {
  return unit === 0x20 || unit === 0x09 || unit === 0x0a || unit === 0x0d
}

/** Code points. */
export function countCharacters(text: string): number {
  let points = 0
  for (const _ of text) points++
  return points
}
