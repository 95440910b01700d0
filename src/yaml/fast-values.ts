import { type JsonValue, withoutPrototype } from '../kernel/index.ts'

/** Single values and values between brackets; undefined always means that the full parser must read them. */

const KEY = /^[A-Za-z_][\w.-]*(?: [\w.-]+)*$/
const MAX_KEY_CHARS = 200
/** Words of the core schema, which YAML also knows in other case. */
const WORD = /^(?:true|false|null)$/i
/** Numbers of the core schema. */
const NUMBER =
  /^(?:[-+]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|0o[0-7]+|0x[0-9a-fA-F]+|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/
/** Characters with which a plain value may not begin, or begins only sometimes. */
const OTHER_START = /^(?:[\]{},#&*!|>@%`?:'"[]|-(?![A-Za-z]))/

/** True for a key that needs no quotes and is not a word of YAML. */
export function isKey(text: string): boolean {
  return text.length <= MAX_KEY_CHARS && KEY.test(text) && (text.length > 5 || !WORD.test(text))
}

/** A value without quotes; a number that a program would print otherwise, such as 1.10, is left to the full parser. */
export function readScalar(text: string, asWritten: boolean): JsonValue | undefined {
  if (text === '~') return null
  if (text.length <= 5 && WORD.test(text)) {
    if (text !== text.toLowerCase()) return undefined
    if (asWritten) return text
    return text === 'null' ? null : text === 'true'
  }
  // Digits and signs come before all letters.
  if (text.charCodeAt(0) < 0x3a && NUMBER.test(text)) {
    if (asWritten) return text
    return String(Number(text)) === text ? Number(text) : undefined
  }
  return isPlainText(text) ? text : undefined
}

/** True for a value that is text without quotes, whatever its words mean. */
export function isPlainText(text: string): boolean {
  return !OTHER_START.test(text) && hasNoColon(text)
}

export function hasNoColon(text: string): boolean {
  return !text.includes(': ') && !text.endsWith(':')
}

/** Index of the quote that closes the text whose opening quote is at `start`; -1 when it is not there. */
export function closingQuote(text: string, start = 0): number {
  const quote = text[start] as string
  for (let at = text.indexOf(quote, start + 1); at >= 0; at = text.indexOf(quote, at + 1)) {
    if (quote === "'") {
      if (text[at + 1] !== "'") return at
      at++
    } else {
      let before = at
      while (text[before - 1] === '\\') before--
      if ((at - before) % 2 === 0) return at
    }
  }
  return -1
}

/** The text between quotes. Line breaks in it are already folded. Escapes that JSON does not have are declined. */
export function unquote(text: string): string | undefined {
  const inner = text.slice(1, -1)
  if (text[0] === "'") return inner.replaceAll("''", "'")
  if (!inner.includes('\\')) return inner
  try {
    return JSON.parse(text.replaceAll('\n', '\\n')) as string
  } catch {
    // An escape of YAML only, or none: the full parser knows it, or reports it with its place.
    return undefined
  }
}

/** A list or mapping between brackets, such as `[a, "b"]` or JSON. */
export class FlowReader {
  entries = 0
  private at = 0
  private readonly text: string
  private readonly asWritten: ReadonlySet<string>
  /** Ends a value without quotes, or is not allowed in one. */
  private readonly endOfPlain = /[\n,[\]{}"'#]|:(?= |\n|$|[,[\]{}])/g

  constructor(text: string, asWritten: ReadonlySet<string>) {
    this.text = text
    this.asWritten = asWritten
  }

  /** The whole text; `depth` is the number of levels that it may have. */
  read(depth: number): JsonValue | undefined {
    const value = this.collection(depth)
    return this.at === this.text.length ? value : undefined
  }

  private collection(depth: number): JsonValue | undefined {
    if (depth < 0) return undefined
    return this.text[this.at++] === '{' ? this.mapping(depth) : this.list(depth)
  }

  private list(depth: number): JsonValue[] | undefined {
    const result: JsonValue[] = []
    while (this.next() !== ']') {
      const item = this.value(depth, false)
      if (item === undefined || !this.goOn(']')) return undefined
      result.push(item)
    }
    this.at++
    return result
  }

  private mapping(depth: number): JsonValue | undefined {
    const result: Record<string, JsonValue> = {}
    while (this.next() !== '}') {
      const key = this.key()
      if (key === undefined || key in result || this.text[this.at] !== ':') return undefined
      this.at++
      const next = this.next()
      if (next === ',' || next === '}') return undefined
      const value = this.value(depth, this.asWritten.has(key))
      if (value === undefined || !this.goOn('}')) return undefined
      result[key] = value
    }
    this.at++
    return withoutPrototype(result)
  }

  /** Passes the comma behind an entry. */
  private goOn(closer: string): boolean {
    this.entries++
    const next = this.next()
    if (next === ',') this.at++
    return next === ',' || next === closer
  }

  private key(): string | undefined {
    if (this.text[this.at] === '"' || this.text[this.at] === "'") {
      const quoted = this.quoted()
      this.next()
      // Characters that are not seen in a key are a finding.
      return quoted !== undefined && /^[ -~]*$/.test(quoted) ? quoted : undefined
    }
    const key = this.plain()
    return isKey(key) && /[ \n]/.test(this.text[this.at + 1] ?? '') ? key : undefined
  }

  private value(depth: number, asWritten: boolean): JsonValue | undefined {
    const first = this.text[this.at]
    if (first === '[' || first === '{') return this.collection(depth - 1)
    if (first === '"' || first === "'") return this.quoted()
    const text = this.plain()
    return text === '' ? undefined : readScalar(text, asWritten)
  }

  private quoted(): string | undefined {
    const end = closingQuote(this.text, this.at)
    const written = this.text.slice(this.at, end + 1)
    if (end < 0 || written.includes('\n')) return undefined
    this.at = end + 1
    return unquote(written)
  }

  private plain(): string {
    this.endOfPlain.lastIndex = this.at
    const end = this.endOfPlain.exec(this.text)?.index ?? this.text.length
    const text = this.text.slice(this.at, end).trim()
    this.at = end
    return text
  }

  /** The next character that is not white space. */
  private next(): string | undefined {
    while (this.text[this.at] === ' ' || this.text[this.at] === '\n') this.at++
    return this.text[this.at]
  }
}
