import { type ModelChoice, resolveModel } from '../../../agents/turns/index.ts'
import type { Local } from '../../../local/index.ts'
import { type Invocation, stringFlag } from '../command.ts'
import { errorOf, MESSAGES } from '../messages/index.ts'

/** The model that flags, configuration or key variables name. Throws MODEL_NOT_CONFIGURED when there is none. */
export async function chooseModel(
  local: Pick<Local, 'config' | 'secrets'>,
  invocation: Invocation,
): Promise<ModelChoice> {
  if (stringFlag(invocation, 'model') === 'recorded') throw errorOf('INVALID_ARGUMENT', MESSAGES.recordedModel())
  const chosen = await findModel(local, invocation)
  if (chosen) return chosen
  throw errorOf('MODEL_NOT_CONFIGURED', MESSAGES.modelMissing())
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
