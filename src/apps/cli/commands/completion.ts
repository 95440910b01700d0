import { commandFix, toSafeLine } from '../../../kernel/index.ts'
import { errorOf } from '../failure.ts'
import {
  type Answer,
  choiceFlag,
  CHOICES,
  type Command,
  type Invocation,
  type Names,
  type OptionSpec,
} from '../command.ts'

const WRITERS: Readonly<Record<(typeof CHOICES.shell)[number], (commands: Commands) => string>> = { bash, zsh, fish }

type Commands = readonly Command[]

/** `nexus completion bash|zsh|fish`: a script for the shell, made from the table of commands; `--names` is what it asks for. */
export async function completion(invocation: Invocation, commands: Commands): Promise<Answer> {
  const { terminal } = invocation
  const kind = choiceFlag(invocation, 'names', CHOICES.names)
  if (kind !== undefined) {
    const { namesOf } = await import('./completion-names.ts')
    const names = await namesOf(kind, invocation)
    return { data: { names }, show: () => names.forEach((name) => terminal.line(name)) }
  }
  const shell = invocation.positionals[0] ?? ''
  const write = Object.hasOwn(WRITERS, shell) ? WRITERS[shell as keyof typeof WRITERS] : undefined
  if (!write)
    throw errorOf(
      'INVALID_ARGUMENT',
      `There is no completion for the shell '${toSafeLine(shell)}'. Supported: bash, zsh, fish.`,
      commandFix('For example:', 'completion', 'bash'),
    )
  const script = `${write(commands)}\n`
  return { data: { shell, script }, show: () => terminal.write(script) }
}

/** The words that may follow each beginning of a command; those of the whole command line under ''. */
function branches(commands: Commands): ReadonlyMap<string, readonly string[]> {
  const groups = new Map<string, string[]>([['', []]])
  for (const { name } of commands) {
    const [first = '', second] = name.split(' ')
    const top = groups.get('') as string[]
    if (!top.includes(first)) top.push(first)
    if (second !== undefined) groups.set(first, [...(groups.get(first) ?? []), second])
  }
  return groups
}

function optionWords(command: Command): string[] {
  return ['--help', ...Object.keys(command.options ?? {}).map((name) => `--${name}`)]
}

/** What may follow an option that takes a value: some words, names of this workspace, a file, a directory, or anything. */
type Value = readonly string[] | Names | 'file' | 'directory' | 'anything'

/** The options of a command that take a value, each as it is typed, long or short. */
function values({ options = {} }: Command): { readonly typed: readonly string[]; readonly value: Value }[] {
  return Object.entries(options)
    .filter(([, { type }]) => type === 'string')
    .map(([name, option]) => ({
      typed: [`--${name}`, ...(option.short === undefined ? [] : [`-${option.short}`])],
      value: valueOf(option),
    }))
}

function valueOf({ choices, names, value }: OptionSpec): Value {
  const offered = choices ?? names
  if (offered) return offered
  if (value === 'FILE') return 'file'
  return value === 'DIR' ? 'directory' : 'anything'
}

function bash(commands: Commands): string {
  const groups = branches(commands)
  const offer = (value: Value): string => {
    if (typeof value !== 'string') return `words="${value.join(' ')}" files=""`
    if (isNames(value)) return `words="$(_nexus_names ${value})" files=""`
    return { file: 'words="" files="-f"', directory: 'words="" files="-d"', anything: 'return' }[value]
  }
  const cases = commands.map((command) => {
    const after = values(command).map(({ typed, value }) => `${typed.join('|')}) ${offer(value)} ;;`)
    const rest = `words="${optionWords(command).join(' ')}"`
    const names = command.names && `words="$(_nexus_names ${command.names}) ${optionWords(command).join(' ')}"`
    const choices = command.choices && `words="${command.choices.join(' ')}" files=""`
    const first = (names ?? choices) && `    "${command.name}") ${names ?? choices} ;;\n`
    return `${first ?? ''}    "${command.name}"*) ${rest}${after.length === 0 ? '' : `\n      case "$previous" in ${after.join(' ')} esac`} ;;`
  })
  return `# bash completion for nexus. Use: source <(nexus completion bash)
_nexus_names() { [[ \${COMP_WORDS[COMP_CWORD]} == -* ]] || "\${COMP_WORDS[0]}" completion --names "$1" 2>/dev/null; }
_nexus() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" words="" files="-f"
  if [[ $current == "=" ]]; then current=""
  elif [[ $previous == "=" ]]; then previous="\${COMP_WORDS[COMP_CWORD-2]}"; fi
  local line="\${COMP_WORDS[*]:1:COMP_CWORD-1}"
  line="\${line%"\${line##*[![:space:]]}"}"
  COMPREPLY=()
  case "$line" in
    "") words="${(groups.get('') ?? []).join(' ')} --help --version" ;;
${[...[...groups].filter(([group]) => group !== '').map(([group, words]) => `    "${group}") words="${words.join(' ')}" ;;`), ...cases].join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  [[ \${#COMPREPLY[@]} -eq 0 && -n $files ]] && COMPREPLY=($(compgen $files -- "$current"))
  return 0
}
complete -o filenames -F _nexus nexus`
}

