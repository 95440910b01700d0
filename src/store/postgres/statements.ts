import type { Clock } from '../../kernel/index.ts'
import type { Values } from '../sql/scope.ts'

/** The server's clock, the same through one statement, in epoch milliseconds. */
const SERVER_NOW = '(extract(epoch from statement_timestamp()) * 1000)::bigint'

/** A table where a statement names it: not a function, not a name with its schema, not the `set` of `do update set`. */
const TABLE =
  /(?<![:\w])((?<!distinct )from|join|drop index|into|update|references|table(?: if not exists)?|(?<=index \w+ )on)(\s+)(?!set\b)([a-z]\w*)(?![\w.(])/g

/** The shared SQL with its tables in our schema, so that no setting of the session decides which ones are meant. */
function qualified(sql: string): string {
  const ofStatement = [...sql.matchAll(/\bwith (?:recursive )?(\w+)/g)].map(([, name]) => name)
  return sql.replace(TABLE, (whole, word: string, space: string, name: string) =>
    ofStatement.includes(name) ? whole : `${word}${space}nexus.${name}`,
  )
}

/** `:id`, and not the `::` of a cast. */
const NAMED = /(?<!:):([a-zA-Z]\w*)/g

export interface Translated {
  readonly text: string
  readonly values: readonly (string | number)[]
}

/**
 * The shared SQL with its named values (`:id`) as Postgres wants it: numbered, and each with its type, because Postgres
 * cannot derive the type of a value that is compared with nothing but null. `clock` replaces the server's, for tests.
 */
export function translate(sql: string, values: Values, clock?: Clock): Translated {
  const all = clock && sql.includes(':now') ? { ...values, now: Math.trunc(clock.now()) } : values
  const numbers = new Map<string, number>()
  const text = qualified(sql).replace(NAMED, (_, name: string) => {
    const value = all[name]
    if (name === 'now' && value === undefined) return SERVER_NOW
    if (value === undefined) throw new Error(`The statement has no value for :${name}.`)
    if (value === null) return 'null'
    const number = numbers.get(name) ?? numbers.size + 1
    numbers.set(name, number)
    return `$${number}::${typeof value === 'number' ? 'bigint' : 'text'}`
  })
  return { text, values: [...numbers.keys()].map((name) => all[name] as string | number) }
}

/** The same with the values in the text, for a message of several statements; `literal` quotes a text. */
export function withLiterals(sql: string, values: Values, literal: (text: string) => string, clock?: Clock): string {
  return qualified(sql).replace(NAMED, (_, name: string) => {
    if (name === 'now') return clock ? String(Math.trunc(clock.now())) : SERVER_NOW
    const value = values[name]
    if (value === undefined) throw new Error(`The statement has no value for :${name}.`)
    return typeof value === 'string' ? literal(value) : String(value)
  })
}
