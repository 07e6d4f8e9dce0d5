import { cluster, type Profile } from 'rankweave/machine'
import { type PLogP, predictUs } from 'rankweave/models'
import { algorithmOf, scheduleOf, simulate } from 'rankweave/schedule'
import { describe, expect, test } from 'vitest'
import { fitPLogP, fittedProfile } from '../../../src/calibrate/fitted-profile.js'
import { simgridFast } from '../../../src/machine/built-in-profiles.js'
import type { Measurement } from '../../../src/tuning/measured/measurement.js'
import { measurementOf } from '../../support/tuning-data.js'

const injected: PLogP = {
  model: 'plogp',
  latencyNs: 61_000,
  sizesBytes: [0, 64, 4096, 65_536],
  gapNs: [23_800, 25_000, 380_000, 5_500_000],
  sendOverheadNs: [8000, 8100, 30_000, 400_000],
  receiveOverheadNs: [8400, 8500, 31_000, 410_000],
}
const ranks = [2, 3, 8, 16, 32]
const overheads = {
  sizesBytes: [0, 65_536],
  sendOverheadNs: [8000, 400_000],
  receiveOverheadNs: [8400, 410_000],
}
const chainsOf = (sizes: readonly number[]) =>
  sizes.flatMap((bytes) =>
    ranks.map((P) => {
      return { ranks: P, bytes, timeNs: 1000 * predictUs('bcast-chain', injected, { ranks: P, bytes }) }
    }),
  )
const barriers = ranks.map((P) => {
  return { ranks: P, timeNs: 1000 * predictUs('barrier-linear', injected, { ranks: P }) }
})

describe('a fit to chains and flat barriers', () => {
  test('recovers L and g, with messages that arrive together, and keeps overheads', () => {
    const { tables, worstError } = fitPLogP(chainsOf([0, 64, 4096, 65_536]), barriers, overheads)
    expect(worstError).toBeLessThan(1e-9)
    expect(tables.sizesBytes).toEqual(injected.sizesBytes)
    expect(tables.latencyNs).toBeCloseTo(61_000, 3)
    tables.gapNs.forEach((gap, i) => {
      expect(gap).toBeCloseTo(injected.gapNs[i], 2)
    })
    expect(tables.sendOverheadNs[0]).toBe(8000)
    expect(tables.sendOverheadNs[2]).toBeCloseTo(8000 + (392_000 * 4096) / 65_536, 6)
  })

  test('recovers them without a short broadcast, from barriers alone', () => {
    const { tables } = fitPLogP(chainsOf([4096]), barriers, overheads)
    expect(tables.sizesBytes).toEqual([0, 4096])
    expect(tables.latencyNs).toBeCloseTo(61_000, 3)
    expect(tables.gapNs[1]).toBeCloseTo(380_000, 2)
  })

  test('recovers them where messages arrive one after the other; both forms fit alike', () => {
    const inTurn = ranks.map((P) => ({ ranks: P, timeNs: 2 * 61_000 + 2 * (P - 1) * 23_800 }))
    const [right, other] = (['in-turn', 'together'] as const).map((fanIn) =>
      fitPLogP(chainsOf([0, 4096]), inTurn, overheads, fanIn),
    )
    expect(right.tables.latencyNs).toBeCloseTo(61_000, 3)
    expect(right.tables.gapNs[0]).toBeCloseTo(23_800, 3)
    expect(other.tables.latencyNs).toBeCloseTo(61_000 - 23_800, 3)
    expect(Math.max(right.worstError, other.worstError)).toBeLessThan(1e-9)
  })

  test('is near where times have noise', () => {
    const noisy = <T extends { timeNs: number }>(times: readonly T[]) =>
      times.map((time, i) => ({ ...time, timeNs: time.timeNs * (1 + 0.02 * ((i % 3) - 1)) }))
    const { tables } = fitPLogP(noisy(chainsOf([0, 4096, 65_536])), noisy(barriers), overheads)
    expect(Math.abs(tables.gapNs[1] / 380_000 - 1)).toBeLessThan(0.05)
    expect(Math.abs(tables.gapNs[0] / 23_800 - 1)).toBeLessThan(0.1)
  })

  test('holds g at the longer overhead where times would have it below, and fits L to the rest', () => {
    // A barrier of 2 L + P g(0) with g(0) = 1,000, and overheads of up to 8,400: g(m) >= o(m) in PLogP.
    const fast = ranks.map((P) => ({ ranks: P, timeNs: 2 * 61_000 + P * 1000 }))
    const times = [
      ...chainsOf([4096]),
      ...chainsOf([65_536]).map((time) => ({ ...time, timeNs: time.timeNs / 20 })),
    ]
    const { tables, heldSizes } = fitPLogP(times, fast, overheads)
    expect(heldSizes).toEqual([0, 65_536])
    expect(tables.gapNs[0]).toBe(8400)
    expect(tables.gapNs[2]).toBe(410_000)
    expect(tables.gapNs[1]).toBeGreaterThan(tables.receiveOverheadNs[1])
    const errorOf = (latencyNs: number): number =>
      fast.reduce((sum, { ranks, timeNs }) => sum + ((2 * latencyNs + ranks * 8400) / timeNs - 1) ** 2, 0)
    for (const other of [0.99, 1.01])
      expect(errorOf(tables.latencyNs)).toBeLessThan(errorOf(other * tables.latencyNs))
    expect(fitPLogP(chainsOf([0, 64]), barriers, overheads).heldSizes).toEqual([])
  })

  test.each([
    ['no broadcast', [], barriers],
    ['barriers of one number of ranks', chainsOf([0]), barriers.slice(0, 1)],
  ])('refuses %s', (_, chains, flat) => {
    expect(() => fitPLogP(chains, flat, overheads)).toThrow(
      expect.objectContaining({ code: 'ERR_MEASUREMENT' }),
    )
  })
})

