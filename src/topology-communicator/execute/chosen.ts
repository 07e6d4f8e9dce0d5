import type { ChosenOperation } from '../../neighborhood/choose/choice.js'
import type { ProcessTopology } from '../../topology/process-topology.js'
import type { Neighborhood } from './neighborhood.js'

/**
 * What carries out an operation with blocks of some length: the neighborhood itself, or one for the strategy
 * chosen; by promise where it is chosen first, without holding the event loop for long. All ranks ask for the
 * same.
 */
export function chosenNeighborhood(
  neighborhood: Neighborhood,
  bytes: number,
  operation: ChosenOperation,
): Neighborhood | Promise<Neighborhood> {
  const chosen = () => neighborhood.forBlocks(bytes, operation)
  if (!neighborhood.mustChoose(bytes, operation)) return chosen()
  return neighborhood.prepareChoice(bytes, operation).then(chosen)
}

/**
 * As {@link chosenNeighborhood}, of an alltoall. Blocks whose length not all ranks know are sent directly,
 * unless the strategy says for which length to choose: routes send blocks of an alltoall more than once, so a
 * wrong guess costs what a right one saves.
 *
 * @param bytes of every block; null where they vary
 */
export function chosenAlltoall(
  neighborhood: Neighborhood,
  bytes: number | null,
): Neighborhood | Promise<Neighborhood> {
  if (!hasChoice(neighborhood)) return neighborhood
  const known = neighborhood.fixedBytes ?? (isLengthKnown(neighborhood) ? bytes : null)
  return known === null ? neighborhood : chosenNeighborhood(neighborhood, known, 'neighbor-alltoall')
}

/**
 * Whether the length of equal blocks is part of what all ranks agree on, because the strategy is chosen by
 * it.
 */
export function isChosenByLength(neighborhood: Neighborhood): boolean {
  return hasChoice(neighborhood) && neighborhood.fixedBytes === null && isLengthKnown(neighborhood)
}

/**
 * False where ranks plan from their neighbors, whatever the strategy: reading the topology would build it for
 * all ranks.
 */
function hasChoice({ isAuto, isLocated }: Neighborhood): boolean {
  return isAuto && !isLocated
}

const known = new WeakMap<ProcessTopology, boolean>()

/**
 * Whether every rank knows how long the equal blocks of an alltoall are: each has one to send, or on a grid
 * the slot of one.
 */
export function isLengthKnown({ topology }: Neighborhood): boolean {
  let isKnown = known.get(topology)
  if (isKnown === undefined) {
    const { cart, outStart } = topology
    isKnown =
      cart === null
        ? outStart.every((start, rank) => rank === 0 || start > outStart[rank - 1])
        : cart.dims.length > 0
    known.set(topology, isKnown)
  }
  return isKnown
}
