import { type ModelChoice, resolveModel } from '../../agents/index.ts'
import { NexusError } from '../../kernel/index.ts'
import type { Local } from '../../local/index.ts'
import { type Invocation, stringFlag } from '../command.ts'

/** The model that flags, configuration or key variables name; throws MODEL_NOT_CONFIGURED when none does. */
export async function chooseModel(
  local: Pick<Local, 'config' | 'secrets'>,
  invocation: Invocation,
): Promise<ModelChoice> {
  if (stringFlag(invocation, 'model') === 'recorded') {
    throw new NexusError(
      'INVALID_ARGUMENT',
      '--model recorded: the recording answers one task only, that of the demo.',
      {
        fix: 'nexus demo --model recorded, or name a model such as openai/gpt-5.1',
      },
    )
  }
  const chosen = await findModel(local, invocation)
  if (chosen) return chosen
  throw new NexusError('MODEL_NOT_CONFIGURED', 'No model is named, and no key variable is set.', {
    fix: 'Set OPENAI_API_KEY or ANTHROPIC_API_KEY, or add model: to nexus.yaml, or use --model openai-compatible/NAME --base-url URL. To only look: nexus demo',
  })
}

/** As `chooseModel`, but undefined when nothing names a model. */
export async function findModel(
  local: Pick<Local, 'config' | 'secrets'>,
  invocation: Invocation,
): Promise<ModelChoice | undefined> {
  const { environment } = invocation
  const spec = stringFlag(invocation, 'model')
  const baseUrl = stringFlag(invocation, 'base-url')
  // A key that a command gives is asked for only when it will be used.
  const isUsed = spec === undefined || spec.startsWith(`${local.config.model?.provider}/`)
  const configured = isUsed ? await local.secrets.model(invocation.signal) : undefined
  return resolveModel({
    environment,
    ...(configured && { configured }),
    ...(spec !== undefined && { spec }),
    ...(baseUrl !== undefined && { baseUrl }),
  })
}
