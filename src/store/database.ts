/** How messages name a database, and what a person does who wants another one. */
export interface Description {
  /** Such as `state file /home/me/.nexus/state/nexus.db`. */
  readonly database: string
  readonly elsewhere: string
}

/** Where a database of a server is, without user and password: what messages may show. */
export interface Target {
  readonly host: string
  readonly port: number
  readonly database: string
}
