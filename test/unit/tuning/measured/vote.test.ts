import { type CostModel, predictUs } from 'rankweave/models'
import { describe, expect, it } from 'vitest'
import { modelSelector } from '../../../../src/tuning/measured/model-selector.js'
import { constantSelector } from '../../../../src/tuning/measured/selector.js'
import { majorityVote, weightedVote } from '../../../../src/tuning/measured/vote.js'
import type { TuningSetting } from '../../../../src/tuning/settings/setting.js'
import { refusal } from '../../../support/refusal.js'

const call = { collective: 'bcast', nodes: 16, processesPerNode: 4, bytes: 2 ** 20 } as const
const voters = (...votes: readonly (readonly [setting: number, weight?: number])[]) =>
  votes.map(([setting, weight]) => ({
    select: constantSelector(setting),
    ...(weight === undefined ? {} : { weight }),
  }))

describe('a majority vote', () => {
  it.each([
    ['two against one, whatever the weights', voters([3], [5, 9], [3]), 3],
    ['one model', voters([4]), 4],
    ['three that disagree: the greatest weight', voters([0, 1], [1, 3], [2, 2]), 1],
    ['three that disagree alike: the earliest', voters([2], [1], [0]), 2],
    ['two against two: the greater sum of weights', voters([0, 1], [1, 2], [0, 2], [1, 2]), 1],
    ['models that abstain', voters([-1, 9], [-1], [7]), 7],
    ['all that abstain', voters([-1], [-1]), -1],
  ])('%s', (_, models, setting) => {
    expect(majorityVote(models)(call)).toBe(setting)
  })
})

describe('a weighted vote', () => {
  it.each([
    ['one that outweighs two', voters([3], [5, 9], [3]), 5],
    ['two that outweigh one', voters([3, 2], [5, 3], [3, 2]), 3],
    ['equal weights: the earliest', voters([2], [1]), 2],
    ['models that abstain', voters([-1, 9], [7]), 7],
  ])('%s', (_, models, setting) => {
    expect(weightedVote(models)(call)).toBe(setting)
  })
})

it.each([[[]], [voters([0, 0])], [voters([0, -1])], [voters([0, Number.NaN])], [voters([0, Infinity])]])(
  'votes without voters or with weights that are not above 0 are refused',
  (models) => {
    for (const vote of [majorityVote, weightedVote])
      expect(() => vote(models)).toThrow(refusal('ERR_ARGUMENT'))
  },
)

describe('decisions by a model', () => {
  /** Grig, Myrinet MX (Pjesivac-Grbovic 2007 Table 4.12), in nanoseconds. */
  const hockney: CostModel = { model: 'hockney', latencyNs: 5640, nsPerByte: 4.2, reduceNsPerByte: 0.5 }
  const loggp: CostModel = {
    ...{ model: 'loggp', latencyNs: 2100, overheadNs: 1600, gapNs: 2300 },
    ...{ nsPerByte: 4.4, reduceNsPerByte: 0.5 },
  }
  const setting = (algorithm: string, segment?: number): TuningSetting => ({
    collective: algorithm.startsWith('bcast') ? 'bcast' : 'allgather',
    algorithm,
    parameters: segment === undefined ? {} : { segment },
  })
  const settings = [
    setting('bcast-linear'),
    setting('bcast-binomial'),
    setting('bcast-chain', 8192),
    setting('bcast-split-binary', 8192),
    setting('bcast-knomial'),
    setting('allgather-recursive-doubling'),
    setting('allgather-ring'),
  ]
  const timeOf = (index: number) => {
    const { algorithm, parameters } = settings[index]
    return predictUs(algorithm, hockney, {
      ranks: 64,
      bytes: call.bytes,
      segmentBytes: parameters['segment'] ?? 2 ** 20,
    })
  }

  it('take the setting of the collective that is fastest by its formula', () => {
    const chosen = modelSelector(settings, hockney)(call)
    expect(chosen).toBe(2)
    expect(timeOf(2)).toBeLessThan(timeOf(3))
    expect(timeOf(3)).toBeLessThan(timeOf(1))
    expect(modelSelector(settings, hockney)({ ...call, bytes: 8 })).toBe(1)
  })

  it('leave out algorithms that cannot serve the call', () => {
    const select = modelSelector(settings, loggp)
    const allgather = { ...call, collective: 'allgather', bytes: 8 } as const
    expect(select(allgather)).toBe(5)
    expect(select({ ...allgather, processesPerNode: 3 })).toBe(6)
    expect(select({ ...call, nodes: 1, processesPerNode: 1 })).toBe(0)
  })

  it('are -1 where no setting has a formula', () => {
    const unknown = [
      setting('bcast-knomial-of-another-library'),
      { ...settings[2], parameters: { fanout: 4 } },
    ]
    expect(modelSelector(unknown, hockney)(call)).toBe(-1)
    expect(modelSelector(settings, hockney)({ ...call, collective: 'barrier' })).toBe(-1)
  })
})
