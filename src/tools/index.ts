/** tools: callable tools. Define them, register them per agent, run them in one place, answer in every document's form. */
export { argumentsProblem, unknownArguments, withParallel } from './arguments.ts'
export { isParallelBatch, runBatch } from './batch.ts'
export { boundOutcome, OUTCOME_LIMITS } from './bound.ts'
export { BUILTIN_TOOLS, registerBuiltins } from './builtin/builtins.ts'
export { createEchoTool } from './builtin/echo.ts'
export { createRunCommandTool } from './builtin/run-command.ts'
export { createSleepTool } from './builtin/sleep.ts'
export { AGENT_STATUS } from './builtin/status.ts'
export { namesDirectory, provideCommands } from './builtin/skill-commands.ts'
export { createSkillVariables, type SkillEntryValues, type SkillVariables } from './builtin/skill-variables.ts'
export { type CircuitBreaker, createCircuitBreaker } from './circuit-breaker.ts'
export { defineTool, type StandardSchema } from './define.ts'
export { toEnvelope, toOutcome } from './edge/shapes.ts'
export { toModelText } from './edge/model-text.ts'
export type { DefinitionForms } from './definitions.ts'
export { argumentsFailure, executeTool, runTool, withNotes } from './execute.ts'
export { toFailure } from './failure.ts'
export { createWireNames, serverTool, toolNameProblem, toWireName } from './names.ts'
export { isFileTool } from './file-access/at-path.ts'
export { decidePath, heldChange, pathFailure } from './path-decision.ts'
export { createRegistry, type Registry, type ToolFactory } from './registry.ts'
export {
  CLOCK,
  createServices,
  EXECUTION,
  type ExecutionSettings,
  FILES,
  type FileSettings,
  LOADER,
  REDACT_TEXT,
  SANDBOX,
  SKILL_SEARCH,
  TARGET,
  WEB,
  type WebSettings,
  WORKSPACE,
} from './services.ts'
export { OUTPUT_KEEPER, type OutputKeeper, type SavedOutput } from './saved-output.ts'
