import { type ModelChoice, resolveModel } from '../../../agents/turns/index.ts'
import { commandFix } from '../../../kernel/index.ts'
import type { Local } from '../../../local/index.ts'
import { type Invocation, stringFlag } from '../command.ts'
import { errorOf } from '../failure.ts'

/** The model that flags, configuration or key variables name. Throws MODEL_NOT_CONFIGURED when there is none. */
export async function chooseModel(
  local: Pick<Local, 'config' | 'secrets'>,
  invocation: Invocation,
): Promise<ModelChoice> {
  if (stringFlag(invocation, 'model') === 'recorded') {
    const lead = 'Name a model such as openai/gpt-5.1, or play the recording:'
    const fix = commandFix(lead, 'demo', '--model', 'recorded')
    throw errorOf('INVALID_ARGUMENT', 'The recorded model answers only the task of the demo.', fix)
  }
  const chosen = await findModel(local, invocation)
  if (chosen) return chosen
  throw errorOf('MODEL_NOT_CONFIGURED', NO_MODEL.message, NO_MODEL.fix)
}

export const NO_MODEL = {
  message: 'No model is configured: neither --model, nor model: in nexus.yaml, nor a key variable is set.',
  fix: 'Type: export ANTHROPIC_API_KEY=… (or OPENAI_API_KEY), then type the same command again. For a model of your own: --model openai-compatible/NAME --base-url URL',
}

/** The same, but undefined when nothing names a model. */
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
  return resolveModel({ environment, configured, spec, baseUrl })
}
