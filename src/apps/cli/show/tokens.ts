/** tokens: the use of turns in words, with the part that is an estimate named. */
import type { TurnUse } from '../../../store/index.ts'
import { many } from '../failure.ts'

/** Such as `120 tokens in 2 steps, cost 0.0012`; without a price of the model no cost. */
export function useText(use: TurnUse): string {
  const { steps, cost } = use
  return `${tokensText(use)} in ${many(steps, 'step')}${cost === undefined ? '' : `, cost ${moneyText(cost)}`}`
}

export function moneyText(money: number): string {
  return money.toLocaleString('en-US', { maximumSignificantDigits: 4, useGrouping: false })
}

/** Such as `120 tokens`, `120 tokens (30 estimated)` or `120 tokens (estimated)`. */
export function tokensText({ totalTokens, estimatedTokens = 0 }: TurnUse): string {
  const tokens = many(totalTokens, 'token')
  if (estimatedTokens === 0) return tokens
  return `${tokens} (${estimatedTokens >= totalTokens ? '' : `${estimatedTokens} `}estimated)`
}
