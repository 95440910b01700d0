import { type JsonValue, withoutPrototype } from '../kernel/index.ts'
import { closingQuote, isKey, readScalar, unquote } from './fast-scalars.ts'

/** How a list or mapping between brackets is read. */
export interface FlowForm {
  readonly asWritten: ReadonlySet<string>
  readonly numbers: 'exact' | 'value'
  /** Levels and entries at most. */
  readonly depth: number
  readonly entries: number
}

/** A list or mapping between brackets, such as `[a, "b"]` or JSON; undefined when the `yaml` library must read it. */
export function readFlow(text: string, form: FlowForm): { value: JsonValue; entries: number } | undefined {
  const reader = new FlowReader(text, form)
  const value = reader.collection(0)
  return value === undefined || !reader.isAtEnd ? undefined : { value, entries: reader.entries }
}

class FlowReader {
  entries = 0
  private at = 0
  private readonly text: string
  private readonly form: FlowForm
  /** What ends a value without quotes, or is not allowed in one here. */
  private readonly endOfPlain = /[\n,[\]{}"'#]|:(?= |\n|$|[,[\]{}])/g

  constructor(text: string, form: FlowForm) {
    this.text = text
    this.form = form
  }

  get isAtEnd(): boolean {
    return this.at === this.text.length
  }

  collection(depth: number): JsonValue | undefined {
    if (depth > this.form.depth) return undefined
    const isMapping = this.text[this.at++] === '{'
    return isMapping ? this.mapping(depth) : this.list(depth)
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
      const value = this.value(depth, this.form.asWritten.has(key))
      if (value === undefined || !this.goOn('}')) return undefined
      result[key] = value
    }
    this.at++
    return withoutPrototype(result)
  }

  /** Passes the comma behind an entry. */
  private goOn(closer: string): boolean {
    const next = this.next()
    if (next === ',') this.at++
    return (next === ',' || next === closer) && ++this.entries <= this.form.entries
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
    if (first === '[' || first === '{') return this.collection(depth + 1)
    if (first === '"' || first === "'") return this.quoted()
    const text = this.plain()
    if (text === '') return undefined
    return readScalar(text, { asWritten, numbers: this.form.numbers })
  }

  private quoted(): string | undefined {
    const end = closingQuote(this.text, this.text[this.at] as string, this.at + 1)
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
