import { type AdjacentOptions, type Communicator, local, run } from 'rankweave'
import { describe, expect, it } from 'vitest'
import { codeOf, onRanks } from '../../support/on-ranks.js'
import '../../../src/entry/index.js'
import { cluster } from '../../../src/machine/machine.js'

/** Rank r exchanges with r + 4: on two nodes of four, all of it leaves its node. */
const partnerOf = (rank: number) => (rank + 4) % 8
const listsOf = (rank: number) => ({ sources: [partnerOf(rank)], destinations: [partnerOf(rank)] })

const onTwoNodes = <T>(main: (world: Communicator) => Promise<T>) =>
  run(main, { ranks: 8, fabric: local({ processes: 4, nodes: ['a', 'a', 'b', 'b'] }) })

const made = (world: Communicator, options: Partial<AdjacentOptions>) =>
  world.createDistGraphAdjacent({ ...listsOf(world.rank), ...options })

describe('reorder', () => {
  it.each([
    ['another objective', { reorder: { objective: 'hops' as 'pairs' } }, 'ERR_ARGUMENT'],
    ['simulated time', { reorder: { objective: 'simulated-time' as 'pairs' } }, 'ERR_ARGUMENT'],
    ['an unknown option', { reorder: { seed: 1 } as object }, 'ERR_ARGUMENT'],
    ['no machine', { reorder: { machine: 'cluster' as never } }, 'ERR_MACHINE'],
    ['too few cores', { reorder: { machine: cluster({ nodes: 1, cores: 4 }) } }, 'ERR_MACHINE'],
    ['a word', { reorder: 'yes' as never }, 'ERR_ARGUMENT'],
  ] as const)('refuses %s before anything is sent', async (_, options, code) => {
    await onTwoNodes(async (world) => {
      const refused = made(world, options as Partial<AdjacentOptions>)
      await expect(refused).rejects.toMatchObject({ code })
    })
  })

  it('an option that is undefined is left out: the machine is that of the topology', async () => {
    const undefinedOptions = { objective: undefined, machine: undefined } as unknown as object
    const ranks = await onRanks(
      { ranks: 8, processes: 4 },
      async (world) =>
        (await made(world, { machine: cluster({ nodes: 2, cores: 4 }), reorder: undefinedOptions })).rank,
    )
    const nodes = Array.from(ranks.keys()).map((rank) => ranks.indexOf(rank) >> 2)
    expect(nodes.map((_, rank) => nodes[partnerOf(rank)])).toEqual(nodes)
  })

  it.each([-1, Number.POSITIVE_INFINITY, 1e308])(
    'all ranks refuse weights of %d by hop-bytes, and by pairs take them',
    async (weight) => {
      const weights = { sourceWeights: [weight], destinationWeights: [weight] }
      const found = await onTwoNodes(async (world) => {
        const refused = made(world, { ...weights, reorder: { objective: 'hop-bytes' } })
        const code = await codeOf(refused)
        const graph = await made(world, { ...weights, reorder: { objective: 'pairs' } })
        return [code, [...graph.sources]].join() === ['ERR_TOPOLOGY', partnerOf(graph.rank)].join()
      })
      expect(found).toEqual(Array(8).fill(true))
    },
  )

  it('ranks that pass different options fail alike', async () => {
    const codes = await onTwoNodes(async (world) => {
      const objective = world.rank === 5 ? 'edges' : 'pairs'
      return codeOf(made(world, { reorder: { objective } }))
    })
    expect(new Set(codes)).toEqual(new Set(['ERR_COLLECTIVE_MISMATCH']))
  })
})
