import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseArgs, type ParseArgsConfig } from 'node:util'
import fc from 'fast-check'
import { readArguments } from '../../src/cli/arguments/read-arguments.ts'

const OPTIONS = {
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
  config: { type: 'string' },
  'skills-dir': { type: 'string', multiple: true },
  verbose: { type: 'boolean', multiple: true },
} as const satisfies NonNullable<ParseArgsConfig['options']>

const WORDS = [
  ...['--json', '--help', '-h', '--config', '--skills-dir', '--verbose', '--nope', '--__proto__', '--constructor'],
  ...['--json=1', '--config=a', '--config=', '-', '-x', '-hx', '--', '---', 'a', '', 'a=b', '__proto__', ' --json'],
]

function attempt<T>(read: () => T): { readonly result: T } | { readonly error: unknown } {
  try {
    return { result: read() }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    return { error: { code, message } }
  }
}

test('arguments are read as util.parseArgs reads them, and refused in its words', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...WORDS), { maxLength: 6 }), (args) => {
      const expected = attempt(() => {
        const { values, positionals } = parseArgs({ args, options: OPTIONS, allowPositionals: true, strict: true })
        return { values, positionals }
      })
      const actual = attempt(() => {
        const { values, positionals } = readArguments(args, OPTIONS)
        return { values, positionals }
      })
      assert.deepEqual(actual, expected)
    }),
    { numRuns: 2_000 },
  )
})
