import { type Exchange, ForwardedExchange } from '../../calls/exchange/exchange.js'
import type { CollectiveCall } from '../../calls/matching/collective-call.js'
import type { CollectiveName } from '../../calls/signature.js'
import type { ContextId } from '../../messages/process/frames.js'
import type { ProcessPort } from '../../messages/process/process-port.js'
import type { CommTable } from '../table/distributed-table.js'
import type { ProcessList, TableContext } from '../table/process-table.js'
import type { SliceService } from '../table/slice-service.js'
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

/** The last split called on a communicator. Ranks that pass the same options share its plan and its call. */
export interface PlannedSplit {
  readonly name: CollectiveName
  readonly isSame: (options: SplitOptions | undefined) => boolean
  readonly plan: SplitPlan
  readonly call: CollectiveCall<ColorAndKey, unknown>
}

export interface PhaseCost {
  readonly seconds: number
  readonly messages: number
  readonly bytes: number
}

/** The phases in the order in which they first began. */
export type PhaseCosts = Readonly<Record<string, PhaseCost>>

interface Phase {
  readonly name: string
  seconds: number
  messages: number
  bytes: number
}

type Held = Pick<ArrayBufferView, 'byteLength'>

/** The clock, message counter and memory account of one split in one process. */
export class SplitMeter {
  /** The largest sum of array bytes that the split held at one time. */
  peakBytes = 0
  readonly #phases: Phase[] = []
  #current: Phase | undefined
  #since = 0
  #held = 0

  /** Begins the phase `name`, to which everything until the next call belongs. */
  enter(name: string): void {
    this.leave()
    let phase = this.#phases.find((each) => each.name === name)
    if (phase === undefined) {
      phase = { name, seconds: 0, messages: 0, bytes: 0 }
      this.#phases.push(phase)
    }
    this.#current = phase
  }

  leave(): void {
    const now = performance.now()
    if (this.#current !== undefined) this.#current.seconds += (now - this.#since) / 1000
    this.#current = undefined
    this.#since = now
  }

  get costs(): PhaseCosts {
    return Object.fromEntries(this.#phases.map(({ name, ...cost }) => [name, cost]))
  }

  /** Records that an array is held from now on, and that others no longer are. */
  hold(held: Held | null, ...dropped: readonly Held[]): void {
    this.#held += held?.byteLength ?? 0
    this.peakBytes = Math.max(this.peakBytes, this.#held)
    for (const { byteLength } of dropped) this.#held -= byteLength
  }

  /** Counts a message to another process. */
  sent(sizeBytes: number): void {
    if (this.#current === undefined) return
    this.#current.messages++
    this.#current.bytes += sizeBytes
  }

  /** Returns the exchange, with its messages counted in the current phase. */
  counting(exchange: Exchange): Exchange {
    return new CountingExchange(exchange, this)
  }
}

class CountingExchange extends ForwardedExchange {
  readonly #meter: SplitMeter

  constructor(exchange: Exchange, meter: SplitMeter) {
    super(exchange)
    this.#meter = meter
  }

  override send(peer: number, step: number, payload: Uint8Array, sent?: () => void): void {
    if (peer !== this.me) this.#meter.sent(payload.byteLength)
    super.send(peer, step, payload, sent)
  }
}
