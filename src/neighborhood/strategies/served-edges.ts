import type { FriendGroups } from '../../topology/friends/friend-groups.js'
import type { NeighborSets } from '../../topology/neighbors.js'
import { edgeOf } from './edge-ways.js'

/**
 * Calls back for every edge that a group serves, in the order of the groups, with the friend that serves it.
 */
export function serveEdges(
  { k, count, members, step, commonStart, common, holder }: FriendGroups,
  out: NeighborSets,
  serve: (edge: number, holder: number, step: number) => void,
): void {
  for (let group = 0; group < count; group++) {
    for (let c = commonStart[group]; c < commonStart[group + 1]; c++) {
      const serving = members[group * k + holder[c]]
      for (let i = 0; i < k; i++) serve(edgeOf(out, members[group * k + i], common[c]), serving, step[group])
    }
  }
}
