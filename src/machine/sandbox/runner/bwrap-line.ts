/** bwrap-line: reads the shell line that the library made back into words and refuses it when it is not what we know. */

/** One option of bubblewrap with its arguments, such as `['--bind', '/a', '/b']`. */
export type Option = readonly [name: string, ...args: string[]]

/** A bubblewrap call: options in the order in which they are applied, then the command. */
export interface BwrapCall {
  readonly program: string
  readonly options: readonly Option[]
  readonly command: readonly string[]
}

/** Number of arguments of every option that the library may use under our profile. Anything else is refused. */
const ARITY: ReadonlyMap<string, number> = new Map([
  ['--new-session', 0],
  ['--die-with-parent', 0],
  ['--unshare-net', 0],
  ['--unshare-pid', 0],
  ['--unshare-user', 0],
  ['--ro-bind', 2],
  ['--bind', 2],
  ['--tmpfs', 1],
  ['--dev', 1],
  ['--proc', 1],
  ['--cap-drop', 1],
  ['--unsetenv', 1],
])

/** Without any one of these the line does not confine, whatever else it says. */
const REQUIRED: readonly Option[] = [
  ['--new-session'],
  ['--die-with-parent'],
  ['--unshare-net'],
  ['--unshare-pid'],
  ['--unshare-user'],
  ['--ro-bind', '/', '/'],
  ['--cap-drop', 'ALL'],
  ['--dev', '/dev'],
  ['--proc', '/proc'],
  ['--tmpfs', '/tmp'],
  ['--unsetenv', 'SRT_ALLOW_NESTED_USERNS'],
]

/** The words of a line that is quoted with nothing but plain words, '…' and "'"; anything that a shell would act on throws. */
export function splitWords(line: string): string[] {
  const words: string[] = []
  const word = /(?:[A-Za-z0-9_./:=@+,-]+|'[^']*'|"'")+/y
  let at = 0
  while (at < line.length) {
    word.lastIndex = at
    const match = word.exec(line)
    if (!match) throw new Error(`bwrap line changed: cannot read it at character ${at}`)
    words.push(unquote(match[0]))
    at = word.lastIndex
    if (at < line.length && line[at] !== ' ') throw new Error(`bwrap line changed: no space at character ${at}`)
    at += 1
  }
  return words
}

function unquote(word: string): string {
  return word.replace(
    /'([^']*)'|"(')"/g,
    (_, single: string | undefined, quote: string | undefined) => single ?? quote ?? '',
  )
}

/** Reads the library's line. Throws when an option is unknown, a needed one is missing, or the seccomp helper is not used. */
export function parseBwrapLine(line: string): BwrapCall {
  const words = splitWords(line)
  const program = words[0] ?? ''
  const options: Option[] = []
  let at = 1
  for (; at < words.length && words[at] !== '--';) {
    const name = words[at] ?? ''
    const arity = ARITY.get(name)
    if (arity === undefined) throw new Error(`bwrap line changed: unknown option ${name}`)
    options.push([name, ...words.slice(at + 1, at + 1 + arity)])
    at += 1 + arity
  }
  const command = words.slice(at + 1)
  for (const needed of REQUIRED) {
    if (!options.some((option) => same(option, needed))) {
      throw new Error(`bwrap line changed: ${needed.join(' ')} is missing`)
    }
  }
  // Without the helper the library still runs the command, only without the filter on unix sockets and namespaces.
  if (!/^SRT_ALLOW_NESTED_USERNS=0 (?:'[^']*|[^ ']*)\/apply-seccomp'? /.test(command.at(-1) ?? '')) {
    throw new Error('bwrap line changed: the seccomp helper is not used')
  }
  return { program, options, command }
}

/** True when two options have the same name and arguments. */
export function same(a: Option, b: Option): boolean {
  return a.length === b.length && a.every((word, index) => word === b[index])
}
