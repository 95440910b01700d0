/** Other spellings that skills in the wild use, by what they mean. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ['macos', 'darwin'],
  ['mac', 'darwin'],
  ['osx', 'darwin'],
  ['win32', 'windows'],
  ['win', 'windows'],
])

/** One name per platform: `linux`, `darwin`, `windows`, else the name in lower case. */
export function toOsName(name: string): string {
  const plain = name.trim().toLowerCase()
  return ALIASES.get(plain) ?? plain
}
