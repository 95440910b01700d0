/** Finds in the output of a command that it reached no other machine. */
import { commandWords } from '../builtin/command-words.ts'
import type { CommandFinding } from './finding.ts'
import { type Ran, quotedLine, textOf } from './ran.ts'

/** What programs write when a name is not resolved or a connection fails. The group is the machine. */
const FAILED: readonly RegExp[] = [
  // curl, git, ssh
  /could(?: not|n't) resolve (?:host(?:name)?|proxy):? ['"\u2018]?([\w.-]+)/i,
  /failed to connect to (\S+) port \d+/i,
  // wget, apt
  /unable to resolve host address ['"\u2018]([^'"\u2019]+)/,
  /temporary failure resolving ['"\u2018]([^'"\u2019]+)/i,
  // node, npm
  /getaddrinfo (?:EAI_AGAIN|ENOTFOUND) ([\w.-]+)/,
  /connect (?:ECONNREFUSED|ENETUNREACH|EHOSTUNREACH) ([\w.:[\]-]+)/,
  // pip, requests
  /failed to resolve ['"]([^'"]+)/i,
  /host=['"]([^'"]+)['"].*(?:NewConnectionError|NameResolutionError)/,
  // go
  /dial tcp:? (?:lookup )?([\w.-]+)/,
  // python, rust and most others
  /(?:temporary failure in name resolution|name or service not known|failed to lookup address)/i,
  /(?:network is unreachable|no route to host)/i,
  /\b(?:EAI_AGAIN|ENETUNREACH)\b/,
  // ssh, and git over it
  /^no user exists for uid \d+|could not read from remote repository/i,
]
const REFUSED_HERE = /connection refused|ConnectionRefusedError/i
const LOCAL = /^\[?(?:localhost|127\.|0\.0\.0\.0|::1)/

/** Exit codes by which a quiet program reports it. */
const QUIET: ReadonlyMap<string, readonly number[]> = new Map([
  ['curl', [6, 7]],
  ['wget', [4]],
])
/** Programs that try again until their time is up, and write nothing meanwhile. */
const PATIENT: ReadonlySet<string> = new Set(
  'curl wget git npm npx pnpm yarn pip pip3 uv cargo go gem apt apt-get'.split(' '),
)

export function networkFinding(ran: Ran): CommandFinding | undefined {
  if (ran.network !== false) return undefined
  const lines = textOf(ran)
  const found = lines.flatMap((line) => {
    const match = FAILED.map((pattern) => pattern.exec(line)).find((each) => each !== null)
    return match ? [{ line, index: match.index, host: match[1] }] : []
  })
  const [first] = found
  const best = found.find(({ host }) => host !== undefined) ?? first
  if (best) {
    const isLocal = best.host !== undefined && LOCAL.test(best.host)
    return {
      code: 'no-network',
      subject: best.host ?? 'another machine',
      line: quotedLine(best.line, best.index),
      ...(isLocal && { isLocal }),
    }
  }
  const refused = lines.find((line) => REFUSED_HERE.test(line))
  if (refused !== undefined)
    return { code: 'no-network', subject: 'that address', line: quotedLine(refused), isLocal: true }
  return quietly(ran)
}

function quietly({ command, result }: Ran): CommandFinding | undefined {
  const words = commandWords(command)
  const word =
    result.end === 'timeout'
      ? words.find((each) => PATIENT.has(each))
      : words.find((each) => QUIET.get(each)?.includes(result.exitCode))
  return word === undefined ? undefined : { code: 'no-network', subject: `the network with ${word}` }
}
