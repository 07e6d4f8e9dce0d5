import type { BoundCollective } from '../../calls/program/bound-collective.js'
import { PersistentRequest } from '../../calls/program/persistent-request.js'
import type { CommSeat } from '../../comm/handle.js'
import type { TypedArray } from '../../messages/datatype/elements.js'
import type { Tuner, Tuning } from './tuner.js'

/**
 * Where the ranks of a process find the tuner that they share: set when the last of them has made its
 * request.
 */
export interface TunerPlace {
  tuner?: Tuner
}

/** A persistent neighborhood collective, whose first starts may try strategies. */
export class NeighborRequest extends PersistentRequest {
  readonly #place: TunerPlace

  /** Not for users: the methods whose names end in `Init` return these requests. */
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
   * What the first starts have measured, and what was chosen; a fresh object. Null without `tune`, and before
   * every rank of the process has made its request.
   */
  get tuning(): Tuning | null {
    return this.#place.tuner?.report ?? null
  }
}
