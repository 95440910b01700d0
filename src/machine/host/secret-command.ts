import { DEFAULTS } from '../../kernel/index.ts'
import { type ProgramRequest, run as runProgram } from './run-program.ts'

const TIMEOUT_MS = 5_000

/** One program to run for a secret. */
export interface SecretCommandRequest extends Pick<ProgramRequest, 'command' | 'environment' | 'signal'> {
  readonly input?: string
}

/** `why` completes the sentence "the command …". */
export type SecretCommandResult =
  | { readonly type: 'done'; readonly output: string }
  | { readonly type: 'failed'; readonly why: string }

/** See `runSecretCommand`. */
export async function run(request: SecretCommandRequest): Promise<SecretCommandResult> {
  const limits = { timeoutMs: TIMEOUT_MS, maxOutputBytes: DEFAULTS.maxSecretBytes }
  const ended = await runProgram({ ...request, ...limits })
  if (ended.type === 'failed') return failed(ended.why)
  if (ended.code !== 0) return failed(`ended with ${ended.signal ?? `code ${ended.code}`}`)
  try {
    return { type: 'done', output: new TextDecoder('utf-8', { fatal: true }).decode(ended.stdout) }
  } catch {
    return failed('wrote something that is not UTF-8 text')
  }
}

function failed(why: string): SecretCommandResult {
  return { type: 'failed', why }
}
