import type { ProcessState } from '../comm/world/diagnosis.js'
import type { ThreadsConnection } from '../fabric/threads/threads-connect.js'

/** What a worker is started with. */
export interface ProcessData {
  readonly kind: 'rankweave process'
  readonly program: string
  readonly connection: ThreadsConnection
  readonly world: {
    readonly ranks: number
    readonly ranksPerProcess?: readonly number[]
    readonly args?: unknown
    readonly eagerLimitBytes?: number
    readonly creditBytes?: number
    readonly detectDeadlock?: boolean
  }
}

/** From the thread that called `run` to a worker. Errors are those of `encodeError`. */
export type ToProcess =
  /** Every worker has loaded the program. */
  | { readonly kind: 'start' }
  | { readonly kind: 'abort'; readonly reason: Uint8Array }
  | { readonly kind: 'lost'; readonly process: number; readonly reason: string }
  /** Requests a `state` with this number. */
  | { readonly kind: 'diagnose'; readonly query: number }

/** From a worker. Its last message is `returned` or `failed`; without one it is lost. */
export type FromProcess =
  | { readonly kind: 'loaded' }
  /** The world has failed here; the last message follows when the processes have agreed on its end. */
  | { readonly kind: 'failing'; readonly error: Uint8Array }
  | { readonly kind: 'returned'; readonly results: readonly unknown[] }
  | { readonly kind: 'failed'; readonly error: Uint8Array }
  /** Null while the program is being loaded. */
  | { readonly kind: 'state'; readonly query: number; readonly state: ProcessState | null }

/** Longest error that crosses between threads, in bytes. */
export const maxErrorBytes = 2 ** 20
