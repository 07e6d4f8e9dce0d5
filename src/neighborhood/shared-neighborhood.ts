import type { CommState } from '../comm/context/comm-state.js'
import { Neighborhood, type NeighborhoodOptions } from './execute/neighborhood.js'

const neighborhoods = new WeakMap<CommState, Neighborhood>()

/** The neighborhood of a communicator in this process, made by the first of its ranks that asks. */
export function sharedNeighborhood(state: CommState, describe: () => NeighborhoodOptions): Neighborhood {
  let neighborhood = neighborhoods.get(state)
  if (neighborhood === undefined) {
    neighborhood = new Neighborhood(state, describe())
    neighborhoods.set(state, neighborhood)
  }
  return neighborhood
}
