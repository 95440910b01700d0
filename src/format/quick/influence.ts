import { FORMAT_LIMITS } from '../limits.ts'
import { ALIASES, SLIPS_BEGIN, TOP_LEVEL } from '../fields/metadata-keys.ts'
import { COLON } from './bytes.ts'
import { hashOf, KIND } from './nodes.ts'
import type { Scanner } from './scan.ts'

/** What a top-level key can change. */
export const INFLUENCE = {
  /** Who may run the skill, and where. */
  gates: 1,
  /** There may be something to report. */
  findings: 2,
  /** Who may start it. */
  flags: 16,
  name: 4,
  description: 8,
  /** Text that may hold JSON, of which only the parser that reports can tell whether it is sound. */
  text: 32,
} as const

type Reader = (scanner: Scanner, node: number) => number

const GATE = INFLUENCE.gates | INFLUENCE.findings
const gates: Reader = () => GATE
const flags: Reader = () => INFLUENCE.flags | INFLUENCE.findings
const findings: Reader = () => INFLUENCE.findings

/** Keys that are read, by hash. A key that is not here is kept and changes nothing; a chance equality only costs a second look. */
const READERS: ReadonlyMap<number, Reader> = new Map<number, Reader>([
  [hashOf('name'), exactly('name', INFLUENCE.name)],
  [hashOf('description'), exactly('description', INFLUENCE.description)],
  [hashOf('license'), (scanner, node) => (isText(scanner, node) ? 0 : INFLUENCE.findings)],
  [hashOf('compatibility'), compatibility],
  [hashOf('allowed-tools'), tools],
  [hashOf('metadata'), metadata],
  ...['allowed_tools', 'arguments'].map((key) => [hashOf(key), findings] as const),
  ...['disable-model-invocation', 'disable_model_invocation', 'user-invocable', 'user_invocable'].map(
    (key) => [hashOf(key), flags] as const,
  ),
  ...TOP_LEVEL.map((key) => [hashOf(key), gates] as const),
])

/** Keys of metadata that are read: those of the gating part, and the places where it may be. */
const IN_METADATA: ReadonlySet<number> = new Set(
  [...ALIASES, ...TOP_LEVEL, 'always', 'skillKey'].map((key) => hashOf(key)),
)

const PLACES: ReadonlySet<number> = new Set(ALIASES.map((key) => hashOf(key)))

/** Beginnings of keys that may be slips, as numbers. */
const SLIP_MARKS: ReadonlySet<number> = new Set(
  SLIPS_BEGIN.map((text) => slipMark(Buffer.from(text), 0, text.replace(':', '').length)),
)

/** The first four bytes of a key and its colon, as `maySlip` sees them. */
function slipMark(bytes: Buffer, start: number, end: number): number {
  let mark = 0
  for (let at = start; at < start + 4 && at < end; at++) mark = (mark << 7) | (bytes[at] as number)
  return end - start < 4 ? (mark << 7) | COLON : mark
}

/** What a top-level entry can change, as bits of `INFLUENCE`. */
export function influenceOf(scanner: Scanner, node: number): number {
  const reader = READERS.get(scanner.nodes.keyHash(node))
  return reader === undefined ? 0 : reader(scanner, node)
}

/** True for kinds that are text whatever they say. */
export function hasOnlyText(kind: number): boolean {
  return kind === KIND.plain || (kind >= KIND.double && kind <= KIND.foldedStripped)
}

/** For keys whose value is used: the hash alone does not prove that it is this key. */
function exactly(key: string, influence: number): Reader {
  return ({ bytes, nodes }, node) => {
    const start = nodes.keyStart(node)
    if (nodes.keyEnd(node) - start !== key.length) return 0
    for (let at = 0; at < key.length; at++) if (bytes[start + at] !== key.charCodeAt(at)) return 0
    return influence
  }
}

function isText({ nodes }: Scanner, node: number): boolean {
  return hasOnlyText(nodes.kind(node))
}

function compatibility(scanner: Scanner, node: number): number {
  const { nodes } = scanner
  const isShort = nodes.valueEnd(node) - nodes.valueStart(node) <= FORMAT_LIMITS.maxCompatibilityLength
  return isShort && isText(scanner, node) ? 0 : INFLUENCE.findings
}

const OPEN = 40
const CLOSE = 41

/** Text whose parentheses are closed, or a list of texts without any. */
function tools(scanner: Scanner, node: number): number {
  const { bytes, nodes } = scanner
  if (!isText(scanner, node)) return INFLUENCE.findings
  let depth = 0
  for (let at = nodes.valueStart(node); at < nodes.valueEnd(node); at++) {
    if (bytes[at] === OPEN) depth++
    if (bytes[at] === CLOSE && depth > 0) depth--
  }
  return depth === 0 ? 0 : INFLUENCE.findings
}

function metadata({ bytes, nodes }: Scanner, node: number): number {
  const kind = nodes.kind(node)
  if (kind === KIND.nothing) return 0
  if (kind !== KIND.map) return mayHoldJson(kind) ? INFLUENCE.text : GATE
  let influence = 0
  for (let child = node + 1; child < nodes.next(node); child = nodes.next(child)) {
    const hash = nodes.keyHash(child)
    if (IN_METADATA.has(hash) || SLIP_MARKS.has(slipMark(bytes, nodes.keyStart(child), nodes.keyEnd(child))))
      influence = GATE
    if (PLACES.has(hash) && mayHoldJson(nodes.kind(child))) return INFLUENCE.text
  }
  return influence
}

/** Plain text cannot begin with a brace. */
function mayHoldJson(kind: number): boolean {
  return kind >= KIND.double && kind <= KIND.foldedStripped
}
