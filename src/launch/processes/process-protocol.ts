import type { Decision } from '../../fabric/fabric.js'
import type { ThreadsConnection } from '../../fabric/threads/threads-connect.js'
import type { Machine } from '../../machine/machine.js'
import type { MatchingOptions } from '../../messages/process/matching-options.js'
import type { TuningFile } from '../../tuning/models/tuning-file.js'
import type { OnlineOptions } from '../../tuning/online/online-options.js'
import type { ProcessState } from '../../world/diagnosis.js'

/** What a world is started with, the same at all its processes. */
export interface WorldData {
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
  /** False: of the program only the default export runs. */
  readonly hosted?: boolean
}

/** What a worker is started with. */
export interface ProcessData {
  readonly kind: 'rankweave process'
  readonly program: string
  readonly connection: ThreadsConnection
  readonly world: WorldData
}

/** What a process of the operating system is started with, as its first message. */
export interface ChildData {
  readonly kind: 'rankweave child'
  readonly program: string
  readonly process: number
  /** Of the rendezvous. */
  readonly url: string
  readonly token: string
  readonly node: string
  readonly world: Omit<WorldData, 'args'>
  /** `world.args`, serialized. */
  readonly args: Uint8Array
}

/** From the thread that called `run` to a worker or another process. Errors are those of `encodeError`. */
export type ToProcess =
  /** Every process has loaded the program. */
  | { readonly kind: 'start' }
  | { readonly kind: 'abort'; readonly reason: Uint8Array }
  | { readonly kind: 'lost'; readonly process: number; readonly reason: string }
  /** On threads: a decision that this process has contributed to. */
  | { readonly kind: 'decision'; readonly key: string; readonly decision: Decision }
  /** Requests a `state` with this number. */
  | { readonly kind: 'diagnose'; readonly query: number }

/** From a process. Its last message is `returned` or `failed`; without one it is lost. */
export type FromProcess =
  | { readonly kind: 'loaded' }
  /**
   * On threads: its contribution to a decision of the calling thread, which is the authority (`Decisions`).
   */
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
      /** The error came after losses that were survived, and is not about them. Default: false. */
      readonly afterSurvived?: boolean
    }
  | {
      readonly kind: 'returned'
      readonly results: readonly unknown[]
      /** Lost processes that the others have agreed to do without. Default: none. */
      readonly without?: readonly number[]
    }
  | { readonly kind: 'failed'; readonly error: Uint8Array }
  /** Null while the program is being loaded. */
  | { readonly kind: 'state'; readonly query: number; readonly state: ProcessState | null }

/** The same between processes of the operating system, whose results are serialized. */
export type FromChild =
  | Exclude<FromProcess, { readonly kind: 'returned' }>
  | { readonly kind: 'returned'; readonly results: Uint8Array; readonly without?: readonly number[] }
  /** What no code of it has caught; it ends then, unless the program has a handler for it. */
  | { readonly kind: 'uncaught'; readonly error: Uint8Array }

/** Longest results of one process that cross to another, serialized, in bytes. */
export const maxResultBytes = 2 ** 30
/** Longest error that crosses between threads and processes, in bytes. */
export const maxErrorBytes = 2 ** 20
