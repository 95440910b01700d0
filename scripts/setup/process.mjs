// Starting other programs during setup: quietly with their output kept for errors, or handed over completely.
import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The repository's root directory. */
export const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))))

/** One line of progress, on stderr so that stdout belongs to what is started afterwards. */
export function say(line) {
  process.stderr.write(`setup: ${line}\n`)
}

/** How often a long step shows that it is alive. */
const HEARTBEAT_MS = 15_000

/** Runs a program to its end. Its output is shown only when it fails, as part of the error thrown. */
export function runQuietly(command, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'], ...options })
    const startedAt = Date.now()
    const heartbeat = setInterval(() => say(`… ${Math.round((Date.now() - startedAt) / 1000)} s`), HEARTBEAT_MS)
    let output = ''
    const keep = (chunk) => {
      output = (output + chunk).slice(-20_000)
    }
    child.stdout.setEncoding('utf8').on('data', keep)
    child.stderr.setEncoding('utf8').on('data', keep)
    child.on('error', (error) => {
      clearInterval(heartbeat)
      reject(new Error(`cannot start ${command}: ${error.message}`))
    })
    child.on('close', (code, signal) => {
      clearInterval(heartbeat)
      if (code === 0) resolve(output)
      else reject(new Error(`${[command, ...args].join(' ')} ended with ${signal ?? `exit code ${code}`}\n${output}`))
    })
  })
}

/**
 * Runs a program with our terminal and resolves with its exit code; when a signal ended it, we end by the same signal.
 * A terminal sends Ctrl-C to the whole group, so SIGINT is passed on only when there is no terminal.
 */
export function passThrough(command, args, options) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: 'inherit', ...options })
    const forward = (signal) => child.kill(signal)
    const onInterrupt = () => {
      if (!process.stdin.isTTY) child.kill('SIGINT')
    }
    process.on('SIGINT', onInterrupt).on('SIGTERM', forward).on('SIGHUP', forward)
    child.on('error', reject)
    child.on('exit', (code, signal) => {
      process.off('SIGINT', onInterrupt).off('SIGTERM', forward).off('SIGHUP', forward)
      if (signal === null) resolve(code)
      else {
        process.kill(process.pid, signal)
        // Reached only when that signal did not end us; shells call it 128 + n.
        setTimeout(() => resolve(128 + constants.signals[signal]), 1000)
      }
    })
  })
}
