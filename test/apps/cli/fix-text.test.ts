import { DESCRIPTION, type Desk, edit, GOOD, fixes, NAME, rewrite, skill } from './stranger.ts'

const FILE = 'skills/pdf/SKILL.md'
const is =
  (text: string | Uint8Array): ((desk: Desk) => void) =>
  (desk) =>
    void desk.put(FILE, text)
const lines = (...frontmatter: readonly string[]): ((desk: Desk) => void) => is(skill(...frontmatter))
const utf16 = (text: string): Buffer => Buffer.from(text, 'utf16le')

// Encoding.
fixes('UTF-16 with a byte order mark', {
  break: is(Buffer.concat([Buffer.from([0xff, 0xfe]), utf16(GOOD)])),
  ...{ code: 'encoding-utf16', line: 1, says: /UTF-16.*iconv -f UTF-16 -t UTF-8/ },
})
fixes('UTF-16 without a byte order mark', {
  break: is(utf16(GOOD)),
  ...{ code: 'nul-character', line: 1, says: /UTF-16.*iconv -f UTF-16LE/ },
})
fixes('Latin-1', {
  break: is(Buffer.from(GOOD.replace('Reads', 'Für'), 'latin1')),
  ...{ code: 'encoding-invalid', line: 3, says: /0xfc at offset \d+ is not UTF-8/ },
  fix: (desk) => desk.put(FILE, GOOD.replace('Reads', 'Für')),
})
fixes('a NUL in the text', {
  break: is(GOOD.replace('Read it', 'Read\0it')),
  ...{ code: 'nul-character', line: 8, says: /NUL character.*Remove the character/ },
  fix: (_desk, { path = '' }) => edit(path, (all) => all.map((line) => line.replaceAll('\0', ''))),
})
fixes('a byte order mark', {
  break: is(`\ufeff${GOOD}`),
  code: 'byte-order-mark',
  line: 1,
  says: /--fix-encoding/,
})
fixes('lone CR line ends', {
  break: is(GOOD.replaceAll('\n', '\r')),
  code: 'line-ends-cr',
  line: 1,
  says: /LF/,
})
fixes('a ZIP archive called SKILL.md', {
  break: is('PK\u0003\u0004\0\0'),
  ...{ code: 'nul-character', line: 1, says: /ZIP archive.*Unpack it/, fix: is(GOOD) },
})

