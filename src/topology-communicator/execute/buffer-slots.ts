import type { ProcessProgram } from '../../schedule/lower/program.js'
import { cartNeighborSlots, procNull } from '../../topology/cart-shape.js'
import type { ProcessTopology } from '../../topology/process-topology.js'

/**
 * Renumbers the slots of a grid's program: its lists hold the neighbors that exist; MPI's buffers have slots for the
 * missing ones too.
 */
export function onGrid(program: ProcessProgram, topology: ProcessTopology): ProcessProgram {
  const existing = existingSlots(program, topology)
  const fillSlot = program.fillSlot.map((slot, f) => existing[program.fillRank[f]][slot])
  return { ...program, fillSlot }
}

/** Lists for every hosted rank the slots of MPI's buffer that have a neighbor. */
function existingSlots({ ranks }: ProcessProgram, { cart }: ProcessTopology): number[][] {
  return Array.from(ranks, (rank) => {
    const existing: number[] = []
    for (const [slot, neighbor] of cartNeighborSlots(cart!, rank).entries()) {
      if (neighbor !== procNull) existing.push(slot)
    }
    return existing
  })
}

/** Returns for every contributed value of a grid its block in its rank's send buffer. */
export function ownSlotsOnGrid(program: ProcessProgram, topology: ProcessTopology): Int32Array {
  const { ownStart } = program
  const existing = existingSlots(program, topology)
  return Int32Array.from(existing.flatMap((slots, i) => slots.slice(0, ownStart[i + 1] - ownStart[i])))
}
