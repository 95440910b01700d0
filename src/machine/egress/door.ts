/** door: admits, asks about, dials and counts the connections of one command, whichever protocol asked for them. */
import type { Duplex } from 'node:stream'
import { errorMessage, type HostPort, isNexusError, readHostName, shownHost, toSafeLine } from '../../kernel/index.ts'
import { connectPinned, type NetOptions } from '../net/index.ts'
import { REFUSED, type RefusalFacts } from './messages.ts'
import { type EgressPolicy, judge, type RefusedBecause } from './policy.ts'
import type { MaskOptions, Terminator } from './masks.ts'

/** A host that a command reached; bytes as the host got and sent them. */
export interface ReachedHost extends HostPort {
  readonly connections: number
  readonly sentBytes: number
  readonly receivedBytes: number
}

export interface RefusedHost extends HostPort {
  readonly because: RefusedBecause
  readonly times: number
  /** One line, and the next step. */
  readonly message: string
  readonly fix: string
}

/** In the order in which they were first asked for; at most 100 hosts each. */
export interface EgressReport {
  readonly reached: readonly ReachedHost[]
  readonly refused: readonly RefusedHost[]
}

export interface DoorOptions {
  /** How hosts are reached: the user's own proxy and certificates, where there are any. */
  readonly net?: NetOptions
  /** The setting that would allow a host, such as `skills.entries.weather.network`. */
  readonly setting?: string | undefined
  /** Asks a person about a host that no list contains. Not asked twice about the same. */
  readonly ask?: ((to: HostPort, signal: AbortSignal) => Promise<boolean>) | undefined
  /** How long a connection waits for the answer; default 60 s. */
  readonly askMs?: number
  /** Keys that the command does not see, and what ends the TLS of their hosts. */
  readonly masked?: MaskOptions | undefined
}

const ASK_MS = 60_000
const MAX_HOSTS = 100
/** Open at the same time, so that a command cannot use up the descriptors of the program. */
const MAX_CONNECTIONS = 256

/** A connection that was not made. */
export class RefusedConnection extends Error {
  readonly because: RefusedBecause

  constructor(because: RefusedBecause, message: string) {
    super(message)
    this.because = because
  }
}

interface Counts {
  connections: number
  sent: number
  received: number
}

interface Counted {
  readonly bytesRead?: number
  readonly bytesWritten?: number
}

export class Door {
  readonly options: DoorOptions
  /** Ends the TLS of hosts that get masked keys; absent where there are none. */
  terminator: Terminator | undefined
  readonly #policy: EgressPolicy
  readonly #ending = new AbortController()
  readonly #answers = new Map<string, Promise<boolean>>()
  readonly #reached = new Map<string, HostPort & { readonly counts: Counts }>()
  readonly #refused = new Map<
    string,
    HostPort & { readonly because: RefusedBecause; message: string; fix: string; times: number }
  >()
  readonly #open = new Set<() => void>()

  constructor(policy: EgressPolicy, options: DoorOptions) {
    this.#policy = policy
    this.options = options
  }

  /** Aborts when the command has ended. */
  get signal(): AbortSignal {
    return this.#ending.signal
  }

  /** A host and port as they were asked for, in the form that is compared. Throws RefusedConnection for an address. */
  read(name: string, port: number): HostPort {
    const host = readHostName(name)
    if (host !== undefined && port >= 1 && port <= 65_535) return { host, port }
    const isAddress = URL.parse(`http://${name.includes(':') && !name.startsWith('[') ? `[${name}]` : name}/`) !== null
    throw this.refuse({ host: toSafeLine(name).slice(0, 80), port }, isAddress ? 'literal' : 'malformed')
  }

  /** Returns when the host may be reached. Throws RefusedConnection, which is noted. */
  async admit(to: HostPort): Promise<void> {
    const ruling = judge(this.#policy, to)
    if (ruling === 'allowed') return
    if (ruling === 'not-allowed' && (await this.#asked(to))) return
    throw this.refuse(to, ruling)
  }

  /** A connection to a host that was admitted. Throws RefusedConnection where it cannot be made. */
  async dial(to: HostPort): Promise<Duplex> {
    if (this.#open.size >= MAX_CONNECTIONS) throw this.refuse(to, 'unreachable', 'too many connections are open')
    try {
      const socket = await connectPinned({ ...to, signal: this.#ending.signal }, this.options.net)
      this.#count(to, socket)
      return socket
    } catch (error) {
      const isAddress = isNexusError(error) && error.code === 'ADDRESS_REFUSED'
      throw this.refuse(to, isAddress ? 'address' : 'unreachable', errorMessage(error))
    }
  }

  /** Notes a refusal and gives it as an error. */
  refuse({ host, port }: HostPort, because: RefusedBecause, detail?: string): RefusedConnection {
    const key = `${because} ${host}:${port}`
    const facts: RefusalFacts = { host, port, shown: shownHost({ host, port }), setting: this.options.setting, detail }
    const words = REFUSED[because](facts)
    const [message, fix] = [toSafeLine(words.message), toSafeLine(words.fix)]
    const known = this.#refused.get(key)
    if (known) known.times++
    else if (this.#refused.size < MAX_HOSTS) this.#refused.set(key, { host, port, because, message, fix, times: 1 })
    return new RefusedConnection(because, `${message} ${fix}`)
  }

  /** Ends every connection. */
  close(): EgressReport {
    this.#ending.abort()
    this.terminator?.close()
    for (const settle of this.#open) settle()
    return {
      reached: [...this.#reached.values()].map(({ host, port, counts: { connections, sent, received } }) => ({
        ...{ host, port, connections },
        ...{ sentBytes: sent, receivedBytes: received },
      })),
      refused: [...this.#refused.values()],
    }
  }

  #asked(to: HostPort): Promise<boolean> {
    const { ask, askMs = ASK_MS } = this.options
    if (!ask) return Promise.resolve(false)
    const key = `${to.host}:${to.port}`
    const known = this.#answers.get(key)
    if (known) return known
    const signal = AbortSignal.any([this.#ending.signal, AbortSignal.timeout(askMs)])
    const ended = new Promise<boolean>((resolve) => signal.addEventListener('abort', () => resolve(false)))
    // Without an answer it is a no, also where the asking itself fails.
    const answer = Promise.race([ask(to, signal).catch(() => false), ended])
    this.#answers.set(key, answer)
    return answer
  }

  #count(to: HostPort, socket: Duplex & Counted): void {
    const key = `${to.host}:${to.port}`
    const { counts } = this.#reached.get(key) ?? { counts: { connections: 0, sent: 0, received: 0 } }
    if (this.#reached.has(key) || this.#reached.size < MAX_HOSTS) this.#reached.set(key, { ...to, counts })
    counts.connections++
    const { bytesRead = 0, bytesWritten = 0 } = socket
    const settle = (): void => {
      if (!this.#open.delete(settle)) return
      counts.sent += (socket.bytesWritten ?? 0) - bytesWritten
      counts.received += (socket.bytesRead ?? 0) - bytesRead
    }
    this.#open.add(settle)
    socket.once('close', settle)
  }
}
