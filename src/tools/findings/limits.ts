/** Finds in the output of a failed command which limit of the sandbox it reached, or that it may not install anything. */
import type { CommandFinding, LimitSetting } from './finding.ts'
import { type Ran, textOf } from './ran.ts'

/** What programs write at a limit. A program that a limit ends in silence gets a note of the sandbox. */
const LIMITS: readonly {
  readonly setting: LimitSetting
  readonly subject: string
  readonly pattern: RegExp
}[] = [
  {
    setting: 'dataBytes',
    subject: 'memory',
    pattern: /^MemoryError\b|cannot allocate|out of memory|std::bad_alloc|\bENOMEM\b/i,
  },
  { setting: 'fileSizeBytes', subject: 'file size', pattern: /file too large|\bEFBIG\b/i },
  {
    setting: 'processes',
    subject: 'processes',
    pattern: /fork\b.*resource temporarily unavailable|can't start new thread|spawn .*\bEAGAIN\b/i,
  },
  { setting: 'openFiles', subject: 'open files', pattern: /too many open files|\bEMFILE\b/i },
]

export function limitFinding(ran: Ran): CommandFinding | undefined {
  const { exitCode, end } = ran.result
  if (!ran.isConfined || (end === 'exit' && exitCode === 0)) return undefined
  const lines = textOf(ran)
  const reached = LIMITS.find(({ pattern }) => lines.some((line) => pattern.test(line)))
  return reached && { code: 'resource-limit', subject: reached.subject, setting: reached.setting }
}

const PIP_REFUSED = /externally-managed-environment/
const NO_MODULE = {
  Python: /^ModuleNotFoundError: No module named '([A-Za-z_]\w{0,63})/,
  Node: /\bCannot find (?:module|package) '((?:@[\w.-]{1,64}\/)?\w[\w.-]{0,99})['/]/,
} as const
const APT_REFUSED = /(?:could not open lock file|unable to (?:acquire|lock)).*\/(?:dpkg|apt)\b/i
/** The packages of `pip install …`, without options. */
const PIP = /\bpip3?\s+install\s+([^;&|<>]*)/
const APT = /\b(apt(?:-get)?)\s+[^;&|<>]*/

/** An installer that may not change the machine. Its own advice does not work without network. */
export function installFinding(ran: Ran): CommandFinding | undefined {
  if (!ran.isConfined || ran.network !== false || ran.result.exitCode === 0) return undefined
  const lines = textOf(ran)
  // `nexus skills run` quotes each word.
  const command = ran.command.replace(/'([\w.@/:=+-]+)'/g, '$1')
  if (lines.some((line) => PIP_REFUSED.test(line))) {
    const packages = (PIP.exec(command)?.[1] ?? '').split(/\s+/).filter((word) => word !== '' && !word.startsWith('-'))
    return { code: 'install-refused', subject: 'pip', packages }
  }
  if (!lines.some((line) => APT_REFUSED.test(line))) return moduleFinding(lines)
  const [typed = 'apt-get install', subject = 'apt-get'] = APT.exec(command) ?? []
  return { code: 'install-refused', subject, typed: typed.trim() }
}

function moduleFinding(lines: readonly string[]): CommandFinding | undefined {
  for (const lackedBy of ['Python', 'Node'] as const) {
    const [, name] = lines.map((line) => NO_MODULE[lackedBy].exec(line)).find((match) => match !== null) ?? []
    if (name !== undefined) return { code: 'install-refused', subject: name, lackedBy }
  }
  return undefined
}
