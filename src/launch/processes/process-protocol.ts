import type { MessagePort } from 'node:worker_threads'
import type { Decision } from '../../fabric/fabric.js'
import type { ThreadsConnection } from '../../fabric/threads/threads-connect.js'
import type { Machine } from '../../machine/machine.js'
import type { MatchingOptions } from '../../messages/process/matching-options.js'
import type { TuningFile } from '../../tuning/models/tuning-file.js'
import type { OnlineOptions } from '../../tuning/online/online-process.js'
import type { ProcessState } from '../../world/diagnosis.js'

/** The data with which a world is started, the same at all its processes. */
interface WorldData {
  readonly ranks: number
  readonly ranksPerProcess?: readonly number[]
  readonly args?: unknown
  readonly eagerLimitBytes?: number
  readonly creditBytes?: number
  readonly detectDeadlock?: boolean
  readonly diagnose?: boolean
  readonly tuning?: TuningFile
  readonly online?: OnlineOptions
  readonly machine?: Machine
  readonly matching?: MatchingOptions
  /** Whether the program's export `hosted` may run; false: only the default export runs. */
  readonly hosted?: boolean
}

/** The data with which a worker is started. */
export interface ProcessData {
  readonly kind: 'rankweave process'
  readonly program: string
  /** The worker's end of its channel with the thread that called `run`. */
  readonly port: MessagePort
  readonly connection: ThreadsConnection
  readonly world: WorldData
}

/** The first message to a process of the operating system. */
export interface ChildData {
  readonly kind: 'rankweave child'
  readonly program: string
  readonly process: number
  /** The URL of the rendezvous. */
  readonly url: string
  readonly token: string
  readonly node: string
  readonly world: Omit<WorldData, 'args'>
  /** The serialized `world.args`. */
  readonly args: Uint8Array
}

/** A message from the thread that called `run` to a worker or another process. Errors are those of `encodeError`. */
export type ToProcess =
  /** Every process has loaded the program. */
  | { readonly kind: 'start' }
  | { readonly kind: 'abort'; readonly reason: Uint8Array }
  | { readonly kind: 'lost'; readonly process: number; readonly reason: string }
  /** A decision, on threads, to which this process has contributed. */
  | { readonly kind: 'decision'; readonly key: string; readonly decision: Decision }
  /** A request for a `state` with this number. */
  | { readonly kind: 'diagnose'; readonly query: number }

/** A message from a process. Its last message is `returned` or `failed`; without one it is lost. */
export type FromProcess =
  | { readonly kind: 'loaded' }
  /** A contribution, on threads, to a decision of the calling thread, which is the authority (`Decisions`). */
  | {
      readonly kind: 'decide'
      readonly key: string
      readonly members: readonly number[]
      readonly contribution: Uint8Array
    }
  /** The world has failed here; the last message follows when the processes have agreed on its end. */
  | {
      readonly kind: 'failing'
      readonly error: Uint8Array
      /** Whether the error came after losses that were survived, and is not about them. Default: false. */
      readonly afterSurvived?: boolean
    }
  | {
      readonly kind: 'returned'
      readonly results: readonly unknown[]
      /** The lost processes that the others have agreed to do without. Default: none. */
      readonly without?: readonly number[]
    }
  | { readonly kind: 'failed'; readonly error: Uint8Array }
  /** The state; null while the program is being loaded. */
  | { readonly kind: 'state'; readonly query: number; readonly state: ProcessState | null }

/** A message between processes of the operating system, whose results are serialized. */
export type FromChild =
  | Exclude<FromProcess, { readonly kind: 'returned' }>
  | { readonly kind: 'returned'; readonly results: Uint8Array; readonly without?: readonly number[] }
  /**
   * An error that no code of the program has caught; the process ends then, unless the program has a handler for it.
   */
  | { readonly kind: 'uncaught'; readonly error: Uint8Array }

/** The form of messages between processes of the operating system, by which they differ from the program's. */
export interface OwnMessage {
  readonly rankweave: FromChild
}

/** The most bytes of results of one process that cross to another, serialized. */
export const maxResultBytes = 2 ** 30
/** The most bytes of an error that crosses between threads and processes. */
export const maxErrorBytes = 2 ** 20
/** The milliseconds that a failed world waits for processes that take no part in its end, since they await nothing. */
export const endGraceMs = 5000
