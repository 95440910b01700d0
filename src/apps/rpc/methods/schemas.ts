/** Schemas that several methods share. */
import { z } from 'zod'
import type { JsonObject, JsonValue } from '../../../kernel/index.ts'

export const NONE = z.strictObject({})
export const json = z.json() as unknown as z.ZodType<JsonValue>
export const jsonObject = z.record(z.string(), z.json()) as unknown as z.ZodType<JsonObject>
export const requestId = z.union([z.string().min(1).max(200), z.int()])

/** ISO 8601 from epoch milliseconds. */
export const isoTime = (ms: number): string => new Date(ms).toISOString()
