import type { PlanView } from '../../../src/report/plan-view.js'
import type { TopologyView } from '../../../src/report/topology-view.js'
import { vertexOf } from '../../../src/report/topology-view.js'
import { groupColor } from '../colors.js'
import { figure, groupsText } from '../format.js'

export interface Coloring {
  readonly name: string
  readonly label: string
  readonly text: string
  readonly color: (vertex: number) => string
}

/** Returns the properties by which vertices can be colored. */
export function colorings({ graph, statistics }: TopologyView, plan: PlanView | null): Coloring[] {
  const found: Coloring[] = []
  const ofRanks = (list: readonly number[]) => {
    const numbers = new Array<number>(graph.vertices).fill(-1)
    for (let rank = statistics.ranks - 1; rank >= 0; rank--) {
      const vertex = vertexOf(graph.tiling, rank)
      if (list[rank] >= 0) numbers[vertex] = list[rank]
    }
    return (vertex: number) => groupColor(numbers[vertex])
  }
  if (plan?.groups != null && plan.groups.groupOf !== null) {
    const { groupOf } = plan.groups
    found.push({
      name: 'group',
      label: 'friend group',
      text: groupsText(plan.groups, groupOf),
      color: ofRanks(groupOf),
    })
  }
  if (plan !== null && plan.nodeOf !== null) {
    const nodes = new Set(plan.nodeOf).size
    found.push({
      name: 'node',
      label: 'node',
      text: `${figure(nodes)} nodes; colors repeat`,
      color: ofRanks(plan.nodeOf),
    })
  }
  found.push({
    name: 'community',
    label: 'community',
    text: `${figure(graph.communities)} Louvain communities`,
    color: (vertex) => groupColor(graph.community[vertex]),
  })
  return found
}
