import type { Exchange } from '../../calls/exchange/exchange.js'
import type { CollectiveCall } from '../../calls/matching/collective-call.js'
import type { Signature } from '../../calls/signature.js'
import {
  elementSizeBytes,
  newArray,
  requireIntact,
  type TypedArray,
} from '../../messages/datatype/elements.js'
import { countRun } from '../execute/neighbor-traffic.js'
import type { Neighborhood } from '../execute/neighborhood.js'
import { RankResults } from '../memory/rank-results.js'
import { SpareRun } from '../memory/spare-run.js'
import { UniformStore } from '../memory/uniform-store.js'

export interface Blocks {
  readonly elements: TypedArray
  readonly into: TypedArray | undefined
}

/** A loop is faster than `set` for so many elements, or fewer. */
const fewElems = 16

/**
 * A neighbor allgather of blocks of one length, in one process. Ranks with equal calls share the object, and
 * so do consecutive calls: it retains the memory that a run needs.
 */
export class UniformAllgather implements CollectiveCall<Blocks, TypedArray> {
  readonly signature: Signature
  readonly unplaced: boolean
  readonly #neighborhood: Neighborhood
  readonly #type: number
  readonly countElems: number
  readonly #results: RankResults
  readonly #spare = new SpareRun<UniformStore>()

  /** @param type wire code of the elements */
  constructor(neighborhood: Neighborhood, type: number, countElems: number) {
    this.signature = { name: 'neighborAllgather', type, count: countElems }
    this.unplaced = neighborhood.isLocated
    this.#neighborhood = neighborhood
    this.#type = type
    this.countElems = countElems
    this.#results = new RankResults(type)
  }

  /** Whether this is the call of a rank with such a block. */
  fits(neighborhood: Neighborhood, type: number, countElems: number): boolean {
    return neighborhood === this.#neighborhood && type === this.#type && countElems === this.countElems
  }

  run(blocks: readonly Blocks[], exchange: Exchange): undefined {
    const { program, traffic } = this.#neighborhood
    const type = this.#type
    const memory = this.#spare.take(
      program,
      type,
      this.countElems,
      () => new UniformStore(program, type, elementSizeBytes(type), this.countElems),
    )
    const { run, store } = memory
    const own = store.elements as Float64Array
    const count = this.countElems
    for (let v = 0; v < blocks.length; v++) {
      const elements = blocks[v].elements as Float64Array
      requireIntact(elements)
      if (count > fewElems) own.set(elements, v * count)
      else for (let e = 0; e < count; e++) own[v * count + e] = elements[e]
    }
    run.start(exchange, store, () => {
      countRun(traffic, program.counts)
      const results: TypedArray[] = new Array(blocks.length)
      for (let i = 0; i < blocks.length; i++) results[i] = this.#result(store, i, blocks[i].into)
      this.#spare.put(memory, exchange)
      exchange.finish(results)
    })
    return undefined
  }

  #result(store: UniformStore, index: number, into: TypedArray | undefined): TypedArray {
    const { program, slots, isGrid } = this.#neighborhood
    const size = this.#neighborhood.slotsOf(program.ranks[index]) * this.countElems
    const target = into ?? newArray(this.#type, size)
    this.#results.fill(slots, index, store, target, size, !isGrid)
    return target
  }
}
