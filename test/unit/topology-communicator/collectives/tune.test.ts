import { describe, expect, it } from 'vitest'
import { shown } from '../../../../src/errors.js'
import { type LocalOptions, local } from '../../../../src/fabric/local/local.js'
import type { Communicator } from '../../../../src/handles/communicator.js'
import { run } from '../../../../src/launch/run.js'
import { simgridSlow } from '../../../../src/machine/built-in-profiles.js'
import { cluster } from '../../../../src/machine/machine.js'
import { mooreTopology } from '../../../../src/topology/generate/stencil.js'
import {
  type NeighborInitOptions,
  type TuneOptions,
  Tuner,
  type Tuning,
} from '../../../../src/topology-communicator/collectives/neighbor-call.js'
import { coded, codeOf, onRanks } from '../../../support/on-ranks.js'

const topology = mooreTopology({ dims: [4, 4], radius: 1 })
const machine = cluster({ nodes: 4, cores: 4, profile: simgridSlow })
const strategy = { kind: 'auto', budget: 4 } as const
const ranks = topology.ranks

/** Clocks that only count: candidates take turns, so what each takes can be given. */
const clockOf = (timesMs: readonly number[]): (() => number) => {
  // The first reading is that of the init.
  let [ms, reads] = [0, -1]
  return () => {
    if (reads++ % 2 === 1) ms += timesMs[((reads - 2) / 2) % timesMs.length]
    return ms
  }
}

describe('a persistent allgather that is tuned', () => {
  it('is right at every start, and keeps the strategy whose slowest process was fastest', async () => {
    const reports = await onRanks({ ranks, fabric: local({ processes: ranks, seed: 3 }) }, async (world) => {
      const graph = await world.createTopology(topology, { strategy, machine })
      const [send, recv] = [new Int32Array(2), new Int32Array(2 * graph.sources.length)]
      // The second candidate is the fastest on most processes, and the slowest on one.
      const times = world.rank === 5 ? [3, 9, 4] : [3, 1, 2]
      const tune = { within: 1000, starts: 2, now: clockOf(times) }
      const request = graph.neighborAllgatherInit(send, recv, { tune })
      const reports: (Tuning | null)[] = []
      for (let start = 0; start < 9; start++) {
        send.set([graph.rank, start])
        await request.start()
        expect([...recv]).toEqual([...graph.sources].flatMap((source) => [source, start]))
        reports.push(request.tuning)
      }
      const best = graph.choice({ bytes: 8 })!.alternatives.map((each) => each.strategy)
      // Direct sends have the last place if no better one.
      const few = best.slice(0, 3)
      const expected = few.includes('direct') ? few : [...few.slice(0, 2), 'direct']
      expect(reports[0]!.candidates.map((each) => each.strategy)).toEqual(expected)
      return reports
    })
    for (const ofRank of reports) expect(ofRank).toEqual(reports[0])
    const [first, ...later] = reports[0]
    expect(first).toMatchObject({ startsLeft: 6, chosen: null })
    expect(later.map((each) => each!.startsLeft)).toEqual([5, 4, 3, 2, 1, 0, 0, 0])
    const last = later.at(-1)!
    expect(last.candidates.map((each) => each.measuredUs)).toEqual([
      [3000, 3000],
      [9000, 9000],
      [4000, 4000],
    ])
    expect(last.chosen).toBe(last.candidates[0].strategy)
    expect(later[4]!.chosen).toBeNull()
  })

  it('has nothing to try where one candidate is left, or ranks plan from neighbors', () =>
    onRanks({ ranks, fabric: local({ processes: 3 }) }, async (world) => {
      const graph = await world.createTopology(topology, { strategy, machine })
      const ring = await world.createDistGraphAdjacent({
        sources: [(world.rank + ranks - 1) % ranks],
        destinations: [(world.rank + 1) % ranks],
      })
      const recv = new Int32Array(graph.sources.length)
      const request = graph.neighborAllgatherInit(Int32Array.of(world.rank), recv, {
        tune: { candidates: 1 },
      })
      await request.start()
      expect(request.tuning).toMatchObject({ startsLeft: 0 })
      expect(request.tuning!.chosen).toBe(request.tuning!.candidates[0].strategy)
      const plain = ring.neighborAllgatherInit(Int32Array.of(world.rank), new Int32Array(1))
      await plain.start()
      expect(plain.tuning).toBeNull()
    }))
})

