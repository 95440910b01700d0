import * as v from 'valibot'
import { VARIABLE_NAME } from '../../kernel/index.ts'

/** Descriptions become the descriptions of the published JSON Schema: what an editor shows. */
export const about = v.description

type AnySchema = v.BaseSchema<unknown, unknown, v.BaseIssue<unknown>>

/** A setting that may be absent, with what an editor says of it, and the value that holds then if there is one. */
export function setting<const S extends AnySchema>(schema: S, words: string): v.OptionalSchema<S, undefined>
export function setting<const S extends AnySchema, const D extends v.InferInput<S>>(
  schema: S,
  words: string,
  value: D,
): v.OptionalSchema<S, D>
export function setting<const S extends AnySchema>(
  schema: S,
  words: string,
  value?: v.InferInput<S>,
): v.OptionalSchema<S, unknown> {
  return v.optional(v.pipe(schema, v.description(words)) as unknown as S, value) as v.OptionalSchema<S, unknown>
}

/**
 * `name` and `path` are public and `address` is up to its host; any other text is shown only where
 * a person is asked for consent. `secret` may be a reference, and its value is blanked wherever it appears.
 */
export type Holds = 'name' | 'path' | 'address' | 'secret'

/** How a file of an untrusted workspace may change a setting. The checks are in `layers/restrict.ts`. */
export type Tightening = 'add' | 'disable' | 'remove' | 'narrow-profile' | 'this-machine' | 'lower' | 'lower-or-none'

/** A setting that is checked and that this version does not act on. */
export interface Unused {
  /** Completes "This version does not …". */
  readonly what: string
  /** `warning` where the user could rely on it, `info` where it waits for its command. */
  readonly severity: 'warning' | 'info'
  /** Only this value; default any. */
  readonly value?: string
  readonly instead?: string
}

/** A value that asks for another machine than this one. */
export const elsewhere = (value?: string): Unused => ({
  value,
  what: 'run commands in E2B sandboxes',
  severity: 'warning',
  instead: 'they run in the local sandbox of this machine',
})

/** All that a setting says of itself besides its form, its words and its default. */
export interface Rules {
  readonly holds?: Holds
  /** Where a pattern allows few strings. */
  readonly example?: string
  /**
   * How two files combine; default maps key by key, else the later file wins. `whole` keeps a key from another file's address, and
   * with `add-before` the file that weighs more comes first in a search.
   */
  readonly merge?: 'whole' | 'add' | 'add-before' | 'by-id'
  /** Default: an untrusted workspace may not set it. */
  readonly untrusted?: Tightening
  /** Never from a workspace, trusted or not; with a text only that value. */
  readonly usersOnly?: true | string
  /** How strings at and below it are read, but for paths. `literal` may contain `${` as it likes; `plain`, the default, may not. */
  readonly texts?: 'literal' | 'plain' | 'value' | 'secret' | 'module'
  /** It is left out as a whole when a reference in it leads nowhere. */
  readonly isUnit?: true
  readonly unused?: Unused
}

/** The schema with rules; where one is inside another, the inner rules come first. */
export function is<const S extends AnySchema>(schema: S, rules: Rules): S {
  return v.pipe(schema, v.metadata({ ...rules })) as unknown as S
}

export const NAME = { holds: 'name' } as const satisfies { readonly holds: Holds }
const PATH = { holds: 'path' } as const satisfies { readonly holds: Holds }
const ADDRESS = { holds: 'address' } as const satisfies { readonly holds: Holds }
const SECRET = { holds: 'secret' } as const satisfies { readonly holds: Holds }

const MOST = 1_000_000_000_000
/** A day in milliseconds times thirty. */
const LONGEST_MS = 2_592_000_000

