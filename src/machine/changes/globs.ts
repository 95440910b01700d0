/** globs: places that a user protects, by patterns. No pattern takes long, as an untrusted file may give them. Pure. */

/**
 * Whether a path is a protected place or in one. `*` and `?` are in a name, `**` is any number of names; a pattern without a slash is a name
 * at any depth, one that begins with a slash is at the top. Capital letters do not count.
 */
export function protectedBy(globs: readonly string[]): (path: string) => boolean {
  const patterns = globs.map((glob) => {
    const names = glob.toLowerCase().replace(/\/+$/, '').split('/')
    return names.length === 1 ? ['**', ...names] : names.filter((name) => name !== '' && name !== '.')
  })
  return (path) => {
    const names = path.toLowerCase().split('/')
    return patterns.some((pattern) => pattern.length > 0 && fits(names, [...pattern, '**'], '**', fitsName))
  }
}

function fitsName(name: string, pattern: string): boolean {
  return fits([...name], [...pattern], '*', (character, one) => one === '?' || one === character)
}

/** Whether items fit a pattern, in which `star` is any number of them. Only the last star is tried again, so that it takes items × pattern steps. */
function fits(
  items: readonly string[],
  pattern: readonly string[],
  star: string,
  fitsOne: (item: string, one: string) => boolean,
): boolean {
  let [at, of, starAt, after] = [0, 0, -1, 0]
  while (at < items.length) {
    const [item = '', one] = [items[at], pattern[of]]
    if (one === star) [starAt, after, of] = [of, at, of + 1]
    else if (one !== undefined && fitsOne(item, one)) [at, of] = [at + 1, of + 1]
    else if (starAt >= 0) [after, at, of] = [after + 1, after + 1, starAt + 1]
    else return false
  }
  return pattern.slice(of).every((one) => one === star)
}
