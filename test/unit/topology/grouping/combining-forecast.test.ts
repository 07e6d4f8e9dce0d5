import { buildTopology, forecastCombining } from 'rankweave/topology'
import { expect, test } from 'vitest'
import { cluster, nodeOf } from '../../../../src/machine/machine.js'
import { plan, planStatistics } from '../../../../src/neighborhood/plan/plan.js'
import { thrown } from '../thrown.js'

test.each([
  ['moore:16x16:r=3', null],
  ['moore:16x16:r=2', 16],
  ['er:128:d=0.3', 16],
  ['er:96:d=0.5', null],
  ['powerlaw:200:d=12', null],
] as const)('%s on nodes of %s: the messages of the plans', (spec, cores) => {
  const topology = buildTopology(spec)
  const nodes = cores === null ? null : nodeOf(cluster({ nodes: 64, cores }), topology.ranks)
  const mode = nodes === null ? 'agnostic' : 'aware'
  const ks = [4, 2, 3]
  const { direct, forecasts, bestK } = forecastCombining(topology, { ks, nodeOf: nodes })
  const planned = ks.map((k) => {
    const made = plan(topology, { kind: 'common-neighbor', k, mode }, nodes === null ? {} : { nodeOf: nodes })
    return planStatistics(made).messages
  })
  expect(forecasts.map(({ k, messages }) => [k, messages])).toEqual(ks.map((k, i) => [k, planned[i].planned]))
  expect(direct).toBe(planned[0].direct)
  const fewest = Math.min(...planned.map((messages) => messages.planned))
  const best = ks.filter((_, i) => planned[i].planned === fewest)
  expect(bestK).toBe(fewest < direct ? Math.min(...best) : null)
})

test('forecastCombining reports no best k if combining saves nothing', () => {
  expect(forecastCombining(buildTopology('cart:8x8'), { ks: [2, 3] })).toMatchObject({
    direct: 224,
    bestK: null,
  })
})

test('forecastCombining reports a reason and no forecast if grouping would take long', () => {
  const topology = buildTopology('moore:16x16:r=3')
  expect(forecastCombining(topology, { ks: [2], pairLimit: 10 })).toMatchObject({
    forecasts: [{ k: 2, messages: null, reason: expect.stringContaining('pairs of friends') }],
    bestK: null,
  })
  const common = { kind: 'beyond-limit', reason: 'too much' } as const
  expect(forecastCombining(topology, { ks: [2], common }).forecasts[0].reason).toBe('too much')
})

test.each([{ ks: [1] }, { ks: [2, 2.5] }, { ks: [2], nodeOf: new Int32Array(3) }])(
  'refuses %j',
  (options) => {
    expect(thrown(() => forecastCombining(buildTopology('cart:8'), options)).code).toBe('ERR_STRATEGY')
  },
)
