/** One step of the schema. Steps are only ever added; one that was released is never edited. */
export interface Migration {
  readonly version: number
  readonly name: string
  readonly statements: readonly string[]
}

/** The words in which the databases differ. */
export interface Dialect {
  readonly isSqlite: boolean
  /** The type of a key that only grows and is never used twice, also after its row was removed. */
  readonly counter: string
  /** The type of a key that grows. */
  readonly identity: string
  readonly integer: string
  /** The end of a table that refuses values of another type. */
  readonly strict: string
}
