// Fresh processes in pairs (A B, B A, …), and the tables that show them. On a shared machine the same command moves by
// 30 %; the ratio of two runs that follow each other moves far less, so only ratios are compared.
import { spawnSync } from 'node:child_process'

export const sortNumbers = (numbers) => numbers.filter(Number.isFinite).sort((a, b) => a - b)

export function median(numbers) {
  const sorted = sortNumbers(numbers)
  return sorted.length ? sorted[Math.floor((sorted.length - 1) / 2)] : NaN
}

/** `1.20 (1.05–1.40)`: the median, the least and the greatest. */
export function spread(numbers) {
  const sorted = sortNumbers(numbers)
  return sorted.length ? `**${show(median(sorted))}** (${show(sorted[0])}–${show(sorted.at(-1))})` : '–'
}

export function show(number) {
  if (!Number.isFinite(number)) return '–'
  const size = Math.abs(number)
  return size >= 100
    ? number.toFixed(0)
    : size >= 10
      ? number.toFixed(1)
      : size >= 0.1
        ? number.toFixed(2)
        : number.toFixed(4)
}

export function printTable(title, header, rows) {
  console.log(`\n### ${title}\n\n| ${header.join(' | ')} |\n|${header.map(() => '---').join('|')}|`)
  for (const row of rows) console.log(`| ${row.join(' | ')} |`)
}

/** Runs one whole process; its output is read through a pipe, as an agent does. Throws when it fails. */
export function runOnce({ label, argv, cwd, env }) {
  const startedAt = performance.now()
  const child = spawnSync(argv[0], argv.slice(1), {
    ...{ cwd, env, stdio: ['ignore', 'pipe', 'pipe'], maxBuffer: 1 << 28, timeout: 300_000 },
  })
  const ms = performance.now() - startedAt
  if (child.error || (child.status !== 0 && child.status !== null)) {
    const why = child.error?.message ?? `exit code ${child.status}`
    throw new Error(`${label ?? argv.join(' ')}: ${why}\n${String(child.stderr ?? '').slice(0, 1_000)}`)
  }
  return { ms, stdout: child.stdout }
}

/** `count` pairs of two functions that each give a measurement, after one that is not counted. */
export function pairs(count, base, other) {
  const found = []
  for (let round = 0; round <= count; round++) {
    let a
    let b
    if (round % 2) {
      a = base()
      b = other()
    } else {
      b = other()
      a = base()
    }
    if (round > 0) found.push({ a, b })
  }
  return found
}

/** `pairs` of two functions that give promises. */
export async function pairsOf(count, base, other) {
  const found = []
  for (let round = 0; round <= count; round++) {
    const first = await (round % 2 ? base() : other())
    const second = await (round % 2 ? other() : base())
    if (round > 0) found.push(round % 2 ? { a: first, b: second } : { a: second, b: first })
  }
  return found
}

/** Ratios b/a of one number of each measurement. */
export const ratios = (found, key) => found.map(({ a, b }) => b[key] / a[key])
