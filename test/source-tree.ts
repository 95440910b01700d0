/** The tree under src/ as the repository's own tests see it: files, modules, imports and exports. */
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { pathToFileURL } from 'node:url'

/** The repository's root directory. */
export const ROOT = dirname(import.meta.dirname)

/** Option of node for programs that tests run from source: they find the modules that other test processes compiled. */
export const COMPILED = `--import=${pathToFileURL(join(ROOT, 'scripts/test-cache.mjs')).href}`

/** Every TypeScript file below src/, relative to the root, sorted. */
export const SOURCE_FILES: readonly string[] = globSync('src/**/*.{ts,cts,mts}', { cwd: ROOT }).sort()

/** The text of a file given relative to the root. */
export function readSource(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8')
}

/** Folders of `src/` that hold modules, not files. */
const GROUPS_OF_MODULES = ['machine', 'skills', 'agents', 'apps']

/** The module of a file, by its path below `src/`: `kernel`, `machine/files`. */
export function moduleOf(file: string): string {
  const [, group = '', module = ''] = file.split('/')
  return GROUPS_OF_MODULES.includes(group) ? `${group}/${module}` : group
}

/** The text without comments. Strings that hold `//` or `/*` are cut too, which does no harm to imports. */
export function withoutComments(text: string): string {
  return text.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/(^|\s)\/\/.*$/gm, '$1')
}

export interface Import {
  readonly from: string
  readonly specifier: string
  /** The file that a relative specifier names, relative to the root; undefined for packages and builtins. */
  readonly to: string | undefined
}

