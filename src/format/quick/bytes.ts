/** Character codes that the scanner asks for. */
export const LF = 10
export const CR = 13
export const SPACE = 32
export const DOUBLE_QUOTE = 34
export const HASH = 35
export const SINGLE_QUOTE = 39
export const COMMA = 44
export const DASH = 45
export const DOT = 46
export const NINE = 57
export const COLON = 58
export const GREATER = 62
export const OPEN_BRACKET = 91
export const BACKSLASH = 92
export const CLOSE_BRACKET = 93
export const OPEN_BRACE = 123
export const BAR = 124
export const CLOSE_BRACE = 125

/** Bits of a byte in the table of classes. */
export const CLASS = {
  /** May begin a key: A-Z, a-z, _. */
  keyStart: 1,
  /** May go on in a key: also digits, dot and dash. */
  key: 2,
  /** May begin a plain value that is text, or a number when it is a digit. All others have, or may have, a meaning of their own. */
  plainStart: 4,
  /** Ends a line, or is a control character, tab and DEL included: no scalar on one line holds one. */
  stop: 8,
  /** Needs a second look inside a plain value: colon, number sign, and what has the bit `stop`. */
  look: 16,
  /** May stand inside a plain value between brackets. */
  flow: 32,
  digit: 64,
} as const

/** The classes of the 256 bytes. What is not ASCII is text everywhere; the reader sees to it that it is UTF-8. */
export const CLASSES: Uint8Array = classes()

function classes(): Uint8Array {
  const table = new Uint8Array(256)
  const mark = (characters: string, bits: number): void => {
    for (const character of characters) table[character.charCodeAt(0)] = (table[character.charCodeAt(0)] ?? 0) | bits
  }
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
  mark(`${letters}_`, CLASS.keyStart | CLASS.key | CLASS.plainStart | CLASS.flow)
  mark('0123456789', CLASS.key | CLASS.plainStart | CLASS.flow | CLASS.digit)
  mark('.-', CLASS.key | CLASS.flow)
  mark('/($', CLASS.plainStart)
  mark('/() *+@', CLASS.flow)
  mark(':#', CLASS.look)
  for (let byte = 0; byte < 32; byte++) table[byte] = CLASS.stop | CLASS.look
  table[127] = CLASS.stop | CLASS.look
  for (let byte = 128; byte < 256; byte++) table[byte] = CLASS.plainStart
  return table
}