/** Any text, such as a program or what a model reads. */
export const text = v.pipe(v.string(), v.minLength(1))
export const texts = v.array(text)
/** A text that names something: a skill, a tool, a variable, a host. */
export const name = v.pipe(text, v.metadata(NAME))
export const names = v.array(name)
export const path = v.pipe(text, v.metadata(PATH))
export const paths = v.array(path)
const LABEL = String.raw`[^\s.:/?#@*%\\[\]]{1,63}`
const DOMAIN = String.raw`(?:\*\.)?(?:${LABEL}\.)+(?!\d)${LABEL}`
const PORT = String.raw`:[1-9]\d{0,4}`
const HOST = new RegExp(`^(?:localhost${PORT}|${DOMAIN}(?:${PORT})?)$`)
const EXAMPLE = { ...NAME, example: 'api.example.com' } as const
/** Hosts that commands may reach. What a pattern cannot say of them is checked when all files are together. */
export const hosts = v.array(
  v.pipe(
    text,
    v.regex(HOST, 'a host such as api.example.com, *.example.com, example.com:8443 or localhost:5432'),
    v.metadata(EXAMPLE),
  ),
)
/** The same without ports: names that contain hosts. */
export const domains = v.array(
  v.pipe(
    text,
    v.regex(new RegExp(`^${DOMAIN}$`), 'a host such as api.example.com or *.example.com, without a port'),
    v.metadata(EXAMPLE),
  ),
)
export const count = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(MOST))
export const countOrNone = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(MOST))
/** Milliseconds; 0 where nothing limits. */
export const timeOrNone = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(LONGEST_MS))
export const time = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(LONGEST_MS))
export const address = v.pipe(text, v.metadata(ADDRESS))
export const url = v.pipe(
  v.string(),
  v.regex(/^(https?:\/\/|\$\{)/, 'an http or https address'),
  v.metadata({ ...ADDRESS, example: 'https://example.com' }),
)
const environmentName = v.pipe(
  v.string(),
  v.regex(VARIABLE_NAME, 'letters, digits and underscores, such as GITHUB_TOKEN'),
  v.metadata({ example: 'GITHUB_TOKEN' }),
)
export const variable = v.pipe(environmentName, v.metadata({ ...NAME, example: 'GITHUB_TOKEN' }))
export const identifier = v.pipe(
  v.string(),
  v.regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, '1 to 64 letters, digits, dots, underscores and hyphens'),
  v.metadata({ ...NAME, example: 'main' }),
)
/** Go’s form, and days: `1h30m`, `1.5h`, `0`. None is negative. Source: seed 001 §7.1, `time.Duration`. */
export const duration = v.pipe(
  v.string(),
  v.regex(/^(?:0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|[u\u00b5\u03bc]s|ms|s|m|h|d))+)$/, 'a duration such as 24h or 1h30m'),
  v.metadata({ ...NAME, example: '24h' }),
)
export const port = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(65_535))

/** A secret as text, `${ENV}`, or a reference in our form or in that of OpenClaw. Which keys go together is checked when it is read. */
export const secret = v.pipe(
  v.union([
    v.string(),
    v.strictObject({
      env: setting(environmentName, 'Name of an environment variable.'),
      file: setting(text, 'A file that contains the secret; the last line break is not part of it.'),
      command: setting(
        v.union([text, texts]),
        'A program and its arguments whose output is the secret. No shell; 5 s, 64 KiB.',
      ),
      args: setting(texts, 'With source: exec and a command that is one text: its arguments.'),
      source: setting(v.picklist(['env', 'file', 'exec']), 'OpenClaw’s form: where the secret is.'),
      provider: setting(text, 'OpenClaw’s form: a name of secrets.providers.'),
      id: setting(text, 'OpenClaw’s form: the variable, the JSON pointer in the file, or the id asked for.'),
      path: setting(text, 'With source: file and no provider: the file.'),
    }),
  ]),
  v.title('Secret'),
  about('A text, "${NAME}", or a map: { env }, { file }, { command: [program, …] }, or { source, provider, id }.'),
  v.metadata(SECRET),
)

/** Values that are given to a process or sent as headers. */
export const environmentValues = v.record(
  environmentName,
  v.pipe(v.union([v.string(), v.number(), v.boolean()]), v.metadata(SECRET)),
)
export const headers = v.record(text, v.pipe(v.string(), v.metadata(SECRET)))
