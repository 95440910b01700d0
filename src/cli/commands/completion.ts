import { NexusError } from '../../kernel/index.ts'
import type { Command, Invocation } from '../command.ts'
import { envelope } from '../envelope.ts'
import { COMMANDS } from '../table.ts'

const WRITERS = { bash, zsh, fish } as const

/** `nexus completion bash|zsh|fish`: a script for the shell, made from the table of commands. */
export function completion(invocation: Invocation): Promise<number> {
  const shell = invocation.positionals[0] ?? ''
  const write = Object.hasOwn(WRITERS, shell) ? WRITERS[shell as keyof typeof WRITERS] : undefined
  if (!write) {
    throw new NexusError('INVALID_ARGUMENT', `nexus completion: '${shell}' is no shell that is known here.`, {
      fix: 'nexus completion bash, zsh or fish',
    })
  }
  const { command, flags, terminal } = invocation
  if (flags['json'] === true) terminal.json(envelope(command, { shell, script: `${write()}\n` }))
  else terminal.line(write())
  return Promise.resolve(0)
}

/** Words that may follow each beginning of a command, and the options of each command. */
function branches(): {
  readonly groups: ReadonlyMap<string, readonly string[]>
  readonly commands: readonly Command[]
} {
  const groups = new Map<string, string[]>([['', []]])
  for (const { name } of COMMANDS) {
    const [first = '', second] = name.split(' ')
    const top = groups.get('') as string[]
    if (!top.includes(first)) top.push(first)
    if (second !== undefined) groups.set(first, [...(groups.get(first) ?? []), second])
  }
  return { groups, commands: COMMANDS }
}

function optionWords(command: Command): string[] {
  return ['--help', ...Object.keys(command.options ?? {}).map((name) => `--${name}`)]
}

function bash(): string {
  const { groups, commands } = branches()
  const cases = [
    ...[...groups]
      .filter(([group]) => group !== '')
      .map(([group, words]) => `    "${group}") words="${words.join(' ')}" ;;`),
    ...commands.map((command) => `    "${command.name}"*) words="${optionWords(command).join(' ')}" ;;`),
  ]
  return `# bash completion for nexus. Use: source <(nexus completion bash)
_nexus() {
  local current="\${COMP_WORDS[COMP_CWORD]}" words
  local line="\${COMP_WORDS[*]:1:COMP_CWORD-1}"
  line="\${line%"\${line##*[![:space:]]}"}"
  case "$line" in
    "") words="${(groups.get('') ?? []).join(' ')} --help --version" ;;
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  [[ \${#COMPREPLY[@]} -eq 0 ]] && COMPREPLY=($(compgen -f -- "$current"))
}
complete -o filenames -F _nexus nexus`
}

function zsh(): string {
  const { groups, commands } = branches()
  const describe = (words: readonly string[], prefix: string): string =>
    words.map((word) => quote(`${word}:${summaryOf(`${prefix}${word}`)}`)).join(' ')
  const cases = [
    ...[...groups]
      .filter(([group]) => group !== '')
      .map(
        ([group, words]) => `    ${quote(group)}) items=(${describe(words, `${group} `)}); _describe command items ;;`,
      ),
    ...commands.map(
      (command) => `    ${quote(command.name)}*) items=(${optionItems(command)}); _describe option items; _files ;;`,
    ),
  ]
  return `#compdef nexus
# zsh completion for nexus. Use: source <(nexus completion zsh)
_nexus() {
  local -a items
  local line="\${(j: :)words[2,CURRENT-1]}"
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

function fish(): string {
  const { groups, commands } = branches()
  const top = (groups.get('') ?? []).map(
    (word) => `complete -c nexus -f -n __fish_use_subcommand -a ${quote(word)} -d ${quote(summaryOf(word))}`,
  )
  const second = [...groups]
    .filter(([group]) => group !== '')
    .flatMap(([group, words]) =>
      words.map(
        (word) =>
          `complete -c nexus -f -n '__fish_seen_subcommand_from ${group}; and not __fish_seen_subcommand_from ${words.join(' ')}' -a ${quote(word)} -d ${quote(summaryOf(`${group} ${word}`))}`,
      ),
    )
  const options = commands.flatMap((command) =>
    Object.entries(command.options ?? {}).map(([name, option]) => {
      const seen = command.name
        .split(' ')
        .map((word) => `__fish_seen_subcommand_from ${word}`)
        .join('; and ')
      return `complete -c nexus -n '${seen}' -l ${name}${option.short === undefined ? '' : ` -s ${option.short}`}${option.type === 'string' ? ' -r' : ''} -d ${quote(option.help)}`
    }),
  )
  return ['# fish completion for nexus. Use: nexus completion fish | source', ...top, ...second, ...options].join('\n')
}

function summaryOf(name: string): string {
  return COMMANDS.find((command) => command.name === name)?.summary ?? `commands about ${name}`
}

/** A word that all three shells read as it stands. */
function quote(text: string): string {
  return `'${text.replaceAll("'", '’').replaceAll('\\', '')}'`
}
