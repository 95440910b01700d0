/** tokens: the use of turns in words, with the part that is an estimate named. */
import type { TurnUse } from '../../../store/index.ts'
import { many } from '../failure.ts'

/** Such as `120 tokens`, `120 tokens (30 estimated)` or `120 tokens (estimated)`. */
export function tokensText({ totalTokens, estimatedTokens = 0 }: TurnUse): string {
  const tokens = many(totalTokens, 'token')
  if (estimatedTokens === 0) return tokens
  return `${tokens} (${estimatedTokens >= totalTokens ? '' : `${estimatedTokens} `}estimated)`
}
