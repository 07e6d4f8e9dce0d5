import { typeCode } from '../../messages/datatype/elements.js'
import type { Exchange } from '../exchange/exchange.js'
import type { CollectivePlan } from '../plan/collective-plan.js'
import { ElementStore, type LengthOf, MoveMemory } from '../values/element-store.js'

/**
 * Runs a plan that moves blocks of bytes and combines none.
 *
 * @param lengthOf bytes of every block
 * @param own what the participants here contribute, in the order of their own places
 * @param slots memory for their slots, in order; where a rank's own block belongs it may hold it already
 * @param done called when the slots are filled; what is contributed may still be read (`exchange.whenSent`)
 */
export function moveBlocks(
  plan: CollectivePlan,
  lengthOf: LengthOf,
  own: readonly Uint8Array[],
  slots: Uint8Array,
  exchange: Exchange,
  done: () => void,
): void {
  const store = new ElementStore(plan.program, plan.memory(), typeCode.Uint8Array, lengthOf, undefined)
  store.bind(own, slots)
  plan.run(exchange, store, () => {
    store.finish()
    done()
  })
}

/**
 * Runs such a plan for blocks of one length, in memory that the plan retains if it is little.
 *
 * @param ownBytes that the participants here contribute together
 * @param fill writes them
 * @param done gets the slots, which are valid until it returns
 */
export function moveShort(
  plan: CollectivePlan,
  sizeBytes: number,
  lengthOf: LengthOf,
  ownBytes: number,
  fill: (own: Uint8Array) => void,
  exchange: Exchange,
  done: (slots: Uint8Array) => void,
): void {
  const spare = plan.takeMemory()
  const memory =
    spare instanceof MoveMemory && spare.sizeBytes === sizeBytes
      ? spare
      : new MoveMemory(plan.program, plan.memory(), sizeBytes, lengthOf, ownBytes)
  fill(memory.own)
  plan.run(exchange, memory.bind(), () => {
    memory.store.finish()
    done(memory.slots)
    if (memory.isRetained) plan.retain(memory, exchange)
  })
}

/** Returns the start of part p if a unit of data is cut into parts that differ by one at most. */
export function cutAt(length: number, parts: number, part: number): number {
  return Math.floor((length * part) / parts)
}

/**
 * Returns the lengths of blocks that are numbered by participant, then segment.
 *
 * @param sizeOf bytes of the unit with this number
 */
export function segmentLengths(sizeOf: (unit: number) => number, segments: number): LengthOf {
  return (block) => {
    const size = sizeOf(Math.floor(block / segments))
    const segment = block % segments
    return cutAt(size, segments, segment + 1) - cutAt(size, segments, segment)
  }
}

/** Returns the lengths of the blocks of units of one length, cut into `parts`. */
export function unitLengths(sizeBytes: number, parts: number): LengthOf {
  return segmentLengths(() => sizeBytes, parts)
}
