/** diagnose: why a skill is, or is not, offered. One explanation with one data form for `why`, `check`, `show` and `doctor`. Pure. */
export { hostsIn, type ReadFile } from './hosts.ts'
export { type CopyDiagnosis, diagnose, diagnoseCopy, diagnoseInvalid, type Diagnosis } from './diagnose.ts'
export type { Examined, Facts, Host, Paths, ProposedHost, PersonalProgram, SetupFile, StrayFile } from './facts.ts'
export { type Finding, finding, fixOption, type Verdict } from './finding.ts'
export { LEFT_OUT_FIX } from './messages.ts'
export { FINE } from './ready.ts'
