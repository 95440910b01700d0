/** network: `execution.network` in the terms of gating and of commands. */
import type { Config } from '../config/index.ts'
import { type HostRule, readHostRule } from '../kernel/index.ts'

/** The hosts of `execution.network`. */
export function networkOf({ allowedDomains, deniedDomains }: Config['execution']['network']): {
  readonly allowed: readonly HostRule[]
  readonly denied: readonly HostRule[]
} {
  const rules = (hosts: readonly string[]): HostRule[] => hosts.map(readHostRule).filter((rule) => rule !== undefined)
  return { allowed: rules(allowedDomains), denied: rules(deniedDomains) }
}