it('a persistent alltoall that is tuned is right at every start', () =>
  onRanks({ ranks, fabric: local({ processes: 4, nodes: 2, seed: 1 }) }, async (world) => {
    const graph = await world.createTopology(topology, { strategy, machine })
    const send = new Int16Array(graph.destinations.length)
    const recv = new Int16Array(graph.sources.length)
    const request = graph.neighborAlltoallInit(send, recv, { tune: { within: 1000, starts: 1 } })
    for (let start = 0; start < 6; start++) {
      send.set([...graph.destinations].map((to) => 100 * start + 10 * graph.rank + to))
      await request.start()
      expect([...recv]).toEqual([...graph.sources].map((from) => 100 * start + 10 * from + graph.rank))
    }
    const { candidates, chosen } = request.tuning!
    expect(candidates.length).toBe(3)
    expect(candidates.map((each) => each.strategy)).toContain(chosen)
    request.free()
  }))

/** The code that a world ends with whose ranks pass these options; `none` where all data is right. */
function outcome(
  optionsOf: (rank: number) => NeighborInitOptions | undefined,
  options: LocalOptions,
  graphOf = (world: Communicator) => world.createTopology(topology, { strategy, machine }),
): Promise<string> {
  const main = async (world: Communicator) => {
    const graph = await graphOf(world)
    const recv = new Int32Array(graph.sources.length)
    const request = graph.neighborAllgatherInit(Int32Array.of(world.rank), recv, optionsOf(world.rank))
    for (let start = 0; start < 5; start++) {
      await request.start()
      expect([...recv]).toEqual([...graph.sources])
    }
  }
  return codeOf(run(main, { ranks, fabric: local(options) }))
}

describe('ranks that pass different options are a mismatch', () => {
  const isolated = async (world: Communicator) =>
    world.createDistGraphAdjacent({ sources: [], destinations: [], strategy, machine })
  it.each([
    ['some none', (rank: number) => (rank < 3 ? undefined : { tune: true })],
    ['one other numbers', (rank: number) => ({ tune: { starts: rank === 7 ? 2 : 1 } })],
  ] as const)('%s', async (_, optionsOf) => {
    for (const processes of [4, ranks]) {
      expect(await outcome(optionsOf, { processes })).toBe('ERR_COLLECTIVE_MISMATCH')
      expect(await outcome(optionsOf, { processes }, isolated)).toBe('ERR_COLLECTIVE_MISMATCH')
    }
  })
})

it('a process lost while strategies are tried ends the world with a code', async () => {
  const outcomes = new Set<string>()
  for (let afterFrames = 0; afterFrames < 60; afterFrames += 3) {
    const kill = [{ process: 2, afterFrames }]
    const tune: TuneOptions = { within: 1000, starts: 1 }
    outcomes.add(await outcome(() => ({ tune }), { processes: 4, seed: afterFrames, faults: { kill } }))
  }
  expect([...outcomes].sort()).toEqual(['ERR_PEER_LOST', 'none'])
})

