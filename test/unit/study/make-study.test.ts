import { chooseStrategy, parseStrategy } from 'rankweave/schedule'
import { buildTopology, topologyFromEdges } from 'rankweave/topology'
import { describe, expect, it } from 'vitest'
import { fastestAllgather } from '../../../src/cost/choose/choose-algorithm.js'
import { parseMachine } from '../../../src/machine/machine-text.js'
import { makeStudy, type StudyOptions } from '../../../src/study/make-study.js'
import { refusal } from '../../support/refusal.js'

const machine = parseMachine('cluster:nodes=4,cores=4,profile=simgrid-fast')
const torus = buildTopology('moore:4x4:r=1')

const study = (options: Partial<StudyOptions> = {}) =>
  makeStudy(torus, machine, { name: 'moore:4x4:r=1', bytes: [4, 4096], ...options })

describe('a study', () => {
  it('counts the messages and blocks of direct sends exactly', () => {
    const { subject, strategies } = study({ strategies: [] })
    expect(subject).toMatchObject({
      ...{ ranks: 16, edges: 128, degree: { min: 8, mean: 8, max: 8 }, nodes: 4 },
      machine: 'cluster:nodes=4,cores=4,profile=simgrid-fast',
      profile: { name: 'simgrid-fast', provenance: 'given' },
    })
    expect(strategies).toHaveLength(1)
    // A row of the grid is a node: 2 neighbors on it, 3 on each of the nodes above and below.
    expect(strategies[0]).toMatchObject({
      strategy: 'direct',
      messages: { all: 128, meanPerRank: 8, maxPerRank: 8, betweenNodes: 96 },
      blocks: { process: 0, package: 32, node: 0, network: 96 },
    })
    const [short, long] = strategies[0].simulated
    expect(short.bytesByLevel).toEqual({ process: 0, package: 128, node: 0, network: 384 })
    expect(long.bytesByLevel.network).toBe(96 * 4096)
    expect(short).toMatchObject({ speedup: 1, breakEvenStarts: null })
  })

  it('ends with ERR_ABORTED before it begins, and before the next strategy', () => {
    const aborted = refusal('ERR_ABORTED')
    expect(() => study({ signal: AbortSignal.abort() })).toThrow(aborted)
    const controller = new AbortController()
    const seen: string[] = []
    const onStrategy = (strategy: string) => {
      if (seen.push(strategy) === 2) controller.abort()
    }
    expect(() => study({ signal: controller.signal, onStrategy })).toThrow(aborted)
    expect(seen).toHaveLength(2)
  })

  it('of a grid by windows sends 4 messages per rank, of which 2 leave the node with 3 blocks each', () => {
    const strategies = [parseStrategy('cartesian:windows=3/3,order=1.0')]
    const windows = study({ strategies }).strategies[1]
    expect(windows).toMatchObject({
      messages: { all: 64, meanPerRank: 4, maxPerRank: 4, betweenNodes: 32 },
      blocks: { package: 32, network: 96 },
    })
    expect(windows.simulated[0].speedup).toBeGreaterThan(1)
  })

  it('without strategies studies several kinds, and names the fastest of every length', () => {
    const { strategies, fastest, leftOut } = study()
    const kinds = new Set(strategies.map(({ strategy }) => strategy.split(':')[0]))
    expect([...kinds]).toEqual(expect.arrayContaining(['direct', 'cartesian', 'routed', 'common-neighbor']))
    expect(leftOut).toEqual([])
    for (const [i, { strategy, timeUs }] of fastest.entries()) {
      const times = strategies.map((each) => each.simulated[i].timeUs)
      expect(timeUs).toBe(Math.min(...times))
      expect(strategies.find((each) => each.strategy === strategy)!.simulated[i].timeUs).toBe(timeUs)
    }
  })

  it('has the choice of auto for every length, with the time that auto predicts', () => {
    const { fastest, strategies, bytes } = study()
    for (const [i, length] of bytes.entries()) {
      const { chosen } = chooseStrategy(torus, machine, { bytes: length })
      const same = strategies.find(({ strategy }) => strategy === chosen.strategy)!
      expect(fastest[i].auto).toBe(chosen.strategy)
      expect(same.simulated[i].timeUs).toBeCloseTo(chosen.timeUs, 9)
      expect(fastest[i].timeUs).toBeLessThanOrEqual(same.simulated[i].timeUs)
      // Choosing counts as well as planning.
      const [direct] = strategies
      const { choiceMs } = fastest[i]
      const savedUs = direct.simulated[i].timeUs - same.simulated[i].timeUs
      const spentUs = 1000 * (choiceMs + Math.max(0, same.planMs - direct.planMs))
      expect(choiceMs).toBeGreaterThan(0)
      expect(same.simulated[i].breakEvenStarts).toBe(savedUs > 0 ? Math.ceil(spentUs / savedUs) : null)
    }
    expect(study({ strategies: [] }).fastest.map(({ auto }) => auto)).toEqual([null, null])
  })

  it('compares the fastest with an ordinary allgather, simulated', () => {
    const { fastest, ordinaryAllgather } = study()
    for (const [i, { bytes, timeUs, speedupOverAllgather }] of fastest.entries()) {
      const { algorithm, simulation } = fastestAllgather(16, machine, bytes)
      expect(ordinaryAllgather![i]).toEqual({ bytes, algorithm, timeUs: simulation.timeUs })
      expect(speedupOverAllgather).toBe(simulation.timeUs / timeUs)
    }
  })

  it('divides the time of the fastest by the least compared, where a cost is halved or doubled', () => {
    const strategies = ['cartesian:windows=3/3,order=1.0', 'routed:radices=4.4'].map(parseStrategy)
    const { sensitivity } = study({ strategies })
    const slow = parseMachine('cluster:nodes=4,cores=4,profile=simgrid-fast')
    const { levels, hop } = slow.profile!
    const network = { ...levels.network, latencyNs: 2 * levels.network.latencyNs }
    const near = (costs: typeof network) => ({ ...costs, latencyNs: 2 * costs.latencyNs })
    const changed = {
      ...slow.profile!,
      levels: { process: levels.process, package: near(levels.package), node: near(levels.node), network },
      hop: { ...hop, latencyNs: 2 * hop.latencyNs },
    }
    const again = makeStudy(torus, { ...slow, profile: changed }, { name: 'x', bytes: [4, 4096], strategies })
    for (const [i, { strategy, others, variations }] of sensitivity.entries()) {
      expect(variations.map(({ cost, factor }) => `${cost} ${factor}`)).toEqual([
        ...['latency 0.5', 'latency 2', 'overhead 0.5', 'overhead 2', 'bandwidth 0.5', 'bandwidth 2'],
      ])
      const times = [strategy, ...others].map(
        (text) => again.strategies.find((each) => each.strategy === text)!.simulated[i].timeUs,
      )
      expect(variations[1].ratio).toBe(times[0] / Math.min(...times))
    }
  })

  it('remarks that nodes have more cores than those that the profile describes', () => {
    const remarkOn = (text: string) =>
      makeStudy(torus, parseMachine(text), { name: 'x', bytes: [4], strategies: [] }).subject.remark
    expect(remarkOn('cluster:nodes=1,cores=40,profile=niagara')).toBeNull()
    expect(remarkOn('cluster:nodes=1,cores=48,profile=niagara')).toBe(
      'Profile niagara describes nodes of 40 cores; this machine has nodes of 48.',
    )
  })

  it('computes break-even starts from planning beyond that of direct sends', () => {
    let now = 0
    const { strategies } = study({
      strategies: [parseStrategy('cartesian:windows=3/3,order=1.0')],
      // Every planning takes 300 ms, the first 100.
      now: () => {
        now += now === 0 || now === 100 ? 100 : 300
        return now
      },
    })
    const [direct, windows] = strategies
    const saved = direct.simulated[0].timeUs - windows.simulated[0].timeUs
    const extra = 1000 * (windows.planMs - direct.planMs)
    expect(windows.simulated[0].breakEvenStarts).toBe(Math.ceil(Math.max(0, extra) / saved))
  })

  it('leaves out a strategy whose friend groups take too long, and says so', () => {
    const topology = buildTopology('er:96:d=0.7:seed=1')
    const large = parseMachine('cluster:nodes=1,cores=96,profile=simgrid-fast')
    let now = 0
    const { strategies, leftOut } = makeStudy(topology, large, {
      name: 'er',
      bytes: [4],
      strategies: [parseStrategy('common-neighbor:k=6,mode=aware')],
      planSeconds: 1,
      now: () => (now += 2000),
    })
    expect(strategies).toHaveLength(1)
    expect(leftOut).toEqual([
      { strategy: 'common-neighbor:k=6,mode=aware', reason: 'planning took more than 1 s' },
    ])
  })

  it('lists lengths once, ascending; blocks of no bytes are counted too', () => {
    const { bytes, strategies } = study({ bytes: [0, 0], strategies: [] })
    expect(bytes).toEqual([0])
    expect(strategies[0].blocks.network).toBe(96)
    expect(study({ bytes: [64, 4, 64], strategies: [] }).bytes).toEqual([4, 64])
  })
})

