// Reads a CSV file, adds up one column by the groups of another, writes summary.md and chart.svg. No dependencies.
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

const MAX_BYTES = 50 * 1024 * 1024
const MAX_ROWS = 1_000_000

class InputError extends Error {}

/** Splits CSV text into rows of cells; quotes may hold separators, line breaks and doubled quotes (RFC 4180). */
function parseCsv(text, separator) {
  const rows = []
  let row = []
  let cell = ''
  let quoted = false
  const endRow = () => {
    row.push(cell)
    cell = ''
    if (row.length > 1 || row[0].trim() !== '') rows.push(row)
    if (rows.length > MAX_ROWS + 1) throw new InputError(`More than ${MAX_ROWS} rows: split the file first.`)
    row = []
  }
  for (let i = 0; i < text.length; i++) {
    const character = text[i]
    if (quoted) {
      if (character !== '"') cell += character
      else if (text[i + 1] === '"') cell += text[++i]
      else quoted = false
    } else if (character === '"' && cell === '') quoted = true
    else if (character === separator) {
      row.push(cell)
      cell = ''
    } else if (character === '\n' || character === '\r') {
      if (character === '\r' && text[i + 1] === '\n') i++
      endRow()
    } else cell += character
  }
  if (quoted) throw new InputError('A quoted cell is never closed: look for a stray double quote.')
  if (cell !== '' || row.length > 0) endRow()
  return rows
}

function guessSeparator(firstLine) {
  const counts = [',', ';', '\t'].map((separator) => [firstLine.split(separator).length, separator])
  return counts.sort((a, b) => b[0] - a[0])[0][1]
}

/** The number in a cell, or undefined. Spaces, currency signs and a percent sign are dropped. */
function toNumber(cell, decimal) {
  let text = cell.replace(/[\s\u00a0$€£¥%]/g, '')
  text = decimal === ',' ? text.replaceAll('.', '').replace(',', '.') : text.replaceAll(',', '')
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)) return undefined
  return Number(text)
}

function describeColumns(header, rows, decimal) {
  return header.map((name, index) => {
    const filled = rows.map((row) => row[index] ?? '').filter((cell) => cell.trim() !== '')
    const numbers = filled.filter((cell) => toNumber(cell, decimal) !== undefined).length
    return {
      name,
      index,
      kind: filled.length > 0 && numbers >= filled.length * 0.9 ? 'number' : 'text',
      filled: filled.length,
      distinct: new Set(filled).size,
      examples: [...new Set(filled)].slice(0, 3),
    }
  })
}

function chooseColumn(columns, wanted, option, fallback) {
  if (wanted === undefined) {
    if (!fallback) throw new InputError(`No column fits --${option}: name one of ${columns.map((c) => c.name).join(', ')}.`)
    return fallback
  }
  const found = columns.find((column) => column.name.toLowerCase() === wanted.trim().toLowerCase())
  if (!found) throw new InputError(`No column "${wanted}": the file has ${columns.map((c) => c.name).join(', ')}.`)
  return found
}

function summarise(rows, group, value, decimal) {
  const groups = new Map()
  let skipped = 0
  for (const row of rows) {
    const number = toNumber(row[value.index] ?? '', decimal)
    const key = (row[group.index] ?? '').trim() || '(empty)'
    if (number === undefined) {
      skipped++
      continue
    }
    const entry = groups.get(key) ?? { name: key, rows: 0, total: 0, min: Infinity, max: -Infinity }
    entry.rows++
    entry.total += number
    entry.min = Math.min(entry.min, number)
    entry.max = Math.max(entry.max, number)
    groups.set(key, entry)
  }
  const sorted = [...groups.values()].sort((a, b) => b.total - a.total || (a.name < b.name ? -1 : 1))
  return { groups: sorted, skipped, total: sorted.reduce((sum, entry) => sum + entry.total, 0) }
}

const format = (number) => number.toLocaleString('en-US', { maximumFractionDigits: 2 })
const escapeXml = (text) => text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`)
const escapeCell = (text) => text.replace(/[|\\]/g, '\\$&').replace(/[\r\n]+/g, ' ')

function toMarkdown(title, result, group, value, rowCount) {
  const lines = [
    `# ${title}`,
    '',
    `${rowCount} rows, ${result.groups.length} groups, total ${value.name} ${format(result.total)}.`,
    '',
    `| ${escapeCell(group.name)} | rows | total | share | min | mean | max |`,
    '|---|--:|--:|--:|--:|--:|--:|',
  ]
  for (const entry of result.groups) {
    const share = result.total === 0 ? '' : `${((entry.total / result.total) * 100).toFixed(1)} %`
    lines.push(
      `| ${escapeCell(entry.name)} | ${entry.rows} | ${format(entry.total)} | ${share} | ${format(entry.min)} | ${format(entry.total / entry.rows)} | ${format(entry.max)} |`,
    )
  }
  if (result.skipped > 0) lines.push('', `${result.skipped} rows were left out: their ${value.name} is not a number.`)
  return `${lines.join('\n')}\n`
}

