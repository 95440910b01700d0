import assert from 'node:assert/strict'
import { test } from 'node:test'

import fc from 'fast-check'

import { expand, splitArguments } from '../../../src/skills/load/index.ts'

const DIRECTORY = '/skills/x'

function expanded(body: string, args = '', argumentNames: readonly string[] = []): string {
  return expand(body, { args, argumentNames, baseDir: DIRECTORY })
}

function placed(body: string, baseDir: string, argumentNames: readonly string[] = []): string {
  return expand(body, { args: '', argumentNames, baseDir })
}

test('$ARGUMENTS is replaced everywhere by the trimmed arguments', () => {
  assert.equal(expanded('Do $ARGUMENTS, then `$ARGUMENTS`, $ARGUMENTS/spec.', '  it \n'), 'Do it, then `it`, it/spec.')
})

test('without a placeholder, arguments are appended after a blank line', () => {
  assert.equal(expanded('# Body\n', ' a b '), '# Body\n\nARGUMENTS: a b')
  assert.equal(expanded('', 'a'), 'ARGUMENTS: a')
})

test('without arguments, the placeholder is erased and nothing is appended', () => {
  assert.equal(expanded('Do $ARGUMENTS.'), 'Do .')
  assert.equal(expanded('# Body\n\n$ARGUMENTS\n', '   '), '# Body')
  assert.equal(expanded('# Body'), '# Body')
})

test('what is special to replace() is literal in arguments and directories', () => {
  const special = "$& $` $' $1 $$ $<name>"
  assert.equal(expanded('[$ARGUMENTS]', special), `[${special}]`)
  assert.equal(placed('[{baseDir}]', `/a/${special}`), `[/a/${special}]`)
})

test('each name of the directory is replaced, also with a space and a quote in it', () => {
  const body = '{baseDir}/a ${CLAUDE_SKILL_DIR}/b ${NEXUS_SKILL_DIR}/c ${OTHER_DIR} $baseDir'
  const directory = "/skills/base dir'q"
  assert.equal(placed(body, directory), `${directory}/a ${directory}/b ${directory}/c \${OTHER_DIR} $baseDir`)
})

test('what comes from arguments is never expanded again', () => {
  assert.equal(expanded('$ARGUMENTS', '{baseDir} $ARGUMENTS'), '{baseDir} $ARGUMENTS')
  assert.equal(expanded('$0 and $1', "'{baseDir}' '$0'", ['a', 'b']), '{baseDir} and $0')
  assert.equal(placed('{baseDir}', '/$ARGUMENTS/$x', ['x']), '/$ARGUMENTS/$x')
})

test('without declared arguments, $1 and $name are text and a backslash is a backslash', () => {
  assert.equal(
    expanded(String.raw`$1 $0 $name awk '{print $2}' \$ARGUMENTS`, 'x y'),
    String.raw`$1 $0 $name awk '{print $2}' \x y`,
  )
})

test('declared arguments have places counted from 0, names, and the whole', () => {
  const body = '$0 $1 $ARGUMENTS[0] $ARGUMENTS[1] $old $new-file ($ARGUMENTS)'
  assert.equal(
    expanded(body, `a.csv "b c.csv"`, ['old', 'new-file']),
    'a.csv b c.csv a.csv b c.csv a.csv b c.csv (a.csv "b c.csv")',
  )
})

test('a missing argument stays visible, and so does what only looks like a placeholder', () => {
  assert.equal(
    expanded('$0 $1 $5.00 $old $older $0x $ARGUMENTS[7]', 'a', ['old', 'new']),
    'a $1 $5.00 a $older $0x $ARGUMENTS[7]',
  )
})

test('a backslash keeps a placeholder of declared arguments as text', () => {
  assert.equal(expanded(String.raw`\$0 \$ARGUMENTS \$old $old`, 'a', ['old']), '$0 $ARGUMENTS $old a')
})

test('declared arguments that no placeholder takes up are appended, not lost', () => {
  assert.equal(expanded('It costs $5.', 'a b', ['x']), 'It costs $5.\n\nARGUMENTS: a b')
})

test('hostile argument names are only names', () => {
  const names = ['__proto__', 'constructor', '.*', '(', 'a|b', '']
  assert.equal(expanded('$__proto__ $constructor $.* $( $a', '1 2 3 4 5', names), '1 2 $.* $( $a')
})

test('blank lines at the start and white space at the end are dropped, indentation stays', () => {
  assert.equal(expanded('\r\n \n    code\n\n  text \n\n'), '    code\n\n  text')
})

test('arguments are split as a shell splits words, and nothing is expanded', () => {
  for (const [text, words] of [
    ['', []],
    ['  a  b\tc\n', ['a', 'b', 'c']],
    [`a "b c" 'd e'`, ['a', 'b c', 'd e']],
    [`"it's" 'say "hi"'`, ["it's", 'say "hi"']],
    [String.raw`a\ b \" \\ "q\"q" "\n" '\n'`, ['a b', '"', '\\', 'q"q', '\\n', '\\n']],
    [`--x="1 2"y`, ['--x=1 2y']],
    [`"" ''`, ['', '']],
    ['"open quote', ['open quote']],
    ["it's open", ['its open']],
    ['end\\', ['end']],
    ['$HOME `id` $(id) *', ['$HOME', '`id`', '$(id)', '*']],
  ] as const) {
    assert.deepEqual(splitArguments(text), words, text)
  }
})

test('quoted words come back as they were, for any text', () => {
  const quote = (word: string): string => `'${word.replaceAll("'", String.raw`'\''`)}'`
  fc.assert(
    fc.property(fc.array(fc.string({ unit: 'binary' })), (words) => {
      assert.deepEqual(splitArguments(words.map(quote).join(' ')), words)
    }),
  )
})

test('no body and no arguments make expansion throw or hang, and arguments always reach the text', () => {
  const piece = fc.constantFrom('$ARGUMENTS', '{baseDir}', '$0', '$', '\\', "'", '"', '${', ' ', 'a', '\n', '$x', '[0]')
  const text = fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join(''))
  fc.assert(
    fc.property(text, text, fc.subarray(['x', 'y']), (body, args, names) => {
      const result = expanded(body, args, names)
      if (names.length === 0 && args.trim() !== '') assert.ok(result.includes(args.trim()))
    }),
  )
  const long = `${'"'.repeat(50_000)}${'\\'.repeat(50_001)}${"'".repeat(50_001)}`
  assert.ok(splitArguments(long).length >= 1)
})
