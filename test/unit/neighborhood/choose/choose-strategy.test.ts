import { type Choice, formatStrategy, plan, simulate } from 'rankweave/schedule'
import { erdosRenyiTopology, mooreTopology, stencilTopology, topologyFromLists } from 'rankweave/topology'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { atOnce } from '../../../../src/base/turn.js'
import { simgridFast, simgridSlow } from '../../../../src/machine/built-in-profiles.js'
import { cluster, nodeOf } from '../../../../src/machine/machine.js'
import { formatAuto, parseAuto } from '../../../../src/neighborhood/choose/auto.js'
import { candidateLoads, candidatesOf } from '../../../../src/neighborhood/choose/candidates.js'
import { chooseInSlices, chooseStrategy } from '../../../../src/neighborhood/choose/choose-strategy.js'
import { mostWindows } from '../../../../src/neighborhood/strategies/cartesian.js'
import { cases } from '../../../support/soak.js'

const fast = cluster({ nodes: 4, cores: 16, profile: simgridFast })
const slow = cluster({ nodes: 4, cores: 16, profile: simgridSlow })
const grid = mooreTopology({ dims: [8, 8], radius: 2 })
const small = mooreTopology({ dims: [6, 5], radius: 2 })
/** Of the grid on the slow machine, made once for all tests. */
const choice = chooseStrategy(grid, slow, { bytes: 4, budget: 1 })

