/** Keys under `metadata` that clients use for gating, the most specific first. Source: decisions, "metadata forms". */
export const ALIASES = ['nexus', 'openclaw', 'clawdbot', 'clawdis', 'moltbot'] as const

/** Top-level keys that corpora use for the same purpose. `always` and `skillKey` count only inside metadata. */
export const TOP_LEVEL = ['emoji', 'homepage', 'os', 'requires', 'anyBins', 'primaryEnv', 'install'] as const
