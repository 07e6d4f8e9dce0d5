import type { Packed } from '../../calls/collectives/together.js'
import type { Exchange } from '../../calls/exchange/exchange.js'
import type { CollectiveCall } from '../../calls/matching/collective-call.js'
import type { CollectiveName } from '../../calls/signature.js'
import type { ContextId } from '../../messages/process/frames.js'
import type { ProcessPort } from '../../messages/process/process-port.js'
import type { CommTable } from '../table/distributed-table.js'
import type { ProcessList, TableContext } from '../table/process-table.js'
import type { SliceService } from '../table/slice-service.js'
import type { SplitMeter } from './split-meter.js'
import type { SplitOptions, SplitPlan } from './split-plan.js'

/** The arguments of the ranks of one process for a split, by local index. */
export interface SplitRequest {
  /** The colors; -1: not a member of any new communicator. */
  readonly color: Int32Array
  readonly key: Int32Array
}

/** A new communicator as one of its processes knows it. */
export interface SplitPart {
  readonly id: ContextId
  readonly table: CommTable
  /** The local indices, in the parent, of its ranks hosted here, in the order of their new ranks. */
  readonly hosted: Int32Array
  /**
   * The world processes that host its ranks, that of rank 0 first; only with a distributed table, which does not
   * contain them.
   */
  readonly processes?: ProcessList
}

export interface SplitParent extends TableContext {
  readonly runtime: SplitPort
}

/** A process that numbers new communicators and serves their distributed tables. */
interface SplitPort extends ProcessPort {
  readonly slices: SliceService
  drawCounter(): number
}

export interface SplitCall {
  readonly parent: SplitParent
  readonly exchange: Exchange
  readonly request: SplitRequest
  readonly plan: SplitPlan
  readonly meter: SplitMeter
}

/**
 * Computes the new communicators on the processes of a communicator. Each passes `done` only the parts that contain its
 * ranks: at once or later, possibly after its promise has resolved.
 */
export type SplitAlgorithm = (
  call: SplitCall,
  done: (parts: readonly SplitPart[]) => void,
) => Promise<undefined> | undefined

/** An algorithm that awaits its frames: for large or rare splits. */
export type AwaitingAlgorithm = (call: SplitCall) => Promise<readonly SplitPart[]>

/** The split that made a communicator, retained for its description. */
export interface SplitOrigin {
  readonly plan: SplitPlan
  readonly meter: SplitMeter
}

/** The arguments of one rank for a split; color -1 means null. */
export interface ColorAndKey {
  readonly color: number
  readonly key: number
}

/** The arguments of ranks that split together. */
export class PackedRows implements SplitRequest, Packed {
  readonly color: Int32Array
  readonly key: Int32Array

  constructor(ranks: number) {
    this.color = new Int32Array(ranks)
    this.key = new Int32Array(ranks)
  }

  whole(): SplitRequest {
    return this
  }

  of(localIndex: number): ColorAndKey {
    return { color: this.color[localIndex], key: this.key[localIndex] }
  }
}

/** The last split called on a communicator. Ranks that pass the same options share its plan and its call. */
export interface PlannedSplit {
  readonly name: CollectiveName
  readonly isSame: (options: SplitOptions | undefined) => boolean
  readonly plan: SplitPlan
  readonly call: CollectiveCall<ColorAndKey | PackedRows, unknown>
}
