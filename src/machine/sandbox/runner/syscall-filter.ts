/** syscall-filter: refuses the system calls that reach what no namespace separates. A second filter beside the library's. */

const LOAD_WORD = 0x20
const JUMP_IF_EQUAL = 0x15
const RETURN = 0x06

const ALLOW = 0x7fff_0000
const KILL_PROCESS = 0x8000_0000
/** The call fails with ENOSYS, as on a kernel without it: programs then do without. */
const NO_SUCH_CALL = 0x0005_0000 | 38

/** Where `struct seccomp_data` has the number of the call and the architecture. */
const NUMBER_AT = 0
const ARCHITECTURE_AT = 4

/**
 * Per architecture: its AUDIT_ARCH value, then the numbers of add_key, request_key, keyctl and syslog.
 * The keyrings are those of the user's session, and the kernel's log is the host's. The library's filter ends programs that make x32 calls.
 */
const REFUSED: readonly (readonly [architecture: number, ...calls: number[]])[] = [
  [0xc000_003e, 248, 249, 250, 103], // x86-64
  [0xc000_00b7, 217, 218, 219, 116], // aarch64
]

/** The program for `bwrap --add-seccomp-fd`: `struct sock_filter` entries, little-endian as both processors are. */
export function syscallFilter(): Buffer {
  const blocks = REFUSED.flatMap(([architecture, ...calls]) => [
    instruction(JUMP_IF_EQUAL, architecture, { otherwise: calls.length + 3 }),
    instruction(LOAD_WORD, NUMBER_AT),
    ...calls.map((call, index) => instruction(JUMP_IF_EQUAL, call, { then: calls.length - index })),
    instruction(RETURN, ALLOW),
    instruction(RETURN, NO_SUCH_CALL),
  ])
  // 32-bit calls have other numbers, so a program that makes one ends.
  return Buffer.concat([instruction(LOAD_WORD, ARCHITECTURE_AT), ...blocks, instruction(RETURN, KILL_PROCESS)])
}

/** `then` and `otherwise` are how many instructions a jump leaves out. */
function instruction(code: number, value: number, { then = 0, otherwise = 0 } = {}): Buffer {
  const entry = Buffer.alloc(8)
  entry.writeUInt16LE(code, 0)
  entry.writeUInt8(then, 2)
  entry.writeUInt8(otherwise, 3)
  entry.writeUInt32LE(value, 4)
  return entry
}
