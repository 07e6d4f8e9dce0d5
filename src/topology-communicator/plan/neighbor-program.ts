import type { Exchange } from '../../calls/exchange/exchange.js'
import { PlannedProgram } from '../../calls/program/run-program.js'
import { type SlotList, slotList, UniformStore } from '../../calls/values/uniform-store.js'
import { typeCode } from '../../messages/datatype/elements.js'
import type { CachedPlan } from '../../neighborhood/plan/plan-cache.js'
import type { ProcessCounts, ProcessProgram } from '../../schedule/lower/program.js'

/** The traffic of completed calls of neighborhood collectives. */
export interface NeighborTraffic {
  /** The calls and starts in which this process took part, counted once for all its ranks. */
  calls: number
  /** The number of messages of the schedule that left this process in frames. */
  messagesSent: number
  /** The number of messages of the schedule between ranks of this process, which became copies. */
  messagesInProcess: number
  framesSent: number
  blocksSent: number
}

/** Adds the traffic of one run of a program. */
export function countRun(
  traffic: NeighborTraffic,
  { messagesSent, messagesInside, framesSent, blocksSent }: ProcessCounts,
): void {
  traffic.calls++
  traffic.messagesSent += messagesSent
  traffic.messagesInProcess += messagesInside
  traffic.framesSent += framesSent
  traffic.blocksSent += blocksSent
}

export function noTraffic(): NeighborTraffic {
  return { calls: 0, messagesSent: 0, messagesInProcess: 0, framesSent: 0, blocksSent: 0 }
}

/** The program that a process runs for an operation of a neighborhood. */
export class NeighborProgram extends PlannedProgram {
  /**
   * The block of its rank's send buffer that every contributed value is. Null if the values of a rank are its blocks,
   * in their order.
   */
  readonly ownSlot: Int32Array | null
  readonly slots: SlotList
  /**
   * The plan, retained for as long as the neighborhood, so that other processes of this address space find it. Null for
   * a part.
   */
  readonly plan: CachedPlan | null
  readonly #traffic: NeighborTraffic

  constructor(
    program: ProcessProgram,
    ownSlot: Int32Array | null,
    plan: CachedPlan | null,
    traffic: NeighborTraffic,
  ) {
    super(program)
    this.ownSlot = ownSlot
    this.slots = slotList(program)
    this.plan = plan
    this.#traffic = traffic
  }

  /** Returns the block in its rank's send buffer of a value that the i-th hosted rank contributes. */
  slotOf(i: number, value: number): number {
    return this.ownSlot === null ? value - this.program.ownStart[i] : this.ownSlot[value]
  }

  override noteRun(): void {
    countRun(this.#traffic, this.program.counts)
  }

  /** Returns the store of the last run if it has values of this type and length and is not in use; otherwise a new one. */
  takeStore(type: number, countElems: number): UniformStore {
    const spare = this.takeMemory()
    return spare instanceof UniformStore && spare.type === type && spare.countElems === countElems
      ? spare
      : new UniformStore(this.program, type, countElems)
  }

  /**
   * Exchanges some integers about every value by running the program once with them as blocks.
   *
   * @param each integers per value
   * @param fill writes the integers of the contributed values: those of value v from `v * each` on
   */
  async exchangeIntegers(
    exchange: Exchange,
    each: number,
    fill: (words: Int32Array) => void,
  ): Promise<Int32Array> {
    const store = new UniformStore(this.program, typeCode.Int32Array, each)
    const words = store.words as Int32Array
    fill(words)
    await new Promise<void>((resolve) => this.run(exchange, store, resolve))
    this.noteRun()
    return words
  }
}
