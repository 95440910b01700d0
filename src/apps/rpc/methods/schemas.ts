/** Schemas that several methods share. */
import { z } from 'zod'
import type { JsonObject, JsonValue } from '../../../kernel/index.ts'

export const NONE = z.strictObject({})
export const json = z.json() as unknown as z.ZodType<JsonValue>
export const jsonObject = z.record(z.string(), z.json()) as unknown as z.ZodType<JsonObject>
export const requestId = z.union([z.string().min(1).max(200), z.int()])

/** Source: contracts §1.4. */
export const tokens = z.strictObject({
  system: z.number(),
  tools: z.number(),
  messages: z.number(),
  total: z.number(),
  budget: z.number(),
  available: z.number(),
})

export const use = z.strictObject({
  steps: z.number(),
  input_tokens: z.number(),
  output_tokens: z.number(),
  total_tokens: z.number(),
  estimated_tokens: z.number().optional(),
  cached_tokens: z.number().optional(),
  cost: z.number().optional(),
  active_ms: z.number().optional(),
})

/** Counts with the names of their members in the form of the wire: `maxTokens` is `max_tokens`. */
export function counts<T>(ours: object): T {
  const rename = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  return Object.fromEntries(Object.entries(ours).map(([name, value]) => [rename(name), value as number])) as T
}

/** ISO 8601 from epoch milliseconds. */
export const isoTime = (ms: number): string => new Date(ms).toISOString()