function zsh(commands: Commands): string {
  const groups = branches(commands)
  const describe = (words: readonly string[], prefix: string): string =>
    words.map((word) => quote(`${word}:${summaryOf(`${prefix}${word}`, commands)}`)).join(' ')
  const offer = (value: Value): string => {
    if (typeof value !== 'string') return `compadd -- ${value.join(' ')}`
    if (isNames(value)) return `compadd -- \${(f)"$(_nexus_names ${value})"}`
    return { file: '_files', directory: '_files -/', anything: "_message 'value'" }[value]
  }
  const cases = [
    ...[...groups]
      .filter(([group]) => group !== '')
      .map(
        ([group, words]) => `    ${quote(group)}) items=(${describe(words, `${group} `)}); _describe command items ;;`,
      ),
    ...commands.map((command) => {
      const after = values(command).map(({ typed, value }) => `        ${typed.join('|')}) ${offer(value)} ;;`)
      const options = `items=(${optionItems(command)}); _describe option items; _files`
      const names = command.names && `${offer(command.names)}; items=(${optionItems(command)}); _describe option items`
      const choices = command.choices && offer(command.choices)
      const first = (names ?? choices) && `    ${quote(command.name)}) ${names ?? choices} ;;\n`
      if (after.length === 0) return `${first ?? ''}    ${quote(command.name)}*) ${options} ;;`
      return `${first ?? ''}    ${quote(command.name)}*)
      case "$previous" in
${after.join('\n')}
        *) ${options} ;;
      esac ;;`
    }),
  ]
  return `#compdef nexus
# zsh completion for nexus. Use: source <(nexus completion zsh)
_nexus_names() { $words[1] completion --names $1 2>/dev/null }
_nexus() {
  local -a items
  local line="\${(j: :)words[2,CURRENT-1]}" previous="$words[CURRENT-1]"
  if [[ "$words[CURRENT]" == --*=* ]]; then
    previous="\${words[CURRENT]%%=*}"
    compset -P '*='
  fi
  case "$line" in
    '') items=(${describe(groups.get('') ?? [], '')}); _describe command items ;;
${cases.join('\n')}
    *) _files ;;
  esac
}
compdef _nexus nexus`
}

function optionItems(command: Command): string {
  const options = Object.entries(command.options ?? {}).map(([name, option]) => quote(`--${name}:${option.help}`))
  return [quote('--help:help with examples'), ...options].join(' ')
}

/** Names come from the program that was typed. fish complains of an unknown command even with 2>/dev/null. */
const FISH_START = `# fish completion for nexus. Use: nexus completion fish | source
function _nexus_names
  set -l typed (commandline -opc)[1]
  command -q $typed; and $typed completion --names $argv[1] 2>/dev/null
end`

function fish(commands: Commands): string {
  const groups = branches(commands)
  const top = (groups.get('') ?? []).map(
    (word) => `complete -c nexus -f -n __fish_use_subcommand -a ${quote(word)} -d ${quote(summaryOf(word, commands))}`,
  )
  const second = [...groups]
    .filter(([group]) => group !== '')
    .flatMap(([group, words]) =>
      words.map(
        (word) =>
          `complete -c nexus -f -n '__fish_seen_subcommand_from ${group}; and not __fish_seen_subcommand_from ${words.join(' ')}' -a ${quote(word)} -d ${quote(summaryOf(`${group} ${word}`, commands))}`,
      ),
    )
  const options = commands.flatMap((command) => {
    const seen = command.name
      .split(' ')
      .map((word) => `__fish_seen_subcommand_from ${word}`)
      .join('; and ')
    const offered = command.choices?.join(' ') ?? (command.names && fishNames(command.names))
    const words = offered && `complete -c nexus -f -n '${seen}' -a '${offered}'`
    return [
      ...(words === undefined ? [] : [words]),
      ...Object.entries(command.options ?? {}).map(([name, option]) => {
        const short = option.short === undefined ? '' : ` -s ${option.short}`
        return `complete -c nexus -n '${seen}' -l ${name}${short}${fishValue(option)} -d ${quote(option.help)}`
      }),
    ]
  })
  return [FISH_START, ...top, ...second, ...options].join('\n')
}

function fishValue(option: OptionSpec): string {
  if (option.type !== 'string') return ''
  const value = valueOf(option)
  if (typeof value !== 'string') return ` -x -a '${value.join(' ')}'`
  if (isNames(value)) return ` -x -a '${fishNames(value)}'`
  return { file: ' -r -F', directory: " -x -a '(__fish_complete_directories)'", anything: ' -x' }[value]
}

function isNames(value: string): value is Names {
  return CHOICES.names.some((kind) => kind === value)
}

function fishNames(kind: Names): string {
  return `(_nexus_names ${kind})`
}

function summaryOf(name: string, commands: Commands): string {
  return commands.find((command) => command.name === name)?.summary ?? `commands about ${name}`
}

/** A word that all three shells read literally. */
function quote(text: string): string {
  return `'${text.replaceAll("'", '’').replaceAll('\\', '')}'`
}
