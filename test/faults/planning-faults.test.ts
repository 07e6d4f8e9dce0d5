import { type Communicator, type LocalOptions, local, run } from 'rankweave'
import type { Strategy } from 'rankweave/schedule'
import { inNeighbors, mooreTopology, outNeighbors } from 'rankweave/topology'
import { expect, it } from 'vitest'
import { codeOf } from '../support/on-ranks.js'

const topology = mooreTopology({ dims: [3, 4], radius: 1 })

const strategies: readonly Strategy[] = [
  { kind: 'common-neighbor', k: 2, mode: 'agnostic', theta: 1, engine: 'distributed' },
  { kind: 'routed', radices: [3, 4] },
]

const mainWith = (strategy: Strategy) => async (world: Communicator) => {
  // In a table that is distributed, the processes of others are looked up while frames are late.
  const key = (world.rank * 5) % world.size
  const comm = await world.split(0, key, { table: 'distributed', selfHostRows: 0 })
  const graph = await comm.createDistGraphAdjacent({
    sources: inNeighbors(topology, comm.rank),
    destinations: outNeighbors(topology, comm.rank),
    strategy,
    planFrom: 'neighbors',
  })
  const blocks = await graph.neighborAllgather(Int32Array.of(comm.rank))
  expect([...blocks]).toEqual([...inNeighbors(topology, comm.rank)])
}

/** The code that planning in a world with faults ends with; `none` where its blocks are right. */
const outcome = (strategy: Strategy, options: LocalOptions) =>
  codeOf(run(mainWith(strategy), { ranks: topology.ranks, fabric: local(options) }))

it.each(strategies)(
  '$kind: a lost frame while planning ends in a code and never in a wrong result or a hang',
  async (strategy) => {
    const outcomes = new Set<string>()
    for (let lost = 0; lost < 24; lost++) {
      const lose = (src: number, dst: number, n: number) =>
        src === lost % 3 && dst === (lost + 1) % 3 && n === lost >> 1
      outcomes.add(await outcome(strategy, { processes: 3, seed: 1, faults: { lose } }))
    }
    // Who groups friends numbers its frames; a relay waits for one frame at a time.
    const codes = strategy.kind === 'routed' ? ['ERR_DEADLOCK'] : ['ERR_DEADLOCK', 'ERR_PLAN_MISMATCH']
    expect([...outcomes].filter((code) => code !== 'none').sort()).toEqual(codes)
  },
)

it.each(strategies)(
  '$kind: delayed frames and lost processes: the plan is right, or the world ends with ERR_PEER_LOST',
  async (strategy) => {
    for (let seed = 0; seed < 6; seed++) {
      expect(await outcome(strategy, { processes: 4, seed, faults: { delay: 7 } })).toBe('none')
    }
    const outcomes = new Set<string>()
    for (let afterFrames = 0; afterFrames < 120; afterFrames += 8) {
      outcomes.add(
        await outcome(strategy, { processes: 3, seed: 1, faults: { kill: [{ process: 2, afterFrames }] } }),
      )
    }
    expect([...outcomes].sort()).toEqual(['ERR_PEER_LOST', 'none'])
  },
)
