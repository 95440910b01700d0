/** programs: the programs of a person's home: where they are, and what each needs so that it runs in a sandbox. */
export { HIDDEN } from './installations.ts'
export type { Link } from './links.ts'
export { Programs } from './locate.ts'
export type { Located, Place, Program, ProgramSearch, Refused } from './program.ts'
export { type Distrust, Owners } from './owners.ts'
