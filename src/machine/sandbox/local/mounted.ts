/** mounted: the person's programs as one runner can mount them: where they are, or bound elsewhere, or copied. */
import type { Program } from '../../programs/index.ts'
import { PROGRAMS } from '../messages.ts'
import type { SeenPlace } from '../runner/protocol.ts'
import { type Bound, boundSource, canBind } from './bound.ts'
import { copyPlace } from './copies.ts'
import type { LocalSettings } from './options.ts'
import { directoriesOf, makeStarters, type NamedPrograms, type ReadyPrograms, seenPrograms } from './programs.ts'
import type { ProjectState } from './state.ts'
import { findProgram } from './unavailable.ts'

/** The programs of one command. */
export interface ForCommand {
  readonly seen: readonly SeenPlace[]
  /** Directories at the beginning and at the end of the PATH. */
  readonly first: readonly string[]
  readonly last: readonly string[]
  /** Says which programs they are. */
  readonly stamp: string
  /** Programs that it does not have, once. */
  readonly notes: readonly string[]
}

const NONE: ForCommand = { seen: [], first: [], last: [], notes: [], stamp: '' }

export class MountedPrograms {
  /** The runner must be started with it. */
  readonly bound: Bound | undefined
  readonly #named: NamedPrograms
  readonly #state: ProjectState
  readonly #copies: ReadonlyMap<string, string>
  /** Root's runner sees only what it was started with. */
  readonly #isFixed = process.getuid?.() === 0
  #ready: ReadyPrograms | undefined
  #started: { readonly ready: ReadyPrograms; readonly directory: string; readonly last: readonly string[] } | undefined
  #said = ''

  private constructor(options: {
    readonly named: NamedPrograms
    readonly state: ProjectState
    readonly ready: ReadyPrograms | undefined
    readonly bound?: Bound | undefined
    readonly copies?: ReadonlyMap<string, string>
  }) {
    this.#named = options.named
    this.#state = options.state
    this.#ready = options.ready
    this.#copies = options.copies ?? new Map()
    this.bound = options.bound
  }

  /** Checks the programs of the settings, and copies them where nothing else is possible. */
  static async open(settings: LocalSettings, named: NamedPrograms, state: ProjectState): Promise<MountedPrograms> {
    if (settings.programs.names.length === 0) return new MountedPrograms({ named, state, ready: undefined })
    const ready = await named.ready()
    if (!settings.isRoot || ready.places.length === 0) return new MountedPrograms({ named, state, ready })
    const [unshare, setpriv] = ['unshare', 'setpriv'].map((name) => findProgram(name, settings.programDirectories))
    const { places } = ready
    if (unshare !== undefined && setpriv !== undefined && (await canBind(unshare, setpriv)))
      return new MountedPrograms({ named, state, ready, bound: { at: state.mounts, places, unshare, setpriv } })
    const copies = new Map<string, string>()
    const refused = new Map<string, string>()
    for (const { path: place } of places) {
      const copied = await copyPlace(place, state.programs)
      if ('copy' in copied) copies.set(place, copied.copy)
      else refused.set(place, copied.why)
    }
    return new MountedPrograms({ named, state, ready: withoutPlaces(ready, refused), copies })
  }

  /** False when a place was exchanged that the runner has since it was started. */
  get isCurrent(): boolean {
    return !this.#ready || !this.#isFixed || this.#named.isCurrent(this.#ready)
  }

  /** The programs as they are now. */
  async now(): Promise<ForCommand> {
    if (!this.#ready) return NONE
    const { bound } = this
    // A runner of root keeps the places that it was started with.
    if (!this.#isFixed) this.#ready = await this.#named.ready(this.#ready)
    const ready = this.#ready
    const notes = ready.refused.map(PROGRAMS.note)
    const isSaid = this.#said === notes.join()
    this.#said = notes.join()
    if (ready.programs.length === 0) return { ...NONE, notes: isSaid ? [] : notes }
    if (this.#started?.ready !== ready)
      this.#started = {
        ready,
        directory: makeStarters(this.#state.programs, ready),
        last: directoriesOf(ready.programs),
      }
    const { directory: starters, last } = this.#started
    const sourceOf = (place: string): string => (bound ? boundSource(bound, place) : (this.#copies.get(place) ?? place))
    return {
      seen: seenPrograms(ready, starters, sourceOf),
      first: [starters],
      last,
      stamp: ready.stamp,
      notes: isSaid ? [] : notes,
    }
  }
}

/** Programs whose places could not be copied are not there. */
function withoutPlaces(ready: ReadyPrograms, refused: ReadonlyMap<string, string>): ReadyPrograms {
  const whyNot = ({ places }: Program): string | undefined =>
    [...refused].find(([place]) => places.some(({ path }) => path === place || path.startsWith(`${place}/`)))?.[1]
  return {
    ...ready,
    programs: ready.programs.filter((program) => whyNot(program) === undefined),
    places: ready.places.filter(({ path }) => !refused.has(path)),
    refused: [
      ...ready.refused,
      ...ready.programs.flatMap((program) => {
        const why = whyNot(program)
        return why === undefined ? [] : [{ type: 'refused' as const, name: program.name, path: program.file, why }]
      }),
    ],
  }
}