describe('a study refuses', () => {
  const code = (make: () => unknown): unknown => {
    try {
      return make()
    } catch (error) {
      return (error as { code: string }).code
    }
  }

  it.each([
    ['lengths that are none', { bytes: [-1] }],
    ['no length', { bytes: [] }],
    ['fractions', { bytes: [0.5] }],
    ['too many lengths', { bytes: Array.from({ length: 33 }, (_, i) => i) }],
    ['no time to plan', { planSeconds: 0 }],
  ])('%s: ERR_ARGUMENT', (_, options) => {
    expect(code(() => study(options))).toBe('ERR_ARGUMENT')
  })

  it('a machine without a profile, or with fewer cores than ranks: ERR_MACHINE', () => {
    for (const text of ['cluster:nodes=4,cores=4', 'cluster:nodes=3,cores=4,profile=simgrid-fast'])
      expect(code(() => makeStudy(torus, parseMachine(text), { name: 'x' }))).toBe('ERR_MACHINE')
  })

  it('a topology without edges, or of one rank: ERR_TOPOLOGY', () => {
    for (const [ranks, edges] of [
      [4, { sources: [], destinations: [] }],
      [1, { sources: [], destinations: [] }],
      [2, { sources: [0, 1], destinations: [0, 1] }],
    ] as const)
      expect(code(() => makeStudy(topologyFromEdges(ranks, edges), machine, { name: 'x' }))).toBe(
        'ERR_TOPOLOGY',
      )
  })
})
