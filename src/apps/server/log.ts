/** The log of the server: one JSON object a line, without secrets. */
import { pino } from 'pino'
import { errorMessage, isNexusError, type JsonObject, toSafeLine } from '../../kernel/index.ts'

export interface ServerLog {
  info(message: string, about?: JsonObject): void
  warn(message: string, about?: JsonObject): void
  /** A method that was called, by its name; never with its params. */
  called(method: string, agentId: string | undefined, notes: Readonly<Record<string, string>>): void
  /** A failure that is not the caller's. */
  failed(what: string, error: unknown): void
}

export const LEVELS = ['debug', 'info', 'warn', 'error'] as const

export interface LogOptions {
  readonly level: (typeof LEVELS)[number]
  /** One line with its line break. */
  readonly write: (line: string) => void
  /** Blanks secrets. */
  readonly redact: (line: string) => string
}

export function createLog({ level, write, redact }: LogOptions): ServerLog {
  const logger = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    { write: (line: string) => write(redact(line)) },
  )
  return {
    info: (message, about = {}) => logger.info(about, message),
    warn: (message, about = {}) => logger.warn(about, message),
    called: (method, agentId, notes) => {
      if (!logger.isLevelEnabled('debug')) return
      const safe = Object.fromEntries(Object.entries(notes).map(([name, text]) => [name, toSafeLine(text)]))
      logger.debug({ method, ...(agentId !== undefined && { agent: toSafeLine(agentId) }), ...safe }, 'call')
    },
    failed: (what, error) => {
      const code = isNexusError(error) ? { code: error.code } : {}
      logger.error({ ...code, error: toSafeLine(errorMessage(error)) }, `${what} failed`)
    },
  }
}
