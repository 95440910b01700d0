/** tools: callable tools. Define them, register them per agent, run them in one place, answer in every document's form. */
export {
  argumentsProblem,
  checkArguments,
  type CheckedArguments,
  PARALLEL_ARGUMENT,
  withParallel,
} from './arguments.ts'
export { type Answered, type BatchOptions, runBatch } from './batch.ts'
export { boundOutcome, OUTCOME_LIMITS, type OutcomeLimits } from './bound.ts'
export { BUILTIN_TOOLS, registerBuiltins } from './builtin/builtins.ts'
export { createFindSkillsTool } from './builtin/find-skills.ts'
export { createLoadSkillTool } from './builtin/load-skill.ts'
export { createReadSkillFileTool } from './builtin/read-skill-file.ts'
export { createRunCommandTool } from './builtin/run-command.ts'
export {
  type CommandServices,
  createSkillCommands,
  type OwnedCommand,
  provideCommands,
  SKILL_COMMANDS,
  type SkillCommandParts,
  type SkillCommands,
  type SkillEntryValues,
} from './builtin/skill-commands.ts'
export type { VariableVerdict } from './builtin/skill-variables.ts'
export { createSkillTool } from './builtin/skill.ts'
export {
  defineTool,
  type StandardResult,
  type StandardSchema,
  type ToolDefinition,
  type TypedToolDefinition,
} from './define.ts'
export { type Envelope, type EnvelopeOptions, toEnvelope } from './edge/envelope.ts'
export { toModelText } from './edge/model-text.ts'
export {
  type OutputOrError,
  type StatusResult,
  type SuccessOutputError,
  toOutcome,
  toOutputOrError,
  toStatusResult,
  toSuccessOutputError,
} from './edge/shapes.ts'
export { type ExecuteOptions, executeTool } from './execute.ts'
export { toFailure } from './failure.ts'
export { toolNameProblem } from './names.ts'
export { createRegistry, type DefinitionForms, type Registry, type ToolFactory } from './registry.ts'
export {
  createServices,
  EXECUTION,
  type ExecutionSettings,
  LOADER,
  REDACT_TEXT,
  type RedactText,
  SANDBOX,
  SKILL_SEARCH,
  TARGET,
  WORKSPACE,
} from './services.ts'
export { createWireNames, toWireName, type WireNames } from './wire-names.ts'