describe('chooseStrategy', () => {
  it('chooses the fastest of what it simulated, and predicts what the simulator does', () => {
    const { strategy, chosen, alternatives } = choice
    const times = alternatives.map(({ timeUs }) => timeUs)
    expect(times).toEqual([...times].sort((a, b) => a - b))
    expect(chosen).toBe(alternatives[0])
    expect(chosen.strategy).toBe(formatStrategy(strategy))
    const { schedule } = plan(grid, strategy, { machine: slow })
    expect(simulate(schedule, slow, { bytes: 4 }).timeUs).toBe(chosen.timeUs)
  })

  it('a signal ends the choice: before it begins, and between two turns of the event loop', async () => {
    const aborted = expect.objectContaining({ code: 'ERR_ABORTED' })
    const signal = AbortSignal.abort()
    expect(() => chooseStrategy(grid, slow, { bytes: 4, signal })).toThrow(aborted)
    const controller = new AbortController()
    const ended = chooseInSlices(grid, slow, { bytes: 4, budget: 1000, signal: controller.signal })
    controller.abort()
    await expect(ended).rejects.toThrow(aborted)
  })

  it('compares direct sends always, which never pay back against themselves', () => {
    const { alternatives } = choice
    const direct = alternatives.find(({ strategy }) => strategy === 'direct')
    expect(direct).toMatchObject({ breakEvenStarts: null, breakEvenIsAtMost: false, messages: 64 * 24 })
    expect(alternatives[0].breakEvenStarts).toBeGreaterThanOrEqual(0)
  })

  it('compares an ordinary allgather and friend groups whatever the budget, and names what it did not simulate', () => {
    const { alternatives, notSimulated } = choice
    const kinds = new Set(alternatives.map(({ strategy }) => strategy.split(':')[0]))
    expect([...kinds]).toEqual(
      expect.arrayContaining(['direct', 'allgather', 'common-neighbor', 'descending', 'cumulative']),
    )
    for (const k of [2, 4, 8]) {
      expect(alternatives.map(({ strategy }) => strategy)).toContain(`common-neighbor:k=${k},mode=aware`)
    }
    expect(
      notSimulated.filter(({ because }) => because === 'budget' || because === 'slower').length,
    ).toBeGreaterThan(4)
  })

  it('searches beyond the budget for the friends of the best candidate of a kind alone, and says so', () => {
    const dense = erdosRenyiTopology({ ranks: 80, density: 0.9, seed: 1 })
    const two = cluster({ nodes: 2, cores: 40, profile: simgridSlow })
    const { alternatives, notSimulated } = chooseStrategy(dense, two, { bytes: 4, budget: 1 })
    const ofKind = ({ strategy }: { readonly strategy: string }) => strategy.startsWith('common')
    expect(alternatives.filter(ofKind)).toHaveLength(1)
    expect(
      notSimulated
        .filter(ofKind)
        .map(({ because, atLeastUs }) => [because, atLeastUs > alternatives[0].timeUs]),
    ).toEqual(notSimulated.filter(ofKind).map(({ because }) => [because, because === 'slower']))
    expect(notSimulated.filter(ofKind)).toHaveLength(5)
  })

  it('simulates the best candidate of every kind, unless its lower bound exceeds the fastest', () => {
    for (let seed = 0; seed < cases(16, 4); seed++) {
      const topology = erdosRenyiTopology({
        ranks: 40 + (seed % 25),
        density: 0.05 + 0.05 * (seed % 16),
        seed,
      })
      const machine = seed % 2 === 0 ? fast : slow
      const options = { bytes: 4 ** (seed % 9), budget: 1 }
      const { alternatives, chosen, notSimulated } = chooseStrategy(topology, machine, options)
      const kindOf = (text: string) => text.split(':')[0]
      const compared = new Set(alternatives.map(({ strategy }) => kindOf(strategy)))
      const kinds = new Set(candidatesOf(topology, nodeOf(machine, topology.ranks)).map(({ kind }) => kind))
      for (const kind of kinds) {
        if (compared.has(kind)) continue
        const excluded = notSimulated.filter((each) => kindOf(each.strategy) === kind)
        expect(
          excluded.map(({ because }) => because),
          `${kind}, case ${seed}`,
        ).toContain('slower')
        for (const { because, atLeastUs } of excluded)
          if (because === 'slower') expect(atLeastUs).toBeGreaterThan(chosen.timeUs)
      }
    }
  })

  it('compares what is included, but does not choose it', () => {
    const include = [{ kind: 'lanes', radices: [4, 4], lanes: 1 }] as const
    const more = chooseStrategy(grid, slow, { bytes: 4, budget: 1, include })
    expect(more.chosen.strategy).toBe(choice.chosen.strategy)
    expect(more.alternatives.map(({ strategy }) => strategy)).toContain('lanes:radices=4.4,lanes=1')
  })

  it('counts choosing in break-even, and takes planning of less than 20 ms more than direct sends as 20 ms', () => {
    let ms = 0
    const each = (planMs: number) => {
      const options = { bytes: 4, budget: 1, now: () => (ms += planMs) }
      const { alternatives, choiceMs } = chooseStrategy(small, slow, options)
      const { timeUs } = alternatives.find(({ strategy }) => strategy === 'direct')!
      return { ...alternatives[0], choiceMs, savedUs: timeUs - alternatives[0].timeUs }
    }
    const { breakEvenStarts, breakEvenIsAtMost, choiceMs, savedUs } = each(5)
    expect(choiceMs).toBeGreaterThan(5)
    const spentUs = 1000 * (choiceMs + 20)
    expect([breakEvenStarts, breakEvenIsAtMost]).toEqual([Math.ceil(spentUs / savedUs), true])
  })

  it('in slices is the same, and lets other work run', async () => {
    // A slice ends when the clock shows 10 ms: after some steps, however fast the machine is.
    let nowMs = 0
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => {
      nowMs += 1
      return nowMs
    })
    onTestFinished(() => clock.mockRestore())
    let turns = 0
    let isOver = false
    const other = (): void => {
      turns++
      if (!isOver) setImmediate(other)
    }
    setImmediate(other)
    const both = Promise.all([4, 4096].map((bytes) => chooseInSlices(small, fast, { bytes, budget: 1 })))
    const [short, long] = await both
    isOver = true
    expect(turns).toBeGreaterThan(3)
    const facts = ({ chosen, considered }: Choice) => [chosen.strategy, chosen.timeUs, considered]
    expect(facts(short)).toEqual(facts(chooseStrategy(small, fast, { bytes: 4, budget: 1 })))
    expect(facts(long)).toEqual(facts(chooseStrategy(small, fast, { bytes: 4096, budget: 1 })))
  })

  it('follows candidates once for all lengths and profiles', () => {
    const topology = mooreTopology({ dims: [12, 5], radius: 1 })
    const nodes = nodeOf(fast, 60)
    const loads = atOnce(candidateLoads(topology, nodes))
    const again = { ...topology, outRank: topology.outRank.slice() }
    expect(atOnce(candidateLoads(again, nodes.slice()))).toBe(loads)
    const spread = nodes.map((_, rank) => rank % 4)
    expect(atOnce(candidateLoads(topology, spread))).not.toBe(loads)
  })

  it('considers a bounded number of windows of grids with four dimensions', () => {
    const topology = stencilTopology({
      dims: [5, 5, 5, 5],
      periods: Array(4).fill(true),
      offsets: [0, 1, 2, 3].flatMap((d) =>
        [-2, -1, 1, 2].map((step) => [0, 1, 2, 3].map((e) => (e === d ? step : 0))),
      ),
    })
    const candidates = candidatesOf(topology, new Int32Array(5 ** 4))
    const cartesian = candidates.filter(({ kind }) => kind === 'cartesian')
    expect(cartesian.length).toBeLessThanOrEqual(2 * mostWindows)
    const texts = cartesian.map(formatStrategy)
    expect(texts).toContain('cartesian:windows=2.3/2.3/2.3/2.3,order=0.1.2.3')
    expect(texts).toContain('cartesian:windows=5/5/5/5,order=3.2.1.0')
  })

  it('does not depend on time: only planMs and what follows from it differ between runs', () => {
    let ms = 0
    const now = () => ms++ * 7
    const facts = (at: () => number) => {
      const { considered, alternatives } = chooseStrategy(small, fast, { bytes: 256, budget: 3, now: at })
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

  it.each([
    [fast, { bytes: -1 }, 'ERR_STRATEGY'],
    [fast, { bytes: 1.5 }, 'ERR_STRATEGY'],
    [fast, { bytes: 2 ** 41 }, 'ERR_STRATEGY'],
    [fast, { bytes: 4, budget: 0 }, 'ERR_STRATEGY'],
    [fast, { bytes: 4, include: [{ kind: 'lanes', lanes: 99 } as const] }, 'ERR_STRATEGY'],
    [cluster({ nodes: 4, cores: 16 }), { bytes: 4 }, 'ERR_MACHINE'],
    [cluster({ nodes: 1, cores: 16, profile: simgridFast }), { bytes: 4 }, 'ERR_MACHINE'],
  ])('refuses bad input, case %#', (machine, options, code) => {
    expect(() => chooseStrategy(small, machine, options)).toThrow(expect.objectContaining({ code }))
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
