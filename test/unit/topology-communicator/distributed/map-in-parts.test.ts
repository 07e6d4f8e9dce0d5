import { inNeighbors, mooreTopology, outNeighbors, placementCosts } from 'rankweave/topology'
import { describe, expect, it } from 'vitest'
import { uniformDistance } from '../../../../src/topology/mapping/placed-graph.js'
import { mapInParts, moveVertices } from '../../../../src/topology-communicator/distributed/map-in-parts.js'
import { memoryExchanges } from '../../../support/memory-exchange.js'

const grid = mooreTopology({ dims: [16, 16], radius: 1 })
const processes = 7
const upTo = (n: number) => Int32Array.from({ length: n }, (_, i) => i)

/** Uneven runs of ranks; vertex v of the graph is a rank far from those of its neighbors. */
const processOf = (rank: number) => Math.floor(Math.sqrt(rank / 5.3))
const vertexOf = (rank: number) => (rank * 77) % 256
const rankOf = (vertex: number) => (vertex * 133) % 256
const nodeOf = (rank: number) => processOf(rank) >> 1

const hostedBy = (process: number) => upTo(256).filter((rank) => processOf(rank) === process)
const neighborsOf = (rank: number) => ({
  sources: inNeighbors(grid, vertexOf(rank)).map(rankOf),
  destinations: outNeighbors(grid, vertexOf(rank)).map(rankOf),
})

/** The rank at every place, by process, and bytes that process 0 gets by the step of their message. */
async function mapped(bounds: {
  readonly clusters: number
  readonly edges: number
  readonly degree: number
}) {
  const bytesAtFirst: number[] = []
  const exchanges = memoryExchanges(processes, (_, dst, __, bytes) => {
    if (dst === 0) bytesAtFirst.push(bytes.length)
    return [bytes]
  })
  const found = await Promise.all(
    exchanges.map(async (exchange, process) => {
      const localRanks = hostedBy(process)
      const lists = { localRanks, hosted: Array.from(localRanks, neighborsOf) }
      const hosts = { find: processOf, learn: () => Promise.resolve(), believe: () => {} }
      const parts = {
        ranks: 256,
        nodes: 4,
        nodeOf,
        hosts,
        objective: 'pairs',
        distance: uniformDistance,
      } as const
      const mapping = await mapInParts(exchange, lists, parts, { ...bounds, work: 1e7 })
      return mapping && { mapping, localRanks, ...(await moveVertices(exchange, lists, mapping, false)) }
    }),
  )
  return { found, mostBytes: Math.max(...bytesAtFirst) }
}

const pairsOf = (nodeOfVertex: Int32Array) => placementCosts(grid, nodeOfVertex, uniformDistance).pairs
const pairsBefore = pairsOf(upTo(256).map((vertex) => nodeOf(rankOf(vertex))))

describe('a graph that is mapped in parts', () => {
  it.each([
    ['each rank for itself', { clusters: 256, edges: 1e4, degree: 64 }, 1],
    ['few edges of each', { clusters: 256, edges: 1, degree: 64 }, 1],
    ['clusters, with ranks that stay', { clusters: 64, edges: 1e4, degree: 64 }, 4],
    ['larger clusters with few edges', { clusters: 32, edges: 1e4, degree: 3 }, 8],
  ] as const)(
    '%s: a permutation, better than before, with the lists at their places',
    async (_, bounds, least) => {
      const { found } = await mapped(bounds)
      const vertices = found.flatMap((each) => [...each!.vertexAt])
      expect(vertices.toSorted((a, b) => a - b)).toEqual([...upTo(256)])
      const nodeOfVertex = new Int32Array(256)
      for (const each of found) {
        const { mapping, localRanks, vertexAt, lists } = each!
        const { size, clusterOf } = mapping.clusters
        expect(size).toBeGreaterThanOrEqual(least)
        expect(size).toBeLessThan(2 * least + 1)
        for (const [i, vertex] of vertexAt.entries()) {
          nodeOfVertex[vertexOf(vertex)] = nodeOf(localRanks[i])
          if (clusterOf[i] < 0) expect(vertex).toBe(localRanks[i])
        }
        expect([...lists.localRanks]).toEqual([...vertexAt].sort((a, b) => a - b))
        for (const [i, rank] of lists.localRanks.entries()) {
          expect(Array.from(lists.hosted[i].sources)).toEqual([...neighborsOf(rank).sources])
          expect(Array.from(lists.hosted[i].destinations)).toEqual([...neighborsOf(rank).destinations])
        }
      }
      expect(pairsOf(nodeOfVertex)).toBeLessThan(pairsBefore)
    },
  )

  it('what process 0 gathers is bounded', async () => {
    const { mostBytes } = await mapped({ clusters: 32, edges: 1, degree: 64 })
    // A cluster has at most four edges of 16 bytes.
    expect(mostBytes).toBeLessThan(64 * 16 + 256)
  })
})