const SPECIFIERS = [
  /\b(?:import|export)\b[^'"`;()]*?\bfrom\s*['"]([^'"]+)['"]/g,
  /\bimport\s*['"]([^'"]+)['"]/g,
  /\bimport\s*\(\s*['"]([^'"]+)['"]/g,
  /\brequire\s*\(\s*['"]([^'"]+)['"]/g,
]

/** All imports of a file: static, of types, for effects, dynamic, and `import('…')` types. */
export function importsOf(file: string): readonly Import[] {
  const text = withoutComments(readSource(file))
  return SPECIFIERS.flatMap((pattern) => [...text.matchAll(pattern)]).map((match) => {
    const specifier = match[1] ?? ''
    const to = specifier.startsWith('.') ? posix.join(posix.dirname(file), specifier) : undefined
    return { from: file, specifier, to }
  })
}

/** The entries of the package: `src/testing/` is what `nexus-skills/testing` publishes. */
const ENTRY = /^src\/(?:public\/[\w-]+|testing\/index)\.ts$/
const TYPES_ONLY = /\b(?:import|export)\s+type\b[^'"`;()]*?\bfrom\s*['"][^'"]+['"]/g

/** Files of the source that a test reaches around the entries of the package, itself or through its rigs; types do not count. */
export function internalsOf(file: string, seen = new Set<string>()): readonly string[] {
  seen.add(file)
  const text = withoutComments(readSource(file)).replaceAll(TYPES_ONLY, '')
  const targets = SPECIFIERS.flatMap((pattern) => [...text.matchAll(pattern)]).flatMap(([, specifier = '']) =>
    specifier.startsWith('.') ? [posix.join(posix.dirname(file), specifier)] : [],
  )
  return [...new Set(targets)].flatMap((to) => {
    if (to.startsWith('src/')) return ENTRY.test(to) ? [] : [to]
    return to.endsWith('.ts') && !seen.has(to) ? internalsOf(to, seen) : []
  })
}

/** Groups of source files that import each other around a circle, imports of types included; files sorted. */
export function importCycles(): readonly (readonly string[])[] {
  const known = new Set(SOURCE_FILES)
  const targets = new Map(SOURCE_FILES.map((file) => [file, importsOf(file).flatMap(({ to }) => to ?? [])]))
  const reachable = new Map(
    SOURCE_FILES.map((file) => {
      const seen = new Set<string>()
      const open = [file]
      for (let at = open.pop(); at !== undefined; at = open.pop())
        for (const to of targets.get(at) ?? [])
          if (known.has(to) && !seen.has(to)) {
            seen.add(to)
            open.push(to)
          }
      return [file, seen]
    }),
  )
  const reaches = (from: string, to: string): boolean => reachable.get(from)?.has(to) ?? false
  const circular = SOURCE_FILES.filter((file) => reaches(file, file))
  const groups = Map.groupBy(circular, (file) => circular.find((other) => reaches(file, other) && reaches(other, file)))
  return [...groups.values()]
}

/** The names that a door exports: those with a value at run time, and those that are types only. */
export function exportsOf(file: string): { readonly values: readonly string[]; readonly types: readonly string[] } {
  const text = withoutComments(readSource(file))
  const listed = [...text.matchAll(LIST)].flatMap(([, isType, list = '']) =>
    list
      .split(',')
      .map((item) => item.trim())
      .filter((item) => item !== '')
      .map((item) => ({ name: exportedName(item), isType: isType !== undefined || item.startsWith('type ') })),
  )
  const declared = [...text.matchAll(DECLARATION)].map(([, kind, name = '']) => ({
    name,
    isType: kind === 'type' || kind === 'interface',
  }))
  const names = (isType: boolean): string[] =>
    [...new Set([...listed, ...declared].filter((item) => item.isType === isType).map(({ name }) => name))].sort()
  return { values: names(false), types: names(true) }
}

const LIST = /\bexport\s+(type\s+)?\{([^}]*)\}/g
const DECLARATION =
  /^export\s+(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?(const|function\*?|class|type|interface)\s+([A-Za-z_$][\w$]*)/gm

/** `type a as b` is exported as `b`. */
function exportedName(item: string): string {
  return (
    item
      .replace(/^type\s+/, '')
      .split(/\s+as\s+/)
      .at(-1) ?? item
  )
}

const MODULE_CONST = /^(?:export )?const ([A-Za-z_$][\w$]*)(?:\s*:\s*([^=]+?))?\s*=\s*(.*)$/gm
const CHANGING = 'set|add|delete|clear|push|pop|shift|unshift|splice|sort|reverse|fill|copyWithin'
const EMPTY = /^(?:new (?:Weak)?(?:Map|Set)(?:<.*>)?\(\)|\[\]|\{\}|Object\.create\(null\).*)(?: as .*)?$/

/** Names of values of a module that outlive a call and change: variables, statics, and constants whose content is changed. */
export function changingState(text: string): readonly string[] {
  const code = withoutComments(text)
  const variables = [...code.matchAll(/^(?:export )?(?:let|var) ([\w$]+)/gm)].map(([, name = '']) => name)
  const statics = [...code.matchAll(/^ +(?:private |public |protected )?static (?!readonly\b)(#?[\w$]+)\s*[:=]/gm)]
  const constants = [...code.matchAll(MODULE_CONST)].flatMap(([, name = '', type = '', value = '']) => {
    const at = String.raw`(?<![\w$.])${name.replaceAll('$', String.raw`\$`)}`
    const member = String.raw`(?:(?:\.#?[\w$]+|\[[^\]]*\])\s*)`
    const isChanged = [
      String.raw`${at}${member}*\??\.(?:${CHANGING})\(`,
      String.raw`${at}${member}+(?:[-+*/%&|^?]{0,2}=(?!=|>)|\+\+|--)`,
      String.raw`(?:\+\+|--|\bdelete )${at}`,
      String.raw`Object\.(?:assign|defineProperty|defineProperties)\(\s*${at}`,
    ].some((pattern) => new RegExp(pattern).test(code))
    // A pattern with g or y remembers where it stopped; matchAll and replace start anew.
    const remembers =
      /^\/.*\/[a-z]*[gy][a-z]*$/.test(value.trim()) && new RegExp(String.raw`${at}\.(?:exec|test)\(`).test(code)
    // An empty collection is there to be filled, by whoever it is handed to.
    const isToBeFilled = EMPTY.test(value.trim()) && !/\bReadonly|\breadonly\b/.test(type)
    return isChanged || remembers || isToBeFilled ? [name] : []
  })
  return [...variables, ...statics.map(([, name = '']) => name), ...constants]
}

/** The ways in which a text reads a clock, a timer or chance. */
export function clocksIn(text: string): readonly string[] {
  return [
    ...withoutComments(text).matchAll(
      /\bDate\.now\b|\bnew Date\(\s*\)|(?<!new )\bDate\(\s*\)|\bperformance\b|\bset(?:Timeout|Interval|Immediate)\b|\bMath\.random\b|\bprocess\.(?:hrtime|uptime)\b|\bTemporal\.Now\b/g,
    ),
  ].map(([found]) => found)
}
