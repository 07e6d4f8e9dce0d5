import { type AdjacentOptions, type Communicator, local, run, type TopologyCommunicator } from 'rankweave'
import { cluster, type Machine, torus } from 'rankweave/machine'
import { describe, expect, it } from 'vitest'
import '../../../src/entry/index.js'
import { simgridFast, simgridSlow } from '../../../src/machine/built-in-profiles.js'
import { chooseStrategy } from '../../../src/neighborhood/choose/choose-strategy.js'
import { mooreTopology } from '../../../src/topology/generate/stencil.js'

/** Logical processes in two nodes of this world; machines have others. */
const inWorld = <T>(machine: Machine, ranks: number, main: (world: Communicator) => Promise<T>) =>
  run(main, { ranks, machine, fabric: local({ processes: 4, nodes: 2, seed: 5 }) })

/** Rank r exchanges with the rank half around. */
const partnersOf = ({ rank, size }: Pick<Communicator, 'rank' | 'size'>) => [(rank + size / 2) % size]

const pairs = (comm: Communicator, options: Partial<AdjacentOptions> = {}) => {
  const partners = partnersOf(comm)
  return comm.createDistGraphAdjacent({ sources: partners, destinations: partners, ...options })
}

/** Where every rank of a communicator is, by ranks of the world. */
const placesOf = async (world: Communicator, comm: Communicator) => [
  ...(await comm.allgather(Int32Array.of(world.rank))),
]

/** How many ranks have their partner on another node, where `cores` consecutive ranks of the world are a node. */
const apart = (places: readonly number[], cores: number) =>
  places.filter(
    (place, rank) =>
      Math.floor(place / cores) !== Math.floor(places[(rank + places.length / 2) % places.length] / cores),
  ).length

describe('the machine of a world decides where reorder puts ranks', () => {
  it.each<Partial<AdjacentOptions>>([
    {},
    { planFrom: 'neighbors' },
    { planFrom: 'neighbors', strategy: { kind: 'common-neighbor', k: 2, mode: 'aware' } },
  ])('by ranks of the world in a part of it, in any order: %j', async (options) => {
    // The part has every second rank of the world, backwards: two on each node.
    const part = [14, 12, 10, 8, 6, 4, 2, 0]
    const [places] = await inWorld(cluster({ nodes: 4, cores: 4 }), 16, async (world) => {
      const comm = await world.split(world.rank % 2 === 0 ? 0 : null, part.indexOf(world.rank))
      if (comm === null) return part
      const graph = await pairs(comm, { reorder: true, ...options })
      const partners = partnersOf(graph)
      expect([...graph.sources]).toEqual(partners)
      expect([...(await graph.neighborAllgather(Int32Array.of(graph.rank)))]).toEqual(partners)
      return placesOf(world, graph)
    })
    expect(places.toSorted((a, b) => b - a)).toEqual(part)
    expect([apart(part, 4), apart(places, 4)]).toEqual([8, 0])
  })
})

