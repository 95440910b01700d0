import { loadConfig } from '../../../config/index.ts'
import { commandFix, nearest, toSafeLine } from '../../../kernel/index.ts'
import { inspectSkills } from '../../../local/index.ts'
import { everyCopy } from '../../../skills/catalog/index.ts'
import {
  type Answer,
  CHOICES,
  type Command,
  commandIn,
  type Invocation,
  type Names,
  type OptionSpec,
} from '../command.ts'
import { errorOf } from '../failure.ts'
import { openStored } from '../stored.ts'

/** Each passes the words up to the cursor to the `nexus` that was typed. It answers with `file`, `directory` or `none`, then one offer a line. */
const SCRIPTS: Readonly<Record<(typeof CHOICES.shell)[number], string>> = {
  bash: `# bash completion for nexus. Use: source <(nexus completion bash)
_nexus() {
  local IFS=$'\\n' current="\${COMP_WORDS[COMP_CWORD]}" offers
  offers=($("\${COMP_WORDS[0]}" completion bash -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
  [[ $current == "=" ]] && current=""
  COMPREPLY=($(compgen -W "\${offers[*]:1}" -- "$current"))
  case "\${offers[0]}" in
    file) COMPREPLY+=($(compgen -f -- "$current")) ;;
    directory) COMPREPLY+=($(compgen -d -- "$current")) ;;
  esac
}
complete -o filenames -F _nexus nexus
`,
  zsh: `#compdef nexus
# zsh completion for nexus. Use: source <(nexus completion zsh)
_nexus() {
  local -a offers
  offers=("\${(@f)$($words[1] completion zsh -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  [[ "$words[CURRENT]" == --*=* ]] && compset -P '*='
  local kind="$offers[1]"
  shift offers
  (( $#offers )) && _describe nexus offers
  case "$kind" in
    file) _files ;;
    directory) _files -/ ;;
  esac
}
compdef _nexus nexus
`,
  // fish complains of an unknown command even with 2>/dev/null.
  fish: `# fish completion for nexus. Use: nexus completion fish | source
function _nexus_offers
  set -l typed (commandline -opc)
  set -l current (commandline -ct)
  set -l program $typed[1]
  set -e typed[1]
  command -q $program; or return
  set -l offers ($program completion fish -- $typed "$current" 2>/dev/null)
  printf '%s\\n' $offers[2..-1]
  switch "$offers[1]"
    case file
      __fish_complete_path "$current"
    case directory
      __fish_complete_directories "$current"
  end
end
complete -c nexus -f -a '(_nexus_offers)'
`,
}

/** `nexus completion bash|zsh|fish`: the script for the shell; with words after --, what may take the place of the last. */
export async function completion(invocation: Invocation, commands: readonly Command[]): Promise<Answer> {
  const { terminal, positionals, rest } = invocation
  const given = positionals[0] ?? ''
  const shell = CHOICES.shell.find((known) => known === given)
  if (shell === undefined) {
    const message = `There is no completion for the shell '${toSafeLine(given)}'. Supported: ${CHOICES.shell.join(', ')}.`
    const fix = commandFix('For example:', 'completion', nearest(given, CHOICES.shell) ?? 'bash')
    throw errorOf('INVALID_ARGUMENT', message, fix)
  }
  if (rest.length === 0) return { data: { shell, script: SCRIPTS[shell] }, show: () => terminal.write(SCRIPTS[shell]) }
  const { paths, offers } = await offersFor(rest, invocation, commands)
  // fish replaces the whole of `--style=`.
  const [prefix = ''] = /^--[\w-]+=/.exec(rest.at(-1) ?? '') ?? []
  const lines = offers.map(({ word, help }) => {
    if (shell === 'bash') return word
    return shell === 'fish' ? `${prefix}${word}\t${help}` : `${word.replaceAll(':', '\\:')}:${help}`
  })
  return { data: { paths, offers }, show: () => [paths, ...lines].forEach((line) => terminal.line(line)) }
}

