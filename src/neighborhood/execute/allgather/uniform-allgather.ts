import type { CollectiveCall } from '../../../comm/calls/collective-call.js'
import type { Exchange } from '../../../comm/calls/exchange.js'
import { ProgramRun } from '../../../comm/calls/program/run-program.js'
import type { Signature } from '../../../comm/calls/signature.js'
import { elementSizeBytes, newArray, type TypedArray, typeCode } from '../../../comm/datatype/elements.js'
import { newWords, type Words, wordsPerElement, wordViewOf } from '../memory/memory-words.js'
import { elementsOver, smallWords } from '../memory/receive-buffers.js'
import { fillRankSlots, UniformStore } from '../memory/uniform-store.js'
import { countRun } from '../neighbor-traffic.js'
import type { Neighborhood } from '../neighborhood.js'

/** What a rank contributes to a neighbor allgather. */
export interface Blocks {
  readonly elements: TypedArray
  readonly into: TypedArray | undefined
}

/** What a run needs: reused by later ones. */
interface RunWithStore {
  readonly run: ProgramRun
  readonly store: UniformStore
}

/** A store of at most this many bytes is retained for the next run. */
const maxRetainedBytes = 2 ** 20

/**
 * A neighbor allgather of blocks of one length, in one process. Ranks with equal calls share the object, and so do
 * consecutive calls: it retains the memory that a run needs.
 */
export class UniformAllgather implements CollectiveCall<Blocks, TypedArray> {
  readonly signature: Signature
  readonly unplaced: boolean
  readonly #neighborhood: Neighborhood
  readonly #type: number
  readonly countElems: number
  readonly #scratch: Scratch
  /** Retained, while no call uses it. */
  #spare: RunWithStore | undefined

  /** @param type wire code of the elements */
  constructor(neighborhood: Neighborhood, type: number, countElems: number) {
    this.signature = { name: 'neighborAllgather', type, count: countElems }
    this.unplaced = neighborhood.isLocated
    this.#neighborhood = neighborhood
    this.#type = type
    this.countElems = countElems
    this.#scratch = new Scratch(type)
  }

  /** Whether it is the call of a rank with such a block. */
  fits(neighborhood: Neighborhood, type: number, countElems: number): boolean {
    return neighborhood === this.#neighborhood && type === this.#type && countElems === this.countElems
  }

  run(blocks: readonly Blocks[], exchange: Exchange): undefined {
    const { program, traffic } = this.#neighborhood
    const taken = this.#takeSpare()
    const { run, store } = taken
    const own = store.elements as Float64Array
    for (let v = 0; v < blocks.length; v++) {
      own.set(blocks[v].elements as Float64Array, v * this.countElems)
    }
    run.start(exchange, store, () => {
      countRun(traffic, program.counts)
      const results: TypedArray[] = new Array(blocks.length)
      for (let i = 0; i < blocks.length; i++) results[i] = this.#result(store, i, blocks[i].into)
      // Frames that have been offered are still in it.
      if (exchange.isSent && store.sizeBytes <= maxRetainedBytes) this.#spare = taken
      exchange.finish(results)
    })
    return undefined
  }

  #takeSpare(): RunWithStore {
    const spare = this.#spare
    this.#spare = undefined
    if (spare !== undefined) return spare
    const { program } = this.#neighborhood
    const type = this.#type
    return {
      run: new ProgramRun(program),
      store: new UniformStore(program, type, elementSizeBytes(type), this.countElems),
    }
  }

  #result(store: UniformStore, index: number, into: TypedArray | undefined): TypedArray {
    const { program, slots, isGrid } = this.#neighborhood
    const size = this.#neighborhood.slotsOf(program.ranks[index]) * this.countElems
    const target = into ?? newArray(this.#type, size)
    if (this.#scratch.isWord) fillRankSlots(slots, index, store, target as unknown as Words)
    else if (!isGrid && this.#scratch.holds(size)) {
      fillRankSlots(slots, index, store, this.#scratch.words)
      ;(target as Float64Array).set(this.#scratch.elements(size) as Float64Array)
    } else fillRankSlots(slots, index, store, wordViewOf(target))
    return target
  }
}

/**
 * Collects the blocks of one rank before they are copied to its buffer as elements: for a few blocks less work than a view
 * of the buffer as words. Elements that are words themselves need neither.
 */
class Scratch {
  /** Whether elements can be written one by one as words, bit by bit. */
  readonly isWord: boolean
  readonly #type: number
  readonly #perElement: number
  readonly #bySize: TypedArray[] = []
  #words: Words | undefined

  constructor(type: number) {
    this.#type = type
    this.#perElement = wordsPerElement(elementSizeBytes(type))
    this.isWord = this.#perElement === 1 && type !== typeCode.Float32Array
  }

  get words(): Words {
    this.#words ??= newWords(elementSizeBytes(this.#type), smallWords)
    return this.#words
  }

  holds(countElems: number): boolean {
    return countElems * this.#perElement <= smallWords
  }

  /** The first `countElems` elements. */
  elements(countElems: number): TypedArray {
    this.#bySize[countElems] ??= elementsOver(
      this.#type,
      this.words.subarray(0, countElems * this.#perElement),
    )
    return this.#bySize[countElems]
  }
}
