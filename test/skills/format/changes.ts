import fc from 'fast-check'

/** Pieces of YAML that bite, put anywhere. */
const BITES = [
  ...[
    '\n',
    '\n ',
    '\n  ',
    '\n    ',
    '\r\n',
    '\r',
    ' ',
    ':',
    ': ',
    ' #',
    '- ',
    '"',
    "'",
    "''",
    '[',
    ']',
    '{',
    '}',
    ', ',
    '|',
    '>-\n',
    '\t',
    '\\',
  ],
  ...[
    '&a',
    '*a',
    '!t',
    '%',
    '@',
    '`',
    '? ',
    '~',
    'null',
    '1.0',
    '1e3',
    '0x1f',
    '007',
    '---',
    '\n---\n',
    '\n...\n',
    '\u00a0',
    '\u0085',
    '\ufeff',
  ],
  ...[
    'é',
    '🙂',
    '\u200b',
    '\nname: x\n',
    '\ndescription: ',
    '\nmetadata:\n  nexus:\n    os: [linux]',
    '\n  - a\n',
    '\n- b\n',
    '\nos: [a]',
    '(',
    '<<: ',
  ],
  ...[
    '\n  - k: v\n    l: w\n',
    'descr: x\n',
    '__proto__: ',
    'key:\n',
    '\nuser-invocable: no',
    '\n  one:\n   two\n',
    'meta: x\n',
    '\narguments: a',
    '\n# a\n',
    '\n   # a: b\n',
    '{"a":["b"]}',
    '":{"',
    '\n  require:\n    bins: [x]\n',
    '\n      bin: [x]\n',
    "\n  nexus: '{a: 1, a: 2}'\n",
    '"bin":["x"],',
  ],
]

/** One change of a text: one of the pieces, or none, comes in, and a little goes. */
export function changeWith(bites: readonly string[]) {
  return fc.record({ at: fc.nat(), bite: fc.constantFrom('', ...bites), drop: fc.constantFrom(0, 0, 0, 1, 3) })
}

export const change = changeWith(BITES)

/** A text with pieces put into it and taken from it. */
export function changedText(text: string, changes: readonly { at: number; bite: string; drop: number }[]): string {
  return changes.reduce((before, { at, bite, drop }) => {
    const place = at % (before.length + 1)
    return before.slice(0, place) + bite + before.slice(place + drop)
  }, text)
}
