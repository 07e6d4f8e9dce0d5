import { RankFailure } from '../../calls/matching/collective-call.js'
import type { Layout } from '../../calls/values/deliver.js'
import type { Gathered } from '../../calls/values/placement.js'
import { isRankweaveError } from '../../errors.js'
import { newArray, type TypedArray } from '../../messages/datatype/elements.js'
import type { ProcessProgram } from '../../schedule/lower/program.js'
import type { BlockStore } from '../memory/block-store.js'
import { type BlockLayout, blockLayout, checkInto, elementWords, receiveBuffers } from '../memory/buffers.js'
import { fillSlots } from '../memory/slot-list.js'
import type { Neighborhood } from './neighborhood.js'

/**
 * Delivers blocks whose lengths have arrived with them. Returns what every hosted rank gets, or the failure of a rank
 * whose counts or buffer did not fit.
 *
 * @param wanted the counts and places that every hosted rank expects
 */
export function deliverVarying(
  name: string,
  neighborhood: Neighborhood,
  program: ProcessProgram,
  store: BlockStore,
  type: number,
  wanted: readonly Layout[],
): (Gathered<TypedArray> | RankFailure)[] {
  const delivery = varyingDelivery(name, neighborhood, program, store, type, wanted)
  const { counts, displs, failures } = delivery
  delivery.fill()
  return delivery.results().map((data, i) => failures[i] ?? { data, counts: counts[i], displs: displs[i] })
}

/** The delivery of a store's blocks whose lengths are known. All lists are by hosted rank. */
interface VaryingDelivery {
  readonly counts: readonly Int32Array[]
  readonly displs: readonly Int32Array[]
  /** The failures of ranks whose counts or buffer do not fit; their blocks go to buffers that are dropped. */
  readonly failures: readonly (RankFailure | undefined)[]
  /** Copies the present values of the store. */
  fill(): void
  results(): TypedArray[]
}

export function varyingDelivery(
  name: string,
  neighborhood: Neighborhood,
  program: ProcessProgram,
  store: BlockStore,
  type: number,
  wanted: readonly Layout[],
): VaryingDelivery {
  const counts = slotCounts(neighborhood, program, store, type)
  const layouts = wanted.map((options, i) => receiveLayout(name, type, counts[i], options))
  const sizes = layouts.map(({ size }) => size)
  const buffers = receiveBuffers(type, sizes, (i) => layouts[i].into)
  const displs = layouts.map((layout) => layout.displs)
  const fillTo = varyingFill(program, displs, type)
  return {
    counts,
    displs,
    failures: layouts.map(({ failure }) => failure),
    fill: () => fillSlots(program, store, buffers, fillTo),
    results: buffers.results,
  }
}

/** Returns the number of elements of every slot of every hosted rank; 0 on a grid without a neighbor there. */
function slotCounts(
  neighborhood: Neighborhood,
  { ranks, fillStart, fillRank, fillSlot }: ProcessProgram,
  store: BlockStore,
  type: number,
): Int32Array[] {
  const perElement = elementWords(type)
  const counts = Array.from(ranks, (rank) => new Int32Array(neighborhood.slotsOf(rank)))
  for (let v = 0; v + 1 < fillStart.length; v++) {
    const count = store.length[v] / perElement
    for (let f = fillStart[v]; f < fillStart[v + 1]; f++) counts[fillRank[f]][fillSlot[f]] = count
  }
  return counts
}

/**
 * Returns the word at which each slot begins, given the displacements `displs[i][slot]` in elements of the i-th hosted
 * rank's buffer.
 */
function varyingFill(
  { fillRank, fillSlot }: ProcessProgram,
  displs: readonly Int32Array[],
  type: number,
): Int32Array {
  const perElement = elementWords(type)
  return fillSlot.map((slot, f) => displs[fillRank[f]][slot] * perElement)
}

const packed = { counts: undefined, displs: undefined }

interface ReceiveLayout extends BlockLayout {
  readonly into: TypedArray | undefined
  /**
   * The failure of a rank whose counts or buffer did not fit. The rank fails alone, and its blocks go to a buffer that
   * is dropped.
   */
  readonly failure?: RankFailure
}

function receiveLayout(name: string, type: number, arrived: Int32Array, wanted: Layout): ReceiveLayout {
  try {
    const layout = blockLayout(name, arrived, wanted)
    checkInto(name, wanted.into, type, layout.size)
    // Displacements may need more memory than is available.
    const mustMake = wanted.into === undefined && wanted.displs !== undefined
    return { ...layout, into: mustMake ? newArray(type, layout.size) : wanted.into }
  } catch (error) {
    if (!isRankweaveError(error)) throw error
    return { ...blockLayout(name, arrived, packed), into: undefined, failure: new RankFailure(error) }
  }
}