interface Offer {
  readonly word: string
  readonly help: string
}

interface Offers {
  /** Paths that the shell offers besides. */
  readonly paths: 'none' | 'file' | 'directory'
  readonly offers: readonly Offer[]
}

async function offersFor(
  given: readonly string[],
  invocation: Invocation,
  commands: readonly Command[],
): Promise<Offers> {
  const words = (given.at(-1) === '=' ? [...given, ''] : given).flatMap((word) => {
    if (word === '=') return []
    return /^(--[\w-]+)=(.*)$/.exec(word)?.slice(1) ?? [word]
  })
  const before = words.slice(0, -1)
  const current = words.at(-1) ?? ''
  const command = commandIn(commands, before)
  const next = [...nextWords(before, commands), { word: '--help', help: 'help with examples' }]
  if (command === undefined) return { paths: 'none', offers: [...next, { word: '--version', help: 'the version' }] }
  const { options = {}, choices } = command
  const last = before.at(-1)
  const option = Object.entries(options).find(([name, { short }]) => last === `--${name}` || last === `-${short}`)?.[1]
  if (option?.type === 'string') return valueOffers(option, invocation)
  const offers = [...next, ...Object.entries(options).map(([name, { help }]) => ({ word: `--${name}`, help }))]
  if (current.startsWith('-')) return { paths: 'none', offers }
  const names = await namesOf(command, invocation)
  const takesPath = choices === undefined && (names.length === 0 || current.includes('/'))
  return { paths: takesPath ? 'file' : 'none', offers: [...names, ...offers] }
}

function nextWords(before: readonly string[], commands: readonly Command[]): readonly Offer[] {
  const typed = [...before, ''].join(' ')
  const next = new Map<string, string>()
  for (const { name, summary } of commands) {
    const [word = '', ...more] = name.startsWith(typed) ? name.slice(typed.length).split(' ') : []
    if (word !== '' && !next.has(word)) next.set(word, more.length === 0 ? summary : `commands about ${word}`)
  }
  return [...next].map(([word, help]) => ({ word, help }))
}

async function valueOffers(option: OptionSpec, invocation: Invocation): Promise<Offers> {
  const offers = await namesOf(option, invocation)
  if (offers.length > 0) return { paths: 'none', offers }
  if (option.value === 'FILE') return { paths: 'file', offers }
  return { paths: option.value === 'DIR' ? 'directory' : 'none', offers }
}

/** The words of one list, or names of this workspace. A name with a space or a control character cannot be completed and is left out. */
async function namesOf(
  { choices, names: kind }: Pick<Command, 'choices' | 'names'>,
  invocation: Invocation,
): Promise<readonly Offer[]> {
  if (choices) return choices.map((word) => ({ word, help: '' }))
  const names = kind === undefined ? [] : await FINDERS[kind](invocation)
  const shown = [...new Set(names)].filter((name) => !/\s/.test(name) && toSafeLine(name) === name)
  return shown.toSorted().map((word) => ({ word, help: '' }))
}

const FINDERS: Readonly<Record<Names, (invocation: Invocation) => Promise<readonly string[]>>> = {
  async skills({ cwd, environment }) {
    const catalog = (await inspectSkills({ cwd, environment, tolerateConfigErrors: true })).catalog()
    return [...everyCopy(catalog), ...catalog.invalid].map(({ name }) => name)
  },
  async agents({ cwd, environment }) {
    return (await loadConfig({ cwd, environment })).config.agents.map(({ id }) => id)
  },
  async codes() {
    return [...(await import('./explain.ts')).meanings().keys()]
  },
  async sessions(invocation) {
    await using opened = await openStored(invocation)
    const { store, scope } = opened
    return (await store.sessions.list({ limit: 100, scope })).map(({ id }) => id)
  },
}
