import { isJsonObject, type JsonObject, nearest } from '../../kernel/index.ts'
import type { ConfigDocument } from '../schema/schema.ts'

/** A program whose output is a secret, with absolute path or a name in the system's directories. */
export interface SecretCommand {
  readonly command: readonly string[]
  /** OpenClaw's protocol: the request goes to stdin as JSON, the answer holds the value under this id. */
  readonly request?: { readonly provider: string; readonly id: string }
  /** `false`: the output is the secret itself, although there is a request. */
  readonly jsonOnly?: boolean
  /** Variables that the program gets besides the usual few. */
  readonly passEnv?: readonly string[]
}

/** The value of a secret in a resolved document when a command gives the secret; undefined for anything else. */
export function asSecretCommand(value: unknown): SecretCommand | undefined {
  return isJsonObject(value) && Array.isArray(value['command']) ? (value as unknown as SecretCommand) : undefined
}

/** Where a secret is, whatever the form it was written in. */
export type SecretReference =
  | { readonly type: 'env'; readonly name: string }
  /** `pointer`: the file is JSON, and this is the place in it. */
  | { readonly type: 'file'; readonly path: string; readonly pointer?: string }
  | { readonly type: 'command'; readonly command: SecretCommand }
  | { readonly type: 'wrong'; readonly why: string; readonly fix: string }

export type Providers = NonNullable<NonNullable<ConfigDocument['secrets']>['providers']>

const FORMS = 'Write { env: NAME }, { file: path } or { command: [program, argument] }.'

/** Reads `{ env }`, `{ file }`, `{ command }` and OpenClaw's `{ source, provider, id }`. Nothing is opened or run. */
export function readReference(value: JsonObject, providers: Providers): SecretReference {
  const { source, ...rest } = value
  if (typeof source === 'string') return readSourced(source, rest, providers)
  const [form, ...more] = Object.keys(rest).filter((key) => key !== 'args')
  const written = form === undefined ? undefined : rest[form]
  if (form === undefined || more.length > 0 || !['env', 'file', 'command'].includes(form))
    return wrong('needs exactly one of env, file, command', FORMS)
  if (form !== 'command' && Object.hasOwn(rest, 'args')) return wrong(`has args, which do not go with ${form}`, FORMS)
  if (form === 'env') return { type: 'env', name: String(written) }
  if (form === 'file') return { type: 'file', path: String(written) }
  return commandOf(rest)
}

/** Source: OpenClaw, "SecretRef contract". Without a provider the place is written in the reference itself. */
function readSourced(source: string, value: JsonObject, providers: Providers): SecretReference {
  const { provider, id } = value
  if (typeof provider !== 'string' || (provider === 'default' && !Object.hasOwn(providers, provider)))
    return readPlace(source, value)
  const other = strangerIn(value, ['id'])
  if (other !== undefined) return wrong(`has ${other}, which does not go with a provider`, FORMS)
  return readProvided(source, { provider, id: typeof id === 'string' ? id : '' }, providers)
}

function readPlace(source: string, value: JsonObject): SecretReference {
  const { id } = value
  const other = strangerIn(value, BESIDE[source] ?? [])
  if (other !== undefined) return wrong(`has ${other}, which does not go with source: ${source}`, FORMS)
  if (source === 'exec') return commandOf(value)
  if (source === 'file') return fileOf(value)
  return typeof id === 'string'
    ? { type: 'env', name: id }
    : wrong('needs id, the name of a variable', 'Write { source: env, id: NAME }.')
}

function fileOf({ path, file, id }: JsonObject): SecretReference {
  if (path !== undefined && file !== undefined) return wrong('has path and file', 'Keep one of them.')
  const named = path ?? file
  if (typeof named !== 'string') return wrong('needs path, or a provider', FORMS)
  return { type: 'file', path: named, pointer: typeof id === 'string' && id !== 'value' ? id : undefined }
}

/** Keys beside a source that names no provider of its own. */
const BESIDE: Readonly<Record<string, readonly string[]>> = {
  env: ['id'],
  file: ['path', 'file', 'id'],
  exec: ['command', 'args'],
}

/** A key that nothing would read. */
function strangerIn(value: JsonObject, known: readonly string[]): string | undefined {
  return Object.keys(value).find((key) => key !== 'provider' && !known.includes(key))
}

function readProvided(
  source: string,
  { provider, id }: { readonly provider: string; readonly id: string },
  providers: Providers,
): SecretReference {
  const found = Object.hasOwn(providers, provider) ? providers[provider] : undefined
  if (found === undefined) {
    const guess = nearest(provider, Object.keys(providers))
    return wrong(
      `refers to the provider "${provider}", which secrets.providers does not define`,
      guess === undefined ? 'Add it under secrets.providers.' : `Did you mean "${guess}"?`,
    )
  }
  if (found.source !== source)
    return wrong(
      `names source ${source}, but the provider "${provider}" is ${found.source}`,
      `Write source: ${found.source}.`,
    )
  return id === ''
    ? wrong('needs id', 'Add id: the variable, the JSON pointer in the file, or the id to ask for.')
    : fromProvider(found, { provider, id })
}

function fromProvider(
  found: Providers[string],
  { provider, id }: { readonly provider: string; readonly id: string },
): SecretReference {
  switch (found.source) {
    case 'env':
      return found.allowlist === undefined || found.allowlist.includes(id)
        ? { type: 'env', name: id }
        : wrong(
            `refers to a variable that is not in the allowlist of "${provider}"`,
            `Add ${id} to secrets.providers.${provider}.allowlist.`,
          )
    case 'file':
      return { type: 'file', path: found.path, pointer: found.mode === 'singleValue' ? undefined : id }
    case 'exec': {
      const { command, args = [], jsonOnly, passEnv } = found
      return checked({ command: [command, ...args], request: { provider, id }, jsonOnly, passEnv })
    }
  }
}

function commandOf({ command, args }: JsonObject): SecretReference {
  const more = Array.isArray(args) ? args : []
  if (Array.isArray(command))
    return command.length === 0
      ? wrong('has an empty command', FORMS)
      : checked({ command: [...command, ...more].map(String) })
  if (typeof command !== 'string') return wrong('needs command', FORMS)
  if (/\s/.test(command) && more.length === 0)
    return wrong('has a command with spaces', 'There is no shell: write a list, command: [program, argument].')
  return checked({ command: [command, ...more.map(String)] })
}

/** A relative path would depend on where Nexus was started. */
function checked(command: SecretCommand): SecretReference {
  const [program = ''] = command.command
  if (program === '') return wrong('has an empty command', FORMS)
  if (program.includes('/') && !program.startsWith('/') && !program.startsWith('~/'))
    return wrong('has a command with a relative path', 'Write the absolute path of the program.')
  return { type: 'command', command }
}

function wrong(why: string, fix: string): SecretReference {
  return { type: 'wrong', why, fix }
}
