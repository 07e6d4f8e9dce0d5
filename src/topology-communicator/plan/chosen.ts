import type { ChosenOperation } from '../../neighborhood/choose/auto.js'
import type { ProcessTopology } from '../../topology/process-topology.js'
import type { Neighborhood } from './neighborhood.js'

/**
 * Returns the neighborhood that executes an operation with blocks of some length: the given one, or one for the chosen
 * strategy. It is a promise if the choice is made first, without holding the event loop for long. All ranks pass the
 * same arguments.
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
 * Returns the neighborhood of an alltoall, as {@link chosenNeighborhood} does. Blocks whose length not all ranks know
 * are sent directly, unless the strategy names the length to choose for. Routes send blocks of an alltoall more than
 * once, so a wrong guess costs what a right one saves.
 *
 * @param bytes of every block; null if they vary
 */
export function chosenAlltoall(
  neighborhood: Neighborhood,
  bytes: number | null,
): Neighborhood | Promise<Neighborhood> {
  if (!hasChoice(neighborhood)) return neighborhood
  const known = neighborhood.fixedBytes ?? (isLengthKnown(neighborhood) ? bytes : null)
  return known === null ? neighborhood : chosenNeighborhood(neighborhood, known, 'neighbor-alltoall')
}

/** Whether ranks agree on the length of equal blocks as well, because the strategy is chosen by it. */
export function isChosenByLength(neighborhood: Neighborhood): boolean {
  return hasChoice(neighborhood) && neighborhood.fixedBytes === null && isLengthKnown(neighborhood)
}

/**
 * Whether the library chooses. False if ranks plan from their neighbors, whatever the strategy: reading the topology
 * would build it for all ranks.
 */
function hasChoice({ isAuto, isLocated }: Neighborhood): boolean {
  return isAuto && !isLocated
}

const known = new WeakMap<ProcessTopology, boolean>()

/**
 * Whether every rank knows the length of an alltoall's equal blocks: each sends one, or has the slot of one on a grid.
 */
function isLengthKnown({ topology }: Neighborhood): boolean {
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
