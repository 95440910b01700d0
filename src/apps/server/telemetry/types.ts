import type { Served } from '../../rpc/index.ts'

export interface Telemetry {
  /** Runs the work inside the span of a request. */
  request<T>(
    about: {
      readonly route: string
      readonly method: string
      /** Facts of the request, such as `source`. */
      readonly notes: Readonly<Record<string, string>>
    },
    work: () => Promise<T>,
  ): Promise<T>
  /** Follows the turns of a pool; returns the end of it. */
  follow(served: Served): () => void
  /** Sends what is left. */
  close(): Promise<void>
}