/** LogGP of both levels, without what the simulator charges besides messages. */
const profile: Profile = {
  ...simgridFast,
  name: 'injected',
  levels: {
    ...simgridFast.levels,
    node: { latencyNs: 500, sendOverheadNs: 200, receiveOverheadNs: 300, gapNs: 350, nsPerByte: 0.25 },
    network: { latencyNs: 5000, sendOverheadNs: 700, receiveOverheadNs: 900, gapNs: 1200, nsPerByte: 2 },
  },
  exceptions: {},
  eagerLimitBytes: Number.POSITIVE_INFINITY,
}

function simulated(id: string, nodes: number, processesPerNode: number, bytes: number): Measurement {
  const [collective] = id.split('-') as ['bcast' | 'barrier']
  const machine = { ...cluster({ nodes, cores: processesPerNode }), profile }
  const P = nodes * processesPerNode
  const { timeUs } = simulate(scheduleOf(algorithmOf(id), { ranks: P }), machine, { bytes })
  return measurementOf({ collective, algorithm: id, nodes, processesPerNode, bytes, timeUs })
}

describe('a fit to simulated times', () => {
  const data = [2, 4, 8].flatMap((P) => [
    ...[0, 1024, 65_536].map((bytes) => simulated('bcast-chain', P, 1, bytes)),
    simulated('barrier-linear', P, 1, 0),
  ])

  test('recovers the LogGP that the simulator was given: table 4.1', () => {
    const base = { ...profile, name: 'measured', levels: { ...profile.levels } }
    const { profile: fitted, levels } = fittedProfile(base, data, { name: 'fitted', fanIn: 'in-turn' })
    expect(levels).toMatchObject([{ level: 'network', chains: 9, barriers: 3 }])
    expect(levels[0].worstError).toBeLessThan(1e-9)
    const { plogp, ...figures } = fitted.levels.network
    const { latencyNs: _, ...given } = profile.levels.network
    expect(figures).toMatchObject({ sendOverheadNs: given.sendOverheadNs })
    expect(figures.latencyNs).toBeCloseTo(5000, 0)
    expect(figures.gapNs).toBeCloseTo(1202, 6)
    expect(figures.nsPerByte).toBeCloseTo(2, 6)
    expect(plogp?.latencyNs).toBeCloseTo(5000 + 700 + 900 - 1200, 6)
    expect(plogp?.gapNs.map(Math.round)).toEqual([1200, 1200 + 2048, 1200 + 131_072])
    expect(fitted.levels.node).toEqual(profile.levels.node)
    expect(fitted.exceptions['levels.network.plogp']?.source).toMatch(
      /^fitted to 9 broadcasts and 3 barriers/,
    )
  })

  test('takes times of one node for that level, and of an MPI library by its names', () => {
    const source = { kind: 'mpi', name: 'Open MPI 4.1.4', machine: 'here' } as const
    const lines = data.map((line): Measurement => {
      const algorithm = line.collective === 'barrier' ? 'linear' : 'pipeline'
      return { ...line, source, algorithm, nodes: 1, processesPerNode: line.nodes }
    })
    expect(fittedProfile(profile, lines).levels).toMatchObject([{ level: 'node', chains: 9, barriers: 3 }])
    const { levels } = fittedProfile(profile, lines).profile
    expect(levels.package).toEqual(profile.levels.package)
    const alike = { ...profile, levels: { ...profile.levels, package: profile.levels.node } }
    const { package: near, node } = fittedProfile(alike, lines).profile.levels
    expect(near).toEqual(node)
    expect(near.plogp).toBeDefined()
  })

  test('takes the later of two lines for one call, and refuses times of two sources', () => {
    const early = { ...data[0], timesUs: [9e6], intervalUs: [9e6, 9e6] as const }
    const levelOf = (lines: readonly Measurement[]) =>
      fittedProfile(profile, lines, { fanIn: 'in-turn' }).levels[0]
    expect(levelOf([early, ...data])).toEqual(levelOf(data))
    const other = { ...data[0], source: { ...data[0].source, machine: 'another' } }
    expect(() => levelOf([...data, other])).toThrow(/one source/)
  })

  test('refuses data without such times, with what is missing at each level', () => {
    expect(() => fittedProfile(profile, [measurementOf()])).toThrow(/node: .*got none; network: .*got none/)
  })
})
