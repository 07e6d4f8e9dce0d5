import { type Communicator, type LocalOptions, local, run } from 'rankweave'
import { describe, expect, it } from 'vitest'
import { mooreTopology } from '../../../../src/topology/generate/stencil.js'
import { codeOf } from '../../../support/on-ranks.js'

const topology = mooreTopology({ dims: [3, 4], radius: 1 })
const ranks = topology.ranks

/** Creates, plans, exchanges and frees; every rank checks its results. */
async function main(world: Communicator): Promise<void> {
  const reversed = await world.split(0, -world.rank)
  const graph = await reversed.createTopology(topology, {
    strategy: { kind: 'common-neighbor', k: 2, mode: 'agnostic', theta: 1 },
  })
  const recv = new Int32Array(graph.sources.length)
  const request = graph.neighborAllgatherInit(Int32Array.of(graph.rank), recv)
  for (let round = 0; round < 2; round++) {
    await request.start()
    expect([...recv]).toEqual([...graph.sources])
  }
  const edges = Int32Array.from(graph.destinations, (destination) => graph.rank * 100 + destination)
  const exchanged = new Int32Array(graph.sources.length)
  const exchange = graph.neighborAlltoallInit(edges, exchanged)
  await exchange.start()
  expect([...exchanged]).toEqual([...graph.sources].map((source) => source * 100 + graph.rank))
  const varied = await graph.neighborAllgatherv(new Int16Array(graph.rank % 3).fill(graph.rank))
  expect([...varied.data]).toEqual([...graph.sources].flatMap((s) => Array<number>(s % 3).fill(s)))
  await graph.free()
  await reversed.free()
  await world.barrier()
  expect([...world.seat().state.runtime.contexts]).toHaveLength(1)
}

/** The code that a world with faults ends with; `none` where its results are right. */
const outcome = (options: LocalOptions) => codeOf(run(main, { ranks, fabric: local(options) }))

describe('faults', () => {
  it('delayed frames do not change the results', async () => {
    for (let seed = 0; seed < 8; seed++) {
      expect(await outcome({ processes: 5, seed, faults: { delay: 7 } })).toBe('none')
    }
  })

  it('a process lost at any point ends the world and never hangs it', async () => {
    const outcomes = new Set<string>()
    for (let afterFrames = 0; afterFrames < 80; afterFrames += 3) {
      outcomes.add(await outcome({ processes: 3, seed: 1, faults: { kill: [{ process: 2, afterFrames }] } }))
    }
    expect([...outcomes].sort()).toEqual(['ERR_PEER_LOST', 'none'])
  })

  it('a lost frame is reported as a deadlock and never gives a wrong result', async () => {
    const outcomes = new Set<string>()
    for (let seed = 0; seed < 12; seed++) {
      outcomes.add(await outcome({ processes: 3, seed, faults: { lose: 0.02 } }))
    }
    expect([...outcomes].sort()).toEqual(['ERR_DEADLOCK', 'none'])
  })
})