describe('the machine of a world is the default of strategies', () => {
  const machine = cluster({ nodes: 4, cores: 3, profile: simgridSlow })
  const topology = mooreTopology({ dims: [4, 3], radius: 1 })
  const budget = 2

  it('auto chooses for it, also without being asked where it has a profile', () =>
    inWorld(machine, 12, async (world) => {
      const asked = await world.createTopology(topology, { strategy: { kind: 'auto', budget } })
      const expected = chooseStrategy(topology, machine, { bytes: 64, budget }).chosen
      const { strategy, timeUs } = expected
      expect(asked.choice({ bytes: 64 })?.chosen).toMatchObject({ strategy, timeUs })
      const byDefault = await world.createTopology(topology)
      expect(byDefault.choice({ bytes: 64 })).not.toBeNull()
      const got = await byDefault.neighborAllgather(new Int32Array(16).fill(world.rank))
      expect([...got].filter((_, i) => i % 16 === 0)).toEqual([...byDefault.sources])
      const other = cluster({ nodes: 2, cores: 6, profile: simgridFast })
      const ofOptions = await world.createTopology(topology, {
        strategy: { kind: 'auto', budget },
        machine: other,
      })
      const theirs = chooseStrategy(topology, other, { bytes: 64, budget }).chosen
      expect(ofOptions.choice({ bytes: 64 })?.chosen).toMatchObject({ timeUs: theirs.timeUs })
      expect(theirs.timeUs).not.toBe(timeUs)
    }))

  it('a part of the world is on its cores: it takes what it would take in the world', () => {
    const large = torus({ dims: [4, 4], cores: 3, profile: simgridSlow })
    return inWorld(large, 48, async (world) => {
      // One rank of each node.
      const part = await world.split(world.rank % 3, -world.rank)
      const strategy = { kind: 'auto', budget: 1 } as const
      const graph = await part.createTopology(mooreTopology({ dims: [4, 4], radius: 1 }), { strategy })
      const got = await graph.neighborAllgather(Int32Array.of(part.rank))
      expect([...got]).toEqual([...graph.sources])
      const alone = torus({ dims: [4, 4], cores: 1, profile: simgridSlow })
      // In the order of nodes the ranks of the part are backwards, and a torus is the same backwards.
      const direct = (of: TopologyCommunicator) =>
        of.choice({ bytes: 256 })!.alternatives.find((each) => each.strategy === 'direct')!
      const other = await part.createTopology(mooreTopology({ dims: [4, 4], radius: 1 }), {
        ...{ strategy, machine: alone },
      })
      expect(direct(graph).messages).toBe(direct(other).messages)
      expect(direct(graph).timeUs).toBeCloseTo(direct(other).timeUs, 6)
    })
  })

  it('slices of a grid choose on it, and not on a machine of the options', () =>
    inWorld(machine, 12, async (world) => {
      const grid = (await world.createCart([4, 3], { periods: [true, true] }))!
      const column = await grid.sub([true, false])
      expect(column.choice({ bytes: 64 })).not.toBeNull()
      expect(column.describe().machine.from).toBe('world')
      const got = await column.neighborAllgather(Int32Array.of(column.rank))
      expect([...got]).toEqual([...column.sources])
      const given = (await world.createCart([4, 3], { machine }))!
      const slice = await given.sub([true, false])
      expect(slice.choice({ bytes: 64 })).toBeNull()
    }))

  it('without a profile the default is direct sends, and auto is refused', () =>
    inWorld(cluster({ nodes: 6, cores: 4 }), 8, async (world) => {
      const graph = await pairs(world)
      expect(graph.choice()).toBeNull()
      const auto = pairs(world, { strategy: { kind: 'auto' } })
      await expect(auto).rejects.toMatchObject({ code: 'ERR_MACHINE' })
    }))

  it('friends on its nodes are found from neighbors as from the graph, on every kind of table', () =>
    inWorld(cluster({ nodes: 8, cores: 6 }), 48, async (world) => {
      const lines: (string[] | null)[] = []
      for (const table of ['distributed', 'replicated'] as const) {
        const options = { table, algorithm: 'parallel-sort', selfHostRows: 0 } as const
        const part = (await world.split(world.rank % 2, -world.rank, options))!
        const neighbors = [1, 2, 3].flatMap((d) => [
          (part.rank + d) % part.size,
          (part.rank - d + part.size) % part.size,
        ])
        for (const planFrom of ['neighbors', 'graph'] as const) {
          const graph = await part.createDistGraphAdjacent({
            ...{ sources: neighbors, destinations: neighbors, planFrom },
            strategy: { kind: 'common-neighbor', k: 2, theta: 0, mode: 'aware' },
          })
          lines.push(await graph.planLines(0))
          const got = await graph.neighborAllgather(Int32Array.of(graph.rank))
          expect([...got]).toEqual(neighbors)
        }
      }
      for (const each of lines) expect(each).toEqual(lines[0])
    }))
})

describe('describe', () => {
  it('says which machine a communicator uses, and where it is from', async () => {
    const ofWorld = torus({ dims: [2, 2], cores: 2, profile: simgridFast })
    const machine = cluster({ nodes: 2, cores: 4 })
    const [found] = await inWorld(ofWorld, 8, async (world) => {
      const comms = [world, await world.split(0, 0), await pairs(world), await pairs(world, { machine })]
      return comms.map((comm) => comm.describe().machine)
    })
    const world = { from: 'world', text: 'torus:dims=2x2,cores=2,profile=simgrid-fast' }
    expect(found).toEqual([world, world, world, { from: 'options', text: 'cluster:nodes=2,cores=4' }])
    const [without] = await run((world) => world.describe().machine, { ranks: 1 })
    expect(without).toEqual({ from: 'nodes', text: null })
  })
})
