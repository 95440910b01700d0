import { CLIENT_BLOCKS, isJsonObject, type JsonObject, type JsonValue, ownValue } from '../../kernel/index.ts'
import type { KeyPath } from '../front.ts'
import { parseJson5 } from '../json5.ts'
import { shown } from '../shown.ts'
import { checkKnownKeys, FLAG, oneOf, TEXT, type ValueKind } from './claude.ts'
import type { Subject } from './findings.ts'
import { checkInstall } from './install.ts'
import { checkCompatibility } from './spec.ts'

/** Keys of OpenClaw beyond the specification. Source: contracts §2.3, §2.4. */
const OPENCLAW_KEYS: Readonly<Record<string, ValueKind | undefined>> = {
  homepage: undefined,
  'user-invocable': undefined,
  'disable-model-invocation': undefined,
  'command-dispatch': oneOf('tool'),
  'command-tool': TEXT,
  'command-arg-mode': oneOf('raw'),
}

const OS_WORDS = ['darwin', 'linux', 'win32', 'windows', 'macos']
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/

const TEXT_FIELD = (value: JsonValue): boolean => typeof value === 'string' && value.trim() !== ''
const FIELDS: Readonly<Record<string, { accepts: (value: JsonValue) => boolean; means: string; example: string }>> = {
  emoji: {
    accepts: (value) => typeof value === 'string' && value.length <= 32,
    means: 'one emoji',
    example: 'emoji: "🔧"',
  },
  always: { accepts: FLAG.accepts, means: 'true or false', example: 'always: true' },
  skillKey: { accepts: TEXT_FIELD, means: 'text', example: 'skillKey: my-skill' },
  primaryEnv: {
    accepts: (value) => typeof value === 'string' && VARIABLE.test(value.trim()),
    means: 'the name of a variable',
    example: 'primaryEnv: MY_API_KEY',
  },
}

/** What OpenClaw wants of a skill: its keys, and the gating fields under `metadata`. */
export function checkOpenclaw(subject: Subject): void {
  const { front, add } = subject
  checkKnownKeys(subject, 'OpenClaw', OPENCLAW_KEYS)
  checkCompatibility(subject)
  if (ownValue(front, 'command-dispatch') === 'tool' && !TEXT_FIELD(ownValue(front, 'command-tool') ?? null)) {
    add('field-value', 'command-dispatch: tool needs the name of the tool in command-tool', {
      key: ['command-dispatch'],
      fix: 'write: command-tool: <name of the tool>',
    })
  }
  const value = ownValue(front, 'metadata')
  const metadata = typeof value === 'string' ? parseJson5(value) : value
  if (!isJsonObject(metadata)) return
  checkFields(subject, metadata, ['metadata'])
  for (const alias of CLIENT_BLOCKS) {
    const given = ownValue(metadata, alias)
    const inner = typeof given === 'string' ? parseJson5(given) : given
    if (isJsonObject(inner)) checkFields(subject, inner, ['metadata', alias])
    else if (given !== undefined && given !== null)
      add('metadata-field', `metadata.${alias} must be a mapping`, {
        key: ['metadata', alias],
        fix: `write its fields below ${alias}:, indented by two more spaces`,
      })
  }
}

function checkFields(subject: Subject, fields: JsonObject, path: KeyPath): void {
  for (const [key, value] of Object.entries(fields)) {
    if (value === null) continue
    const field = Object.hasOwn(FIELDS, key) ? FIELDS[key] : undefined
    if (field !== undefined && !field.accepts(value)) {
      subject.add('metadata-field', `${[...path, key].join('.')} must be ${field.means}`, {
        key: [...path, key],
        fix: `write: ${field.example}`,
      })
    }
  }
  checkSystems(subject, fields, path)
  checkInstall(subject, fields, path)
}

function checkSystems({ add }: Subject, fields: JsonObject, path: KeyPath): void {
  const given = ownValue(fields, 'os')
  const names = typeof given === 'string' ? given.split(',') : Array.isArray(given) ? (given as JsonValue[]) : []
  for (const name of names) {
    if (typeof name !== 'string' || OS_WORDS.includes(name.trim().toLowerCase())) continue
    add('metadata-field', `${[...path, 'os'].join('.')} names ${shown(name)}, which is no system`, {
      key: [...path, 'os'],
      fix: 'write: os: [darwin, linux, win32], or those of them that work',
    })
  }
}
