import { type Communicator, local, run } from 'rankweave'
import { expect, it } from 'vitest'
import { topologyFromEdges } from '../../../../src/topology/topology-builders.js'

/** Ranks 0 and 1 are friends with the common neighbors 2 to 5; rank 0 also receives from 6. */
const edges = [[6, 0], ...[2, 3, 4, 5].flatMap((common) => [0, 1].map((friend) => [friend, common]))]
const topology = topologyFromEdges(7, {
  sources: edges.map(([source]) => source),
  destinations: edges.map(([, destination]) => destination),
})
const strategy = { kind: 'common-neighbor', k: 2, mode: 'agnostic', theta: 1 } as const

it.each([
  ['neighborAllgather', 8],
  ['neighborAllgather', 100_000],
  ['neighborAllgatherv', 8],
  ['neighborAllgatherInit', 8],
] as const)(
  '%s of %i elements: a late frame does not delay combined frames that do not carry it',
  async (call, count) => {
    let isLate = false
    const completed: number[] = []
    const main = async (world: Communicator) => {
      const graph = await world.createTopology(topology, { strategy })
      const into = new Int32Array(graph.sources.length * count)
      const block = new Int32Array(count).fill(world.rank)
      const request = call === 'neighborAllgatherInit' ? graph.neighborAllgatherInit(block, into) : null
      // The plan is lowered, and lengths are exchanged, before frames are late.
      await (request?.start() ?? graph.neighborAllgather(block))
      await world.barrier()
      isLate = true
      if (request !== null) await request.start()
      else await graph[call as 'neighborAllgather'](block, { into })
      completed.push(world.rank)
      expect([...graph.sources].map((_, slot) => into[slot * count])).toEqual([...graph.sources])
    }
    // Turns in which all other frames of the call arrive many times over.
    const delay = (src: number, dst: number): number => (isLate && src === 6 && dst === 0 ? 500 : 0)
    await run(main, { ranks: 7, fabric: local({ processes: 7, seed: 3, faults: { delay } }) })
    expect(completed).toHaveLength(7)
    expect(completed.at(-1)).toBe(0)
  },
)
