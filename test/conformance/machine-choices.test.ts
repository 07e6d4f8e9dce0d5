import { type Communicator, local, run } from 'rankweave'
import { describe, expect, it } from 'vitest'
import { coresOfParticipants, participantsOf } from '../../src/calls/plan/participants.js'
import { ranksByProcess } from '../../src/calls/values/placement.js'
import { algorithms } from '../../src/collective/algorithms.js'
import { checkOfCollective } from '../../src/conformance/algorithm-checks.js'
import { parseMachine } from '../../src/machine/machine-text.js'

const algorithm = 'auto'

const onMachine = <T>(
  text: string,
  ranks: number,
  processes: number,
  main: (world: Communicator) => Promise<T>,
) => run(main, { fabric: local({ processes }), ranks, machine: parseMachine(text) })

/** Every collective, or some, with so many elements. */
async function checkAll(
  comm: Communicator,
  length: number,
  names: readonly string[] = [...checkOfCollective.keys()],
): Promise<void> {
  const given = { slot: 3 + (length % 7), length, root: (comm.size - 1 + length) % comm.size }
  for (const name of names) await checkOfCollective.get(name)!(comm, { algorithm }, given)
}

const some = ['bcast', 'allgather', 'allreduce']

describe.each([
  ['mesh:dims=3x1,cores=2,profile=simgrid-fast', 5, 3],
  ['cluster:nodes=1,cores=2,profile=niagara', 1, 1],
] as const)('on %s, %i ranks in %i processes', (text, ranks, processes) => {
  it('every collective gives right results by auto, also in parts of the world', async () => {
    await onMachine(text, ranks, processes, async (world) => {
      await checkAll(world, 3)
      const part = await world.split(world.rank % 2, -world.rank)
      await checkAll(part!, 5, some)
    })
  })
})

describe('on a communicator of reorder', () => {
  // Ranks that exchange are far apart in the world, so reorder moves them.
  const reordered = (world: Communicator) => {
    const partners = [(world.rank + 3) % 6]
    return world.createDistGraphAdjacent({ sources: partners, destinations: partners, reorder: true })
  }
  const text = 'torus:dims=3,cores=2,profile=bluegene-p'

  it('auto and the algorithms that follow the network know where the ranks are', async () => {
    const [found] = await onMachine(text, 6, 6, async (world) => {
      const graph = await reordered(world)
      const places = [...(await graph.allgather(Int32Array.of(world.rank)))]
      for (const kind of ['reordered', 'bucket'])
        for (const [collective, check] of checkOfCollective) {
          const id = `${collective}-${kind}`
          if (!algorithms.some((each) => each.id === id)) continue
          await check(graph, { algorithm: id }, { slot: 3, length: 13, root: 4 })
        }
      await checkAll(graph, 700, some)
      const plans = graph.describe().collectives
      return { places, followed: plans.filter(({ algorithm: id }) => /-(bucket|reordered)$/.test(id ?? '')) }
    })
    expect(found.places).not.toEqual([0, 1, 2, 3, 4, 5])
    expect(found.followed.length).toBeGreaterThan(8)
  })

  it('the cores of participants are those of the permutation', async () => {
    await onMachine(text, 6, 6, async (world) => {
      const graph = await reordered(world)
      const places = await graph.allgather(Int32Array.of(world.rank))
      const { state } = graph.seat()
      const participants = participantsOf(state, 'processes')!
      expect(coresOfParticipants(state, participants)).toEqual(
        participants.process.map((index) => places[ranksByProcess(state)[index][0]]),
      )
    })
  })
})