// The two lines of ---.
fixes('a frontmatter that is never closed', {
  break: is(`---\n${NAME}\n${DESCRIPTION}\n\n# PDF\n`),
  ...{ code: 'frontmatter-unterminated', line: 1, says: /below line 3/ },
})
fixes('a frontmatter that a rule far below closes', {
  break: is(`---\n${NAME}\n${DESCRIPTION}\n\n# PDF\n\nRead it.\n\n---\n\nMore.\n`),
  ...{ code: 'yaml-invalid', line: 7, says: /the closing --- is probably missing.*below the last key/ },
  fix: (_desk, { path = '' }) => edit(path, (all) => all.toSpliced(3, 0, '---')),
})
fixes('two dashes', {
  break: is(GOOD.replace('---', '--')),
  code: 'frontmatter-missing',
  line: 1,
  says: /instead of a line with only ---.*Write exactly ---/,
  fix: rewrite(1, '---'),
})
fixes('four dashes', {
  break: is(GOOD.replace('---', '----')),
  code: 'frontmatter-missing',
  line: 1,
  says: /instead of a line with only ---.*Write exactly ---/,
  fix: rewrite(1, '---'),
})
fixes('dashes of a word processor', {
  break: is(GOOD.replace('---', '———')),
  code: 'frontmatter-missing',
  line: 1,
  says: /instead of a line with only ---.*Write exactly ---/,
  fix: rewrite(1, '---'),
})
fixes('an indented opening line', {
  break: is(GOOD.replace('---', '  ---')),
  code: 'frontmatter-missing',
  line: 1,
  says: /instead of a line with only ---.*Write exactly ---/,
  fix: rewrite(1, '---'),
})
fixes('an indented closing line', {
  break: is(`---\n${NAME}\n${DESCRIPTION}\n  ---\n\n# PDF\n`),
  ...{ code: 'frontmatter-unterminated', line: 1, says: /Write exactly --- on line 4/, fix: rewrite(4, '---') },
})
fixes('dots instead of the closing line', {
  break: is(GOOD.replace('\n---\n\n', '\n...\n\n')),
  ...{ code: 'frontmatter-closed-by-dots', line: 4, says: /validate --fix/ },
})
fixes('no frontmatter', {
  break: is('# PDF\n\nRead it.\n'),
  ...{ code: 'frontmatter-missing', line: 1, says: /four lines: "---", "name: / },
  fix: (_desk, { path = '' }) => edit(path, (all) => ['---', NAME, DESCRIPTION, '---', ...all]),
})
fixes('a heading before the frontmatter', {
  break: is(`# PDF\n\n${GOOD}`),
  ...{ code: 'frontmatter-missing', line: 1, says: /Move lines 1 to 2 below the closing ---/, fix: is(GOOD) },
})
fixes('a code fence instead of ---', {
  break: is(`\`\`\`yaml\n${NAME}\n${DESCRIPTION}\n\`\`\`\n\n# PDF\n`),
  ...{
    code: 'frontmatter-missing',
    line: 1,
    says: /begins with "```yaml" instead of a line with only ---/,
    fix: is(GOOD),
  },
})
fixes('keys without ---', {
  break: is(`${NAME}\n${DESCRIPTION}\n\n# PDF\n`),
  code: 'frontmatter-missing',
  line: 1,
  says: /Make --- the first line/,
  fix: is(GOOD),
})
fixes('an empty file', {
  break: is(''),
  code: 'frontmatter-missing',
  line: 1,
  says: /The file is empty/,
  fix: is(GOOD),
})

// YAML.
fixes('a tab as indentation', {
  break: lines(NAME, DESCRIPTION, 'metadata:', '\temoji: x'),
  ...{ code: 'yaml-invalid', line: 5, says: /a tab.*Indent with spaces/, fix: rewrite(5, '  emoji: x') },
})
fixes('a quote that is not closed', {
  break: lines(NAME, 'description: "Reads a PDF. Use it'),
  code: 'yaml-repaired',
  line: 3,
  says: /A closing quote is missing/,
})
fixes('a second colon', {
  break: lines(NAME, 'description: Use when: a PDF is near'),
  code: 'yaml-repaired',
  line: 3,
  says: /Write: description: "Use when: a PDF is near"/,
})
fixes('no space after the colon', {
  break: lines(NAME, 'description:Reads a PDF'),
  code: 'yaml-invalid',
  line: 3,
  says: /Write: description: Reads a PDF/,
})
fixes('a no-break space after the colon', {
  break: lines('name:\u00a0pdf', DESCRIPTION),
  code: 'yaml-invalid',
  line: 2,
  says: /Write: name: pdf/,
})
fixes('no colon', { break: lines('name pdf', DESCRIPTION), code: 'yaml-invalid', line: 2, says: /Write: name: pdf/ })
fixes('equals signs', {
  break: lines('name = pdf', DESCRIPTION),
  code: 'yaml-invalid',
  line: 2,
  says: /Write: name: pdf/,
})
fixes('a second line that is not indented', {
  break: lines(NAME, 'description: Reads a PDF.', 'Use when near.'),
  ...{
    code: 'yaml-invalid',
    line: 4,
    says: /not "key: value".*Indent it by two spaces/,
    fix: rewrite(4, '  Use when near.'),
  },
})
fixes('a bracket that is not closed', {
  break: lines(NAME, DESCRIPTION, 'metadata: {"openclaw": {"emoji": "x"}'),
  ...{
    code: 'yaml-invalid',
    line: 4,
    says: /A bracket is not closed.*missing \] or \}/,
    fix: rewrite(4, 'metadata: {"openclaw": {"emoji": "x"}}'),
  },
})
fixes('a key given twice', {
  break: lines(NAME, DESCRIPTION, 'description: other'),
  code: 'yaml-duplicate-key',
  line: 4,
  says: /"description" is given twice, first on line \d, as .* and as "other"\./,
})
fixes('a merge key', {
  break: lines(NAME, DESCRIPTION, '<<: {a: 1}'),
  code: 'yaml-merge-key',
  line: 4,
  says: /does not accept the YAML merge key/,
})
fixes('a directive', {
  break: lines('%YAML 1.2', NAME, DESCRIPTION),
  code: 'yaml-directive',
  line: 2,
  says: /does not accept YAML directives/,
})
fixes('an anchor and its alias', {
  break: lines(NAME, DESCRIPTION, 'metadata:', '  a: &x 1', '  b: *x'),
  ...{ code: 'yaml-anchor', line: 5, says: /does not accept YAML anchors/, fix: (desk) => void desk.put(FILE, GOOD) },
})
fixes('more than 64 KiB of frontmatter', {
  break: lines(NAME, DESCRIPTION, `# ${'x'.repeat(70_000)}`),
  ...{ code: 'frontmatter-too-large', line: 2, says: /the limit is 65536/, fix: rewrite(4) },
})
fixes('a file of more than 1 MiB', {
  break: is(GOOD + 'x'.repeat(1_100_000)),
  ...{ code: 'file-too-large', line: 1, says: /the limit is 1048576.*references\//, fix: is(GOOD) },
})

// Fields.
fixes('no description', {
  break: lines(NAME),
  code: 'missing-description',
  line: 1,
  says: /Add a line below the opening ---: description:/,
})
fixes('a description in another case', {
  break: lines(NAME, 'Description: Reads.'),
  code: 'missing-description',
  line: 1,
  says: /no text of its own as description/,
  fix: rewrite(3, DESCRIPTION),
})
fixes('an empty description', {
  break: lines(NAME, 'description:'),
  code: 'missing-description',
  line: 3,
  says: /no text of its own.*Write: description: /,
})
fixes('a list as description', {
  break: lines(NAME, 'description: [a, b]'),
  code: 'missing-description',
  line: 3,
  says: /no text of its own.*Write: description: /,
})
fixes('a block text that is not indented', {
  break: lines(NAME, 'description: >', 'Reads a PDF: now.'),
  ...{
    code: 'missing-description',
    line: 3,
    says: /no text of its own/,
    fix: rewrite(4, '  Reads a PDF: now.'),
  },
})
fixes('a description below the closing line', {
  break: is(`---\n${NAME}\n---\n${DESCRIPTION}\n---\n`),
  ...{ code: 'missing-description', line: 1, says: /Add a line below the opening ---/, fix: is(GOOD) },
})
fixes('a description below another key', {
  break: lines('skill:', `  ${DESCRIPTION}`, NAME),
  ...{ code: 'missing-description', line: 1, says: /Add a line below the opening ---/, fix: rewrite(3, DESCRIPTION) },
})
fixes('no name', {
  break: lines(DESCRIPTION),
  code: 'name-missing',
  line: 1,
  says: /name: pdf; or run: nexus skills validate --fix/,
})
fixes('a name with capitals', {
  break: lines('name: PDF', DESCRIPTION),
  ask: 'PDF',
  code: 'name-invalid',
  line: 2,
  says: /capital letters/,
})
fixes('a name with blanks and underscores', {
  break: lines('name: My pdf_x', DESCRIPTION),
  ask: 'My pdf_x',
  code: 'name-invalid',
  line: 2,
  says: /Write: name: pdf$/,
})
fixes('a name that is a path', {
  break: lines('name: ../../etc/passwd', DESCRIPTION),
  code: 'name-invalid',
  line: 2,
  says: /Write: name: pdf$/,
})
fixes('a name that is not that of the directory', {
  break: lines('name: reader', DESCRIPTION),
  ask: 'reader',
  code: 'name-differs',
  line: 2,
  says: /Write: name: pdf/,
})
fixes('JSON in a text that is none', {
  break: lines(NAME, DESCRIPTION, `metadata: '{"openclaw":{"requires":}'`),
  ...{ code: 'invalid-requirement', line: 4, says: /Fix metadata in line 4/, fix: rewrite(4, 'metadata: {}') },
})
fixes('requirements that are no mapping', {
  break: lines(NAME, DESCRIPTION, 'metadata: {requires: bash}'),
  ...{ code: 'invalid-requirement', line: 4, says: /requires: \{bins: \[gh\]\}/ },
  fix: rewrite(4, 'metadata: {requires: {bins: [bash]}}'),
})
