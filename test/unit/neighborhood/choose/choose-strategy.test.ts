import { describe, expect, it } from 'vitest'
import { cluster } from '../../../../src/machine/machine.js'
import { simgridFast, simgridSlow } from '../../../../src/machine/profiles/simgrid-profiles.js'
import { formatAuto, parseAuto } from '../../../../src/neighborhood/choose/auto.js'
import { chooseStrategy } from '../../../../src/neighborhood/choose/choose-strategy.js'
import { plan } from '../../../../src/neighborhood/plan/plan.js'
import { formatStrategy } from '../../../../src/neighborhood/plan/strategy-text.js'
import { simulate } from '../../../../src/simulate/simulate.js'
import { erdosRenyiTopology } from '../../../../src/topology/generate/erdos-renyi.js'
import { mooreTopology } from '../../../../src/topology/generate/moore.js'
import { topologyFromLists } from '../../../../src/topology/topology-builders.js'
import { cases } from '../../../support/soak.js'

const fast = cluster({ nodes: 4, cores: 16, profile: simgridFast })
const slow = cluster({ nodes: 4, cores: 16, profile: simgridSlow })
const grid = mooreTopology({ dims: [8, 8], radius: 2 })

describe('chooseStrategy', () => {
  it('chooses the fastest of what it simulated, and predicts what the simulator does', () => {
    const { strategy, chosen, alternatives } = chooseStrategy(grid, slow, { bytes: 4, budget: 3 })
    const times = alternatives.map(({ timeUs }) => timeUs)
    expect(times).toEqual([...times].sort((a, b) => a - b))
    expect(chosen).toBe(alternatives[0])
    expect(chosen.strategy).toBe(formatStrategy(strategy))
    const { schedule } = plan(grid, strategy, { machine: slow })
    expect(simulate(schedule, slow, { bytes: 4 }).timeUs).toBe(chosen.timeUs)
  })

  it('compares direct sends always, which never pay back against themselves', () => {
    const { alternatives } = chooseStrategy(grid, fast, { bytes: 4, budget: 1 })
    const direct = alternatives.find(({ strategy }) => strategy === 'direct')
    expect(direct).toMatchObject({ breakEvenStarts: null, isSimulated: true, messages: 64 * 24 })
    expect(alternatives[0].breakEvenStarts).toBeGreaterThanOrEqual(0)
  })

  it('does not depend on time: only planMs and what follows from it differ between runs', () => {
    let ms = 0
    const now = () => ms++ * 7
    const facts = (at: () => number) => {
      const { considered, alternatives } = chooseStrategy(grid, fast, { bytes: 256, budget: 3, now: at })
      return [considered, ...alternatives.map((a) => [a.strategy, a.timeUs, a.messages, a.bytes])]
    }
    expect(facts(now)).toEqual(facts(() => 0))
  })

  it('chooses direct sends where nothing is to be sent, and for one rank', () => {
    const none = topologyFromLists({
      ranks: 3,
      inStart: [0, 0, 0, 0],
      inRank: [],
      outStart: [0, 0, 0, 0],
      outRank: [],
    })
    expect(chooseStrategy(none, fast, { bytes: 4 }).chosen).toMatchObject({ strategy: 'direct', timeUs: 0 })
    const one = topologyFromLists({ ranks: 1, inStart: [0, 1], inRank: [0], outStart: [0, 1], outRank: [0] })
    expect(chooseStrategy(one, fast, { bytes: 4 }).strategy.kind).toBe('direct')
  })

  it('is never slower than direct sends', () => {
    for (let seed = 0; seed < cases(2, 60); seed++) {
      const topology = erdosRenyiTopology({
        ranks: 17 + 5 * (seed % 9),
        density: 0.05 + 0.1 * (seed % 7),
        seed,
      })
      const machine = seed % 2 === 0 ? fast : slow
      const { alternatives, chosen } = chooseStrategy(topology, machine, {
        bytes: 4 ** (seed % 8),
        budget: 2,
      })
      const direct = alternatives.find(({ strategy }) => strategy === 'direct')!
      expect(chosen.timeUs).toBeLessThanOrEqual(direct.timeUs)
    }
  })

  it.each([
    [fast, { bytes: -1 }, 'ERR_STRATEGY'],
    [fast, { bytes: 1.5 }, 'ERR_STRATEGY'],
    [fast, { bytes: 2 ** 41 }, 'ERR_STRATEGY'],
    [fast, { bytes: 4, budget: 0 }, 'ERR_STRATEGY'],
    [cluster({ nodes: 4, cores: 16 }), { bytes: 4 }, 'ERR_MACHINE'],
    [cluster({ nodes: 1, cores: 16, profile: simgridFast }), { bytes: 4 }, 'ERR_MACHINE'],
  ])('refuses bad input, case %#', (machine, options, code) => {
    expect(() => chooseStrategy(grid, machine, options)).toThrow(expect.objectContaining({ code }))
  })
})

describe('the text of auto', () => {
  it.each(['auto', 'auto:bytes=4096', 'auto:budget=3', 'auto:bytes=0,budget=16'])('%s', (text) => {
    expect(formatAuto(parseAuto(text)!)).toBe(text)
  })

  it('is no other strategy', () => expect(parseAuto('direct')).toBeNull())

  it.each([
    'auto:',
    'auto:bytes=-1',
    'auto:budget=0',
    'auto:k=2',
    'auto:bytes=4,',
    'auto:bytes=9999999999999',
  ])('refuses %s', (text) =>
    expect(() => parseAuto(text)).toThrow(expect.objectContaining({ code: 'ERR_STRATEGY' })),
  )
})