describe('bad options are refused before anything is sent', () => {
  const odd = ['', '3', null, true, Number.NaN, Number.POSITIVE_INFINITY, -1, 0, -0, 1n, [], [3], {}, () => 3]
  const noFunctions = odd.filter((value) => typeof value !== 'function')
  const throws = () => {
    throw new RangeError('no clock')
  }
  const bad: readonly (readonly [string, readonly unknown[]])[] = [
    ['options', [null, 3, 'tune', true, [], [true], { tuned: true }, { tune: true, k: 4 }]],
    ['tune', [{ start: 1 }, 'yes', '', null, 0, 1, Number.NaN, 1n, [], () => true, Symbol('tune')]],
    ['candidates', [...odd, 1.5, 9, 2 ** 53, Symbol('3')]],
    ['within', [...odd, 0.5, 1000.5, new Date(2), Symbol('2')]],
    ['starts', [...odd, 1.5, 1001, 2 ** 53, Symbol('1')]],
    ['now', [...noFunctions, () => 1n, () => '5', () => Number.NaN, () => undefined, async () => 1]],
  ]

  it.each(bad)('%s', async (option, values) => {
    await onRanks({ ranks, fabric: local({ processes: 2 }) }, async (world) => {
      const graph = await world.createTopology(topology, { strategy, machine })
      const [send, recv] = [new Int32Array(graph.destinations.length), new Int32Array(graph.sources.length)]
      for (const value of values) {
        const options = (
          option === 'options' ? value : option === 'tune' ? { tune: value } : { tune: { [option]: value } }
        ) as NeighborInitOptions
        for (const init of [
          () => graph.neighborAllgatherInit(send.subarray(0, 1), recv, options),
          () => graph.neighborAlltoallInit(send, recv, options),
        ])
          expect(init, shown(value)).toThrow(coded('ERR_ARGUMENT'))
      }
    })
  })

  it('a clock that throws, and a strategy that is given', () =>
    onRanks({ ranks, fabric: local({ processes: 2 }) }, async (world) => {
      const graph = await world.createTopology(topology, { strategy, machine })
      const given = await world.createTopology(topology)
      const [send, recv] = [new Int32Array(1), new Int32Array(graph.sources.length)]
      const init = (comm: typeof graph, tune: NeighborInitOptions['tune']) => () =>
        comm.neighborAllgatherInit(send, recv, { tune } as NeighborInitOptions)
      expect(init(graph, { now: throws })).toThrow('no clock')
      expect(init(given, true)).toThrow(coded('ERR_STRATEGY'))
      expect(init(given, {})).toThrow(coded('ERR_STRATEGY'))
      expect(init(given, false)).not.toThrow()
      expect(init(given, undefined)).not.toThrow()
    }))
})

describe('a clock that fails in one process after the request was made', () => {
  const clock = (later: () => unknown) => {
    let reads = 0
    return (() => (reads++ === 0 ? 0 : later())) as () => number
  }
  const tuneOf = (later: () => unknown) => (rank: number) => ({
    tune: { within: 1000, starts: 1, now: clock(rank === 0 ? later : () => 0) },
  })
  it.each([
    ['no number', () => Number.NaN],
    ['a text', () => '5'],
    ['backwards', () => -performance.now()],
  ])('%s: data is right, and all choose the same', async (_, later) => {
    expect(await outcome(tuneOf(later), { processes: 4 })).toBe('none')
  })

  it.each([0, 1])('throws after %i readings of a start: the world ends with a code', async (before) => {
    let reads = 0
    const throwing = () => {
      if (reads++ < before) return 0
      throw new RangeError('the clock stopped')
    }
    expect(await outcome(tuneOf(throwing), { processes: 4 })).toBe('ERR_OP')
  })
})

it('of equal medians the better predicted candidate is chosen', () => {
  const predicted = (kind: 'routed' | 'direct', predictedUs: number) => ({ strategy: { kind }, predictedUs })
  const tuner = new Tuner([predicted('routed', 1), predicted('direct', 2)], 3)
  for (const [i, timeUs] of [5, 5, 1, 9, 9, 1].entries()) {
    expect(tuner.next).toBe(i % 2)
    tuner.agree(timeUs)
  }
  expect(tuner.report).toMatchObject({ startsLeft: 0, chosen: 'routed' })
})

it('of one candidate for which nothing is predicted, nothing is reported as predicted', () => {
  const [candidate] = new Tuner([{ strategy: { kind: 'direct' } }], 3).report.candidates
  expect(candidate).toStrictEqual({ strategy: 'direct', measuredUs: [] })
})
