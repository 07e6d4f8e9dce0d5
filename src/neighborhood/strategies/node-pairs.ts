import { getOrAdd } from '../../base/maps.js'
import { firstNotBelow, indexIn } from '../../base/search.js'
import { type CompressedRows, transposeRows } from '../../topology/compressed-rows.js'
import { distinctOut } from '../../topology/neighbors.js'
import type { ProcessTopology } from '../../topology/process-topology.js'
import type { NodeLayout } from './node-layout.js'

/** The pairs of layouts in use, each of one topology. */
const found = new WeakMap<NodeLayout, NodePairs>()

export function nodePairs(topology: ProcessTopology, layout: NodeLayout): NodePairs {
  return getOrAdd(found, layout, () => new NodePairs(topology, layout))
}

/** The ordered pairs of different nodes with an edge between their ranks. */
export class NodePairs {
  readonly #out: CompressedRows
  readonly #in: CompressedRows

  constructor(topology: ProcessTopology, { nodes, node, start, ranks }: NodeLayout) {
    const out = distinctOut(topology)
    const rows: number[] = []
    const rowStart = new Int32Array(nodes + 1)
    const seenBy = new Int32Array(nodes).fill(-1)
    for (let n = 0; n < nodes; n++) {
      const partners: number[] = []
      for (let i = start[n]; i < start[n + 1]; i++) {
        for (let e = out.start[ranks[i]]; e < out.start[ranks[i] + 1]; e++) {
          const other = node[out.rank[e]]
          if (other === n || seenBy[other] === n) continue
          seenBy[other] = n
          partners.push(other)
        }
      }
      for (const other of partners.sort((a, b) => a - b)) rows.push(other)
      rowStart[n + 1] = rows.length
    }
    this.#out = { start: rowStart, rank: Int32Array.from(rows) }
    this.#in = transposeRows(nodes, this.#out)
  }

  /** Returns the number of nodes to which a node sends. */
  destinationsOf(node: number): number {
    return this.#out.start[node + 1] - this.#out.start[node]
  }

  /** Returns the number of nodes from which a node receives. */
  sourcesOf(node: number): number {
    return this.#in.start[node + 1] - this.#in.start[node]
  }

  /** Returns the number of a destination among those of a node, counted from the first one after the node. */
  destinationIndex(node: number, destination: number): number {
    return indexAfter(this.#out, node, destination)
  }

  /** Returns the number of a source among those of a node, counted backwards from the first one before the node. */
  sourceIndex(node: number, source: number): number {
    return this.sourcesOf(node) - 1 - indexAfter(this.#in, node, source)
  }
}

function indexAfter({ start, rank }: CompressedRows, node: number, other: number): number {
  const row = rank.subarray(start[node], start[node + 1])
  return (indexIn(row, other) - firstNotBelow(row, node, 0, row.length) + row.length) % row.length
}
