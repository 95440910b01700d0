/**
 * Names that the five documents use for tools of ours. An entry of a policy written with one of them means the name
 * itself and our tool; a tool never gains by its own name. Source: decisions, "names the documents use"; contracts §2.2.
 */
export const ALIASES: ReadonlyMap<string, string> = new Map([
  ['read', 'read_file'],
  ['write', 'write_file'],
  ['edit', 'edit_file'],
  ['apply_patch', 'edit_file'],
  ['exec', 'run_command'],
  ['bash', 'run_command'],
  ['shell', 'run_command'],
  ['sandbox', 'run_command'],
  ['execute_code', 'run_command'],
  ['websearch', 'web_search'],
  ['webfetch', 'web_fetch'],
  ['send_message', 'nexus_send'],
])

/** Most names are in that form as they are written, and every line of a policy is compared at each decision. */
const IN_FORM = /^[a-z0-9_.:*?-]*$/

/** The form in which policy compares names: NFKC, trimmed, lower case. */
export function toPolicyName(name: string): string {
  if (IN_FORM.test(name)) return name
  return name.normalize('NFKC').trim().toLowerCase().normalize('NFKC')
}

export function hasWildcard(entry: string): boolean {
  return entry.includes('*') || entry.includes('?')
}

/** True when one entry (not a group) names that tool; both as `toPolicyName` gives them. */
export function entryCovers(entry: string, name: string): boolean {
  if (entry === name || ALIASES.get(entry) === name) return true
  if (hasWildcard(entry)) return globMatches(entry, name)
  return isMcpServer(entry) && name.startsWith(`${entry}.`)
}

/**
 * True when a dotted entry names a capability of that tool: `run_command.network`, `exec.network`, `*.network`,
 * and `sandbox.network` for every tool. Source: decisions, "dots".
 */
export function entryCoversCapability(entry: string, name: string, capability: string): boolean {
  const dot = entry.lastIndexOf('.')
  if (dot < 1 || !globMatches(entry.slice(dot + 1), capability)) return false
  const head = entry.slice(0, dot)
  return head === 'sandbox' || entryCovers(head, name)
}

/** `mcp:github` means `mcp:github.*`. Source: decisions, "policy". */
export function isMcpServer(entry: string): boolean {
  return entry.startsWith('mcp:') && entry.length > 4 && !entry.includes('.')
}

/**
 * `*` is any run of characters, `?` one character. Two cursors with one way back: the work is at most the product of
 * the lengths, so no entry can make a decision slow.
 */
export function globMatches(pattern: string, text: string): boolean {
  let at = 0
  let star = -1
  let mark = 0
  for (let index = 0; index < text.length;) {
    const wanted = pattern[at]
    if (wanted === '*') {
      star = at++
      mark = index
    } else if (wanted === '?' || wanted === text[index]) {
      at++
      index++
    } else if (star >= 0) {
      at = star + 1
      index = ++mark
    } else {
      return false
    }
  }
  while (pattern[at] === '*') at++
  return at === pattern.length
}
