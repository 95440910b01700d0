import { CLIENT_BLOCKS, isJsonObject, type JsonObject, type JsonValue, ownValue } from '../../../kernel/index.ts'
import { listIn } from '../fields/table.ts'
import type { KeyPath } from '../front.ts'
import { parseJson5 } from '../json5.ts'
import { checkKnownKeys, oneOf, TEXT, type ValueKind } from './claude.ts'
import { checkInstall } from './install.ts'
import { checkCompatibility, type Subject } from './spec.ts'

/** Keys of OpenClaw beyond the specification. Source: contracts §2.3, §2.4. */
const OPENCLAW_KEYS: Readonly<Record<string, ValueKind>> = {
  'command-dispatch': oneOf('tool'),
  'command-tool': TEXT,
  'command-arg-mode': oneOf('raw'),
}

/** Names of systems that Nexus reads and OpenClaw does not. */
const OTHER_NAMES: ReadonlySet<string> = new Set(['mac', 'osx', 'win'])

const TEXT_FIELD = (value: JsonValue): boolean => typeof value === 'string' && value.trim() !== ''

export function checkOpenclaw(subject: Subject): void {
  const { front, add } = subject
  checkKnownKeys(subject, 'OpenClaw', OPENCLAW_KEYS)
  checkCompatibility(subject)
  if (ownValue(front, 'command-dispatch') === 'tool' && !TEXT_FIELD(ownValue(front, 'command-tool') ?? null)) {
    add('field-value', { key: ['command-dispatch'] }, 'command-tool', 'OpenClaw', {
      wanted: 'the name of the tool that command-dispatch starts',
      example: 'command-tool: <name of the tool>',
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
  }
}

function checkFields(subject: Subject, fields: JsonObject, path: KeyPath): void {
  const os = ownValue(fields, 'os')
  if (os !== undefined && listIn(os).texts.some((name) => OTHER_NAMES.has(name.toLowerCase())))
    subject.add('field-value', { key: [...path, 'os'] }, [...path, 'os'].join('.'), 'OpenClaw', {
      wanted: 'a list of darwin, linux and win32',
      example: 'os: [darwin, linux]',
    })
  checkInstall(subject, fields, path)
}
