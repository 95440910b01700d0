/** definitions: a tool as others are shown it, in four forms from one source. */
import type { JsonSchema, JsonValue, Tool } from '../kernel/index.ts'
import type { WireNames } from './names.ts'

/** All forms but `json` have wire names; `mcp` keeps the policy name where MCP clients accept it. */
export interface DefinitionForms {
  readonly openai: {
    readonly type: 'function'
    readonly function: { readonly name: string; readonly description: string; readonly parameters: JsonSchema }
  }
  readonly anthropic: { readonly name: string; readonly description: string; readonly input_schema: JsonSchema }
  /** A tool without `execute` for `tools` of the AI SDK, beside the name that is its key there. */
  readonly 'ai-sdk': { readonly name: string; readonly description: string; readonly inputSchema: SchemaForSdk }
  readonly mcp: { readonly name: string; readonly description: string; readonly inputSchema: JsonSchema }
  readonly json: { readonly name: string; readonly description: string; readonly parameters: JsonSchema }
}

/** The parameters as a Standard JSON Schema. They are checked when the tool is called, not by the SDK. */
export interface SchemaForSdk {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: 'nexus'
    readonly validate: (value: unknown) => { readonly value: JsonValue }
    readonly jsonSchema: { readonly input: () => JsonSchema; readonly output: () => JsonSchema }
  }
}

const MCP_NAME = /^[A-Za-z0-9_.-]{1,128}$/

export function toDefinition<F extends keyof DefinitionForms>(
  tool: Pick<Tool, 'name' | 'description' | 'parameters'>,
  form: F,
  wire: WireNames,
): DefinitionForms[F] {
  const { name, description, parameters } = tool
  const forms: { [K in keyof DefinitionForms]: () => DefinitionForms[K] } = {
    openai: () => ({ type: 'function', function: { name: wire.toWire(name), description, parameters } }),
    anthropic: () => ({ name: wire.toWire(name), description, input_schema: parameters }),
    'ai-sdk': () => ({ name: wire.toWire(name), description, inputSchema: toSdkSchema(parameters) }),
    mcp: () => ({ name: MCP_NAME.test(name) ? name : wire.toWire(name), description, inputSchema: parameters }),
    json: () => ({ name, description, parameters }),
  }
  return forms[form]()
}

function toSdkSchema(parameters: JsonSchema): SchemaForSdk {
  return {
    '~standard': {
      version: 1,
      vendor: 'nexus',
      validate: (value) => ({ value: value as JsonValue }),
      jsonSchema: { input: () => parameters, output: () => parameters },
    },
  }
}
