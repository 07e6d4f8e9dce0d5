import type { BoundCollective } from '../../calls/program/bound-collective.js'
import { PersistentRequest } from '../../calls/program/persistent-request.js'
import type { CommSeat } from '../../comm/handle.js'
import type { TypedArray } from '../../messages/datatype/elements.js'
import type { Tuner, Tuning } from './tuner.js'

/** The place of the tuner that the ranks of a process share. The last of them to make its request sets it. */
export interface TunerPlace {
  tuner?: Tuner
}

/** A persistent neighborhood collective, whose first starts may try strategies. */
export class NeighborRequest extends PersistentRequest {
  readonly #place: TunerPlace

  /** Users get these requests from the methods whose names end in `Init`. */
  constructor(
    seat: CommSeat,
    setup: Promise<BoundCollective>,
    buffers: readonly TypedArray[],
    place: TunerPlace,
  ) {
    super(seat, setup, buffers)
    this.#place = place
  }

  /**
   * The measurements of the first starts and the chosen strategy; a fresh object. Null without `tune`, and before every
   * rank of the process has made its request.
   */
  get tuning(): Tuning | null {
    return this.#place.tuner?.report ?? null
  }
}
