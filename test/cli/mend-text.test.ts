import { DESCRIPTION, type Desk, edit, GOOD, mends, NAME, rewrite, skill } from './stranger.ts'

const FILE = 'skills/pdf/SKILL.md'
const is =
  (text: string | Uint8Array): ((desk: Desk) => void) =>
  (desk) =>
    void desk.put(FILE, text)
const lines = (...frontmatter: readonly string[]): ((desk: Desk) => void) => is(skill(...frontmatter))
const utf16 = (text: string): Buffer => Buffer.from(text, 'utf16le')

// Encoding.
mends('UTF-16 with a byte order mark', {
  break: is(Buffer.concat([Buffer.from([0xff, 0xfe]), utf16(GOOD)])),
  ...{ code: 'encoding-utf16', line: 1, says: /UTF-16.*iconv -f UTF-16 -t UTF-8/ },
})
mends('UTF-16 without a byte order mark', {
  break: is(utf16(GOOD)),
  ...{ code: 'nul-character', line: 1, says: /UTF-16.*iconv -f UTF-16LE/ },
})
mends('Latin-1', {
  break: is(Buffer.from(GOOD.replace('Reads', 'Für'), 'latin1')),
  ...{ code: 'encoding-invalid', line: 3, says: /0xfc at offset \d+ is not UTF-8/ },
  mend: (desk) => desk.put(FILE, GOOD.replace('Reads', 'Für')),
})
mends('a NUL in the text', {
  break: is(GOOD.replace('Read it', 'Read\0it')),
  ...{ code: 'nul-character', line: 8, says: /NUL character.*Remove the character/ },
  mend: (_desk, { path = '' }) => edit(path, (all) => all.map((line) => line.replaceAll('\0', ''))),
})
mends('a byte order mark', {
  break: is(`\ufeff${GOOD}`),
  code: 'byte-order-mark',
  line: 1,
  says: /--fix-encoding/,
})
mends('lone CR line ends', {
  break: is(GOOD.replaceAll('\n', '\r')),
  code: 'line-ends-cr',
  line: 1,
  says: /LF/,
})
mends('a ZIP archive called SKILL.md', {
  break: is('PK\u0003\u0004\0\0'),
  ...{ code: 'nul-character', line: 1, says: /ZIP archive.*Unpack it/, mend: is(GOOD) },
})

