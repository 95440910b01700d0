/** command-input: our standard input for the command that a person runs. It is read only as far as the command reads. */
import { fstatSync, readFileSync } from 'node:fs'
import { Readable } from 'node:stream'
import { isTerminalAt } from '../output.ts'

/** Input of a person, a pipe or a file. While a question is open, typed words answer that question. */
export interface CommandInput {
  readonly stream: Readable
  /** Until as many calls of `goOn`. */
  hold(): void
  goOn(): void
  /** Leaves the rest unread. Safe to call twice. */
  end(): void
}

/** Undefined where there is none. `onTyping`: from now on what a person types is read. The command gets bytes and not the descriptor: with that it could open files of the host again. */
export function commandInput(onTyping: () => void): CommandInput | undefined {
  const isTyped = isTerminalAt(0)
  if (isTyped ? !isInForeground() : !isSent()) return undefined
  const source = process.stdin
  let held = 0
  let isWanted = false
  const take = (piece: Buffer): void => {
    source.pause()
    isWanted = stream.push(piece)
    if (isWanted) flow()
  }
  const finish = (): void => void stream.push(null)
  const leave = (): void => void source.pause().off('data', take)
  const flow = (): void => {
    if (held > 0 || !isWanted || stream.destroyed) return
    if (!source.listeners('data').includes(take)) source.on('data', take)
    source.resume()
  }
  const stream: Readable = new Readable({
    highWaterMark: 0,
    read: () => {
      isWanted = true
      if (isTyped) onTyping()
      if (source.readableEnded) finish()
      else flow()
    },
    destroy: (error, done) => {
      leave()
      source.off('end', finish).off('error', finish)
      done(error)
    },
  })
  source.on('end', finish).on('error', finish)
  return {
    stream,
    hold: () => {
      held++
      leave()
    },
    goOn: () => {
      held--
      flow()
    },
    end: () => void stream.destroy(),
  }
}

/** A pipe, a socket, or a file with something in it. */
function isSent(): boolean {
  try {
    const input = fstatSync(0)
    return input.isFIFO() || input.isSocket() || (input.isFile() && input.size > 0)
  } catch {
    // It is closed.
    return false
  }
}

/** The system stops a program in the background that reads its terminal. */
function isInForeground(): boolean {
  try {
    const stat = readFileSync('/proc/self/stat', 'latin1')
    const [, , group, , , foreground] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return group === foreground
  } catch {
    // Another system than Linux.
    return true
  }
}