function toSvg(title, result, top) {
  const bars = result.groups.slice(0, top)
  const rest = result.groups.slice(top)
  if (rest.length > 0) bars.push({ name: `other (${rest.length})`, total: rest.reduce((sum, entry) => sum + entry.total, 0) })
  const width = 760
  const left = 170
  const rowHeight = 34
  const height = 70 + bars.length * rowHeight
  const largest = Math.max(...bars.map((bar) => Math.abs(bar.total)), Number.MIN_VALUE)
  const rows = bars.map((bar, index) => {
    const y = 56 + index * rowHeight
    const length = Math.max(1, (Math.abs(bar.total) / largest) * (width - left - 130))
    const label = bar.name.length > 22 ? `${bar.name.slice(0, 21)}…` : bar.name
    return [
      `  <text x="${left - 12}" y="${y + 16}" text-anchor="end">${escapeXml(label)}</text>`,
      `  <rect x="${left}" y="${y}" width="${length.toFixed(1)}" height="22" rx="3" fill="${bar.total < 0 ? '#b4483c' : '#2f6f8f'}"/>`,
      `  <text x="${(left + length + 10).toFixed(1)}" y="${y + 16}" fill="#444">${format(bar.total)}</text>`,
    ].join('\n')
  })
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" font-family="system-ui, sans-serif" font-size="14">`,
    `  <title>${escapeXml(title)}</title>`,
    `  <rect width="${width}" height="${height}" fill="#fff"/>`,
    `  <text x="24" y="32" font-size="18" font-weight="600">${escapeXml(title)}</text>`,
    ...rows,
    '</svg>',
    '',
  ].join('\n')
}

function readOptions() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      group: { type: 'string' },
      value: { type: 'string' },
      out: { type: 'string', default: 'report' },
      title: { type: 'string' },
      separator: { type: 'string' },
      decimal: { type: 'string', default: '.' },
      top: { type: 'string', default: '12' },
      describe: { type: 'boolean', default: false },
    },
  })
  if (positionals.length !== 1) throw new InputError('Give exactly one CSV file: node report.mjs FILE [options].')
  if (values.decimal !== '.' && values.decimal !== ',') throw new InputError('--decimal must be . or ,')
  const top = Number(values.top)
  if (!Number.isInteger(top) || top < 1) throw new InputError('--top must be a whole number from 1.')
  return { ...values, top, file: positionals[0], separator: values.separator === 'tab' ? '\t' : values.separator }
}

function main() {
  const options = readOptions()
  if (statSync(options.file).size > MAX_BYTES) throw new InputError('The file is larger than 50 MiB: split it first.')
  const text = readFileSync(options.file, 'utf8').replace(/^\ufeff/, '')
  const separator = options.separator ?? guessSeparator(text.slice(0, text.search(/[\r\n]|$/)))
  const [header, ...rows] = parseCsv(text, separator)
  if (!header || rows.length === 0) throw new InputError(`${options.file} has no rows below its header.`)
  const columns = describeColumns(header.map((name) => name.trim()), rows, options.decimal)
  if (options.describe) {
    console.log(JSON.stringify({ file: options.file, rows: rows.length, columns }))
    return
  }
  const value = chooseColumn(columns, options.value, 'value', columns.findLast((column) => column.kind === 'number'))
  const texts = columns.filter((column) => column.kind === 'text' && column !== value)
  const group = chooseColumn(columns, options.group, 'group', texts.find((column) => column.distinct * 2 <= column.filled) ?? texts[0])
  const result = summarise(rows, group, value, options.decimal)
  if (result.groups.length === 0) throw new InputError(`No cell of "${value.name}" is a number (see --decimal).`)
  const title = options.title ?? `${value.name} by ${group.name}`
  mkdirSync(options.out, { recursive: true })
  const summary = join(options.out, 'summary.md')
  const chart = join(options.out, 'chart.svg')
  writeFileSync(summary, toMarkdown(title, result, group, value, rows.length))
  writeFileSync(chart, toSvg(title, result, options.top))
  const best = result.groups[0]
  console.log(
    JSON.stringify({ rows: rows.length, groups: result.groups.length, total: result.total, top: { name: best.name, total: best.total }, skipped: result.skipped, summary, chart, uid: process.getuid?.() }),
  )
}

try {
  main()
} catch (error) {
  console.error(error instanceof InputError || error.code ? error.message : error)
  process.exitCode = 2
}
