import * as v from 'valibot'

/** Descriptions become the descriptions of the published JSON Schema: what an editor shows. */
export const about = v.description

const MOST = 1_000_000_000_000
/** A day in milliseconds times thirty. */
const LONGEST_MS = 2_592_000_000

export const text = v.pipe(v.string(), v.minLength(1))
export const texts = v.array(text)
export const count = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(MOST))
export const countOrNone = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(MOST))
/** Milliseconds; 0 where nothing limits. */
export const timeOrNone = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(LONGEST_MS))
export const time = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(LONGEST_MS))
export const url = v.pipe(v.string(), v.regex(/^(https?:\/\/|\$\{)/))
export const environmentName = v.pipe(v.string(), v.regex(/^[A-Za-z_][A-Za-z0-9_]*$/))
export const identifier = v.pipe(v.string(), v.regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/))
/** As Go reads one, and days: `1h30m`, `1.5h`, `0`. None is negative. Source: seed 001 §7.1, `time.Duration`. */
export const DURATION = /^(?:0|(?:(?:\d+(?:\.\d*)?|\.\d+)(?:ns|[u\u00b5\u03bc]s|ms|s|m|h|d))+)$/
export const duration = v.pipe(v.string(), v.regex(DURATION))
export const port = v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(65_535))

/** A secret as text, `${ENV}`, or a reference in our form or in that of OpenClaw. Which keys go together is checked when it is read. */
export const secret = v.pipe(
  v.union([
    v.string(),
    v.strictObject({
      env: v.optional(v.pipe(environmentName, about('Name of an environment variable.'))),
      file: v.optional(v.pipe(text, about('A file that holds the secret; the last line break is not part of it.'))),
      command: v.optional(
        v.pipe(
          v.union([text, texts]),
          about('A program and its arguments whose output is the secret. No shell; 5 s, 64 KiB.'),
        ),
      ),
      args: v.optional(v.pipe(texts, about('With source: exec and a command that is one text: its arguments.'))),
      source: v.optional(v.pipe(v.picklist(['env', 'file', 'exec']), about('OpenClaw’s form: where the secret is.'))),
      provider: v.optional(v.pipe(text, about('OpenClaw’s form: a name of secrets.providers.'))),
      id: v.optional(
        v.pipe(text, about('OpenClaw’s form: the variable, the JSON pointer in the file, or the id asked for.')),
      ),
      path: v.optional(v.pipe(text, about('With source: file and no provider: the file.'))),
    }),
  ]),
  v.title('Secret'),
  about('A text, "${NAME}", or a map: { env }, { file }, { command: [program, …] }, or { source, provider, id }.'),
)

/** Values that are given to a process or sent as headers. */
export const environmentValues = v.record(environmentName, v.union([v.string(), v.number(), v.boolean()]))
