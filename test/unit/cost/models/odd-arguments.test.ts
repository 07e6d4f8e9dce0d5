import { algorithmOf, scheduleOf } from 'rankweave/schedule'
import { expect, test } from 'vitest'
import {
  closNetwork,
  congestedCost,
  type Stage,
  scheduleStages,
  torusNetwork,
} from '../../../../src/cost/models/congested-cost.js'
import { optimalSegmentBytes, predictAlgorithms, predictUs } from '../../../../src/cost/models/predict.js'
import { badRefusals } from '../../../support/odd-values.js'

const model = { model: 'hockney', latencyNs: 1, nsPerByte: 1 } as const
const id = 'bcast-binomial'
const network = torusNetwork([4])
const costOf = (stage: Partial<Record<keyof Stage, unknown>>) =>
  congestedCost(network, [{ source: [0], destination: [1], bytes: [4], ...stage } as Stage])
const schedule = scheduleOf(algorithmOf('bcast-linear'), { ranks: 2 })

test.each<[string, (odd: never) => unknown]>([
  ['predictUs of an algorithm', (odd) => predictUs(odd, model, { ranks: 2 })],
  ['predictUs by a model', (odd) => predictUs(id, odd, { ranks: 2 })],
  ['predictUs of a call', (odd) => predictUs(id, model, odd)],
  ['predictUs of ranks', (odd) => predictUs(id, model, { ranks: odd })],
  ['predictUs of bytes', (odd) => predictUs(id, model, { ranks: 2, bytes: odd })],
  ['predictUs of segments', (odd) => predictUs(id, model, { ranks: 2, segmentBytes: odd })],
  ['predictAlgorithms of a collective', (odd) => predictAlgorithms(odd, model, { ranks: 2 })],
  ['predictAlgorithms of a call', (odd) => predictAlgorithms('bcast', model, odd)],
  ['optimalSegmentBytes of a call', (odd) => optimalSegmentBytes(id, model, odd)],
  ['torusNetwork, extents', (odd) => torusNetwork(odd)],
  ['torusNetwork, extent', (odd) => torusNetwork([2, odd])],
  ['congestedCost, network', (odd) => congestedCost(odd, [])],
  ['congestedCost, stages', (odd) => congestedCost(network, odd)],
  ['congestedCost, stage', (odd) => congestedCost(network, [odd])],
  ['congestedCost, sources', (odd) => costOf({ source: odd })],
  ['congestedCost, source', (odd) => costOf({ source: [odd] })],
  ['congestedCost, destinations', (odd) => costOf({ destination: odd })],
  ['congestedCost, lengths', (odd) => costOf({ bytes: odd })],
  ['congestedCost, length', (odd) => costOf({ bytes: [odd] })],
  ['congestedCost, sides', (odd) => costOf({ side: odd })],
  ['congestedCost, what is waited for', (odd) => costOf({ after: odd })],
  ['congestedCost, messages that are waited for', (odd) => costOf({ after: [odd] })],
  ['congestedCost, message that is waited for', (odd) => costOf({ after: [[odd]] })],
  ['closNetwork', (odd) => closNetwork(odd)],
  ['closNetwork, switches', (odd) => closNetwork({ nodes: 4, nodesPerSwitch: odd, taper: 1 })],
  ['closNetwork, taper', (odd) => closNetwork({ nodes: 4, nodesPerSwitch: 2, taper: odd })],
])('%s: what is refused is refused with a code, in a short message', (_, call) => {
  expect(badRefusals(call)).toEqual([])
})

test.each([Number.NaN, -1, Number.POSITIVE_INFINITY, null as never, '4' as never])(
  '%s is refused as the length of blocks',
  (value) => {
    expect(() => scheduleStages(schedule, value)).toThrowError(expect.objectContaining({ code: 'ERR_MODEL' }))
  },
)
