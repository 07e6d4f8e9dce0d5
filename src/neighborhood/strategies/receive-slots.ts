import type { ScheduleBuilder } from '../../schedule/builder.js'
import type { ProcessTopology } from '../../topology/process-topology.js'

/**
 * The places where a rank's blocks arrive, rank by rank. A source that is listed several times delivers once, into its
 * first slot, which is copied to the others. A self loop is a copy of the rank's own block.
 */
export class ReceiveSlots {
  /** The distinct sources of the entered rank except itself, in the order of their first slots. */
  readonly sources: Int32Array
  sourceCount = 0
  readonly #builder: ScheduleBuilder
  readonly #topology: ProcessTopology
  #rank = -1
  /** The first slot of a source, valid if `#seenBy` names the entered rank. */
  readonly #firstSlot: Int32Array
  readonly #seenBy: Int32Array

  constructor(builder: ScheduleBuilder, topology: ProcessTopology) {
    this.sources = new Int32Array(topology.ranks)
    this.#builder = builder
    this.#topology = topology
    this.#firstSlot = new Int32Array(topology.ranks)
    this.#seenBy = new Int32Array(topology.ranks).fill(-1)
  }

  enter(rank: number): void {
    const { inStart, inRank } = this.#topology
    this.#rank = rank
    this.sourceCount = 0
    for (let e = inStart[rank]; e < inStart[rank + 1]; e++) {
      const source = inRank[e]
      if (this.#seenBy[source] === rank) continue
      this.#seenBy[source] = rank
      this.#firstSlot[source] = e - inStart[rank]
      if (source !== rank) this.sources[this.sourceCount++] = source
    }
  }

  /** Whether the entered rank has a rank among its sources. */
  isSource(source: number): boolean {
    return this.#seenBy[source] === this.#rank
  }

  /** Returns the place of the first slot of one of the entered rank's sources. */
  placeOf(source: number): number {
    return this.#builder.slot(this.#rank, this.#firstSlot[source])
  }

  /** Fills the slots that no message fills, for repeated sources and self loops, in the rank's last phase. */
  copyRest(phase: number): void {
    const { inStart, inRank } = this.#topology
    const rank = this.#rank
    let open = false
    for (let e = inStart[rank]; e < inStart[rank + 1]; e++) {
      const source = inRank[e]
      const slot = e - inStart[rank]
      if (source !== rank && this.#firstSlot[source] === slot) continue
      if (!open) this.#builder.copy(rank, phase)
      open = true
      const from = source === rank ? ownPlace : this.placeOf(source)
      this.#builder.add(source, from, this.#builder.slot(rank, slot))
    }
  }
}

/** The place of the only block that a rank contributes to a neighbor allgather. */
export const ownPlace = 0