// The two lines of ---.
mends('a frontmatter that is never closed', {
  break: is(`---\n${NAME}\n${DESCRIPTION}\n\n# PDF\n`),
  ...{ code: 'frontmatter-unterminated', line: 1, says: /below line 3/ },
})
mends('a frontmatter that a rule far below closes', {
  break: is(`---\n${NAME}\n${DESCRIPTION}\n\n# PDF\n\nRead it.\n\n---\n\nMore.\n`),
  ...{ code: 'yaml-invalid', line: 7, says: /the closing --- is probably missing.*below the last key/ },
  mend: (_desk, { path = '' }) => edit(path, (all) => all.toSpliced(3, 0, '---')),
})
mends('two dashes', {
  break: is(GOOD.replace('---', '--')),
  code: 'frontmatter-missing',
  line: 1,
  says: /instead of a line with only ---.*Write exactly ---/,
  mend: rewrite(1, '---'),
})
mends('four dashes', {
  break: is(GOOD.replace('---', '----')),
  code: 'frontmatter-missing',
  line: 1,
  says: /instead of a line with only ---.*Write exactly ---/,
  mend: rewrite(1, '---'),
})
mends('dashes of a word processor', {
  break: is(GOOD.replace('---', '———')),
  code: 'frontmatter-missing',
  line: 1,
  says: /instead of a line with only ---.*Write exactly ---/,
  mend: rewrite(1, '---'),
})
mends('an indented opening line', {
  break: is(GOOD.replace('---', '  ---')),
  code: 'frontmatter-missing',
  line: 1,
  says: /instead of a line with only ---.*Write exactly ---/,
  mend: rewrite(1, '---'),
})
mends('an indented closing line', {
  break: is(`---\n${NAME}\n${DESCRIPTION}\n  ---\n\n# PDF\n`),
  ...{ code: 'frontmatter-unterminated', line: 1, says: /Write exactly --- on line 4/, mend: rewrite(4, '---') },
})
mends('dots instead of the closing line', {
  break: is(GOOD.replace('\n---\n\n', '\n...\n\n')),
  ...{ code: 'frontmatter-closed-by-dots', line: 4, says: /validate --fix/ },
})
mends('no frontmatter', {
  break: is('# PDF\n\nRead it.\n'),
  ...{ code: 'frontmatter-missing', line: 1, says: /four lines: "---", "name: / },
  mend: (_desk, { path = '' }) => edit(path, (all) => ['---', NAME, DESCRIPTION, '---', ...all]),
})
mends('a heading before the frontmatter', {
  break: is(`# PDF\n\n${GOOD}`),
  ...{ code: 'frontmatter-missing', line: 1, says: /Make --- the first line/, mend: is(GOOD) },
})
mends('a code fence instead of ---', {
  break: is(`\`\`\`yaml\n${NAME}\n${DESCRIPTION}\n\`\`\`\n\n# PDF\n`),
  ...{
    code: 'frontmatter-missing',
    line: 1,
    says: /begins with "```yaml" instead of a line with only ---/,
    mend: is(GOOD),
  },
})
mends('keys without ---', {
  break: is(`${NAME}\n${DESCRIPTION}\n\n# PDF\n`),
  code: 'frontmatter-missing',
  line: 1,
  says: /Make --- the first line/,
  mend: is(GOOD),
})
mends('an empty file', {
  break: is(''),
  code: 'frontmatter-missing',
  line: 1,
  says: /The file is empty/,
  mend: is(GOOD),
})

// YAML.
mends('a tab as indentation', {
  break: lines(NAME, DESCRIPTION, 'metadata:', '\temoji: x'),
  ...{ code: 'yaml-invalid', line: 5, says: /a tab.*Indent with spaces/, mend: rewrite(5, '  emoji: x') },
})
mends('a quote that is not closed', {
  break: lines(NAME, 'description: "Reads a PDF. Use it'),
  code: 'yaml-repaired',
  line: 3,
  says: /The closing " is missing/,
})
mends('a second colon', {
  break: lines(NAME, 'description: Use when: a PDF is near'),
  code: 'yaml-repaired',
  line: 3,
  says: /Write: description: "Use when: a PDF is near"/,
})
mends('no space after the colon', {
  break: lines(NAME, 'description:Reads a PDF'),
  code: 'yaml-invalid',
  line: 3,
  says: /Write: description: Reads a PDF/,
})
mends('a no-break space after the colon', {
  break: lines('name:\u00a0pdf', DESCRIPTION),
  code: 'yaml-invalid',
  line: 2,
  says: /Write: name: pdf/,
})
mends('no colon', { break: lines('name pdf', DESCRIPTION), code: 'yaml-invalid', line: 2, says: /Write: name: pdf/ })
mends('equals signs', {
  break: lines('name = pdf', DESCRIPTION),
  code: 'yaml-invalid',
  line: 2,
  says: /Write: name: pdf/,
})
mends('a second line that is not indented', {
  break: lines(NAME, 'description: Reads a PDF.', 'Use when near.'),
  ...{
    code: 'yaml-invalid',
    line: 4,
    says: /not "key: value".*Indent it by two spaces/,
    mend: rewrite(4, '  Use when near.'),
  },
})
mends('a bracket that is not closed', {
  break: lines(NAME, DESCRIPTION, 'metadata: {"openclaw": {"emoji": "x"}'),
  ...{
    code: 'yaml-invalid',
    line: 4,
    says: /The \{ is not closed.*missing \}/,
    mend: rewrite(4, 'metadata: {"openclaw": {"emoji": "x"}}'),
  },
})
mends('a key given twice', {
  break: lines(NAME, DESCRIPTION, 'description: other'),
  code: 'yaml-duplicate-key',
  line: 4,
  says: /"description" is given twice/,
})
mends('a merge key', {
  break: lines(NAME, DESCRIPTION, '<<: {a: 1}'),
  code: 'yaml-merge-key',
  line: 4,
  says: /does not accept the YAML merge key/,
})
mends('a directive', {
  break: lines('%YAML 1.2', NAME, DESCRIPTION),
  code: 'yaml-directive',
  line: 2,
  says: /does not accept YAML directives/,
})
mends('an anchor and its alias', {
  break: lines(NAME, DESCRIPTION, 'metadata:', '  a: &x 1', '  b: *x'),
  ...{ code: 'yaml-anchor', line: 5, says: /does not accept YAML anchors/, mend: (desk) => void desk.put(FILE, GOOD) },
})
mends('more than 64 KiB of frontmatter', {
  break: lines(NAME, DESCRIPTION, `# ${'x'.repeat(70_000)}`),
  ...{ code: 'frontmatter-too-large', line: 2, says: /the limit is 65536/, mend: rewrite(4) },
})
mends('a file of more than 1 MiB', {
  break: is(GOOD + 'x'.repeat(1_100_000)),
  ...{ code: 'file-too-large', line: 1, says: /the limit is 1048576.*references\//, mend: is(GOOD) },
})

// Fields.
mends('no description', {
  break: lines(NAME),
  code: 'missing-description',
  line: 1,
  says: /Add a line below the opening ---: description:/,
})
mends('a description in another case', {
  break: lines(NAME, 'Description: Reads.'),
  code: 'missing-description',
  line: 3,
  says: /Rename the key "Description"/,
  mend: rewrite(3, DESCRIPTION),
})
mends('an empty description', {
  break: lines(NAME, 'description:'),
  code: 'missing-description',
  line: 3,
  says: /The description is empty/,
})
mends('a list as description', {
  break: lines(NAME, 'description: [a, b]'),
  code: 'missing-description',
  line: 3,
  says: /a list or a mapping/,
})
mends('a block text that is not indented', {
  break: lines(NAME, 'description: >', 'Reads a PDF: now.'),
  ...{
    code: 'missing-description',
    line: 3,
    says: /Indent the lines of the text/,
    mend: rewrite(4, '  Reads a PDF: now.'),
  },
})
mends('a description below the closing line', {
  break: is(`---\n${NAME}\n---\n${DESCRIPTION}\n---\n`),
  ...{ code: 'missing-description', line: 1, says: /above the closing ---/, mend: is(GOOD) },
})
mends('a description below another key', {
  break: lines('skill:', `  ${DESCRIPTION}`, NAME),
  ...{ code: 'missing-description', line: 2, says: /out of "skill".*start of a line/, mend: rewrite(3, DESCRIPTION) },
})
mends('no name', {
  break: lines(DESCRIPTION),
  code: 'name-missing',
  line: 1,
  says: /name: pdf; or run: nexus skills validate --fix/,
})
mends('a name with capitals', {
  break: lines('name: PDF', DESCRIPTION),
  ask: 'PDF',
  code: 'name-invalid',
  line: 2,
  says: /capital letters/,
})
mends('a name with blanks and underscores', {
  break: lines('name: My pdf_x', DESCRIPTION),
  ask: 'My pdf_x',
  then: 'my-pdf-x',
  code: 'name-invalid',
  line: 2,
  says: /Write: name: my-pdf-x/,
})
mends('a name that is a path', {
  break: lines('name: ../../etc/passwd', DESCRIPTION),
  then: 'etc-passwd',
  code: 'name-invalid',
  line: 2,
  says: /Write: name: etc-passwd/,
})
mends('a name that is not that of the directory', {
  break: lines('name: reader', DESCRIPTION),
  ask: 'reader',
  code: 'name-differs',
  line: 2,
  says: /Write: name: pdf/,
})
mends('JSON in a text that is none', {
  break: lines(NAME, DESCRIPTION, `metadata: '{"openclaw":{"requires":}'`),
  ...{ code: 'metadata-not-mapping', line: 4, says: /is not valid JSON/, mend: rewrite(4, 'metadata: {}') },
})
mends('requirements that are no mapping', {
  break: lines(NAME, DESCRIPTION, 'metadata: {requires: bash}'),
  ...{ code: 'invalid-requirement', line: 4, says: /requires: \{bins: \[bash\]\}/ },
  mend: rewrite(4, 'metadata: {requires: {bins: [bash]}}'),
})
