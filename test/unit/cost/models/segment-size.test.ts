import { describe, expect, test } from 'vitest'
import { seededRandom } from '../../../../src/base/random.js'
import { hockneyOf, logGPOfPLogP, pLogPOf } from '../../../../src/cost/models/conversions.js'
import { evaluate, smoothSizesOf, uncutBytes } from '../../../../src/cost/models/formulas.js'
import { modeledAlgorithmOf, modeledAlgorithms } from '../../../../src/cost/models/modeled-algorithms.js'
import {
  leastBetween,
  optimalSegmentBytes,
  predictAlgorithms,
  predictUs,
  segmentFormulas,
} from '../../../../src/cost/models/predict.js'
import {
  type CostModel,
  type Hockney,
  type HockneyTerms,
  type LogGP,
  type LogGPTerms,
  type PLogP,
  termsOf,
} from '../../../../src/cost/models/terms.js'

// Grig: Pjesivac-Grbovic 2007, tables 4.12 and 4.13. beta is the inverse of the bandwidth, which has more
// digits.
const mx: Hockney = { model: 'hockney', latencyNs: 5640, nsPerByte: 1000 / 239.58 }
const tcp: Hockney = { model: 'hockney', latencyNs: 110_650, nsPerByte: 85.1 }
const mxLogGP: LogGP = { model: 'loggp', latencyNs: 2100, overheadNs: 1600, gapNs: 2300, nsPerByte: 4.4 }
const tcpLogGP: LogGP = {
  model: 'loggp',
  latencyNs: 106_600,
  overheadNs: 19_500,
  gapNs: 1000,
  nsPerByte: 85.9,
}
const [small, large] = [768 * 1024, 2 * 2 ** 20]

describe('the best segments of a split binary tree of 64 ranks of Grig: Pjesivac-Grbovic 2007, table 6.1,', () => {
  test.each<[string, CostModel, number, number]>([
    ['Hockney, MX, 768 KiB', mx, small, 10_308],
    ['Hockney, MX, 2 MiB', mx, large, 16_834],
    ['Hockney, TCP, 768 KiB', tcp, small, 10_112],
    ['Hockney, TCP, 2 MiB', tcp, large, 16_513],
    // Printed as 746, 12185, 309 and 505, of which three lack a digit; these are what theorem 5.2 gives.
    ['LogGP, MX, 768 KiB', mxLogGP, small, 7438],
    ['LogGP, MX, 2 MiB', mxLogGP, large, 12_147],
    ['LogGP, TCP, 768 KiB', tcpLogGP, small, 3125],
    ['LogGP, TCP, 2 MiB', tcpLogGP, large, 5102],
  ])('%s', (_, model, bytes, expected) => {
    const [closed] =
      model.model === 'hockney'
        ? segmentFormulas['bcast-split-binary'].hockney!(termsOf(model) as HockneyTerms, 64, bytes)
        : segmentFormulas['bcast-split-binary'].loggp!(termsOf(model) as LogGPTerms, 64, bytes)
    expect(Math.round(closed)).toBe(expected)
    // Whole numbers of equal segments are near.
    const best = optimalSegmentBytes('bcast-split-binary', model, { ranks: 64, bytes })!
    expect(Math.abs(best / expected - 1)).toBeLessThan(0.03)
  })
})

test('the best segments of a binary tree lack the spurious factor of table 5.1', () => {
  const grig: Hockney = { model: 'hockney', latencyNs: 5640, nsPerByte: 1000 / 239.58 }
  const best = optimalSegmentBytes('bcast-binary', grig, { ranks: 64, bytes: large })!
  expect(Math.abs(best - 23_806)).toBeLessThan(400)
})

/**
 * As in the counter-example to corollary 5.4: g(m) = 2.3 us + 4.4 ns m, which has no crossing and no inner
 * table entry.
 */
const affine: PLogP = {
  model: 'plogp',
  latencyNs: 0,
  sizesBytes: [0, 2 ** 21],
  gapNs: [2300, 2300 + 4.4 * 2 ** 21],
  sendOverheadNs: [0, 0],
  receiveOverheadNs: [0, 0],
}

test('PLogP: the best length may lie between the sizes of the table', () => {
  const call = { ranks: 64, bytes: large }
  const best = optimalSegmentBytes('bcast-split-binary', affine, call)!
  expect(Math.abs(best / 10_470 - 1)).toBeLessThan(0.01)
  const least = predictUs('bcast-split-binary', affine, { ...call, segmentBytes: best })
  // Less the exchange of both halves, 10.2 ms and 55.4 ms.
  const exchange = (2300 + 4.4 * 2 ** 20) / 1000
  expect(Math.abs((least - exchange) / 10_200 - 1)).toBeLessThan(0.01)
  expect(predictUs('bcast-split-binary', affine, call) - exchange).toBeCloseTo(55_400, -2)
})

test('PLogP: where g is exponential, corollary 5.5 with its sign corrected', () => {
  const b = 1e-5
  const sizesBytes = Array.from({ length: 2049 }, (_, i) => i * 1024)
  const gapNs = sizesBytes.map((size) => 1000 * Math.exp(b * Math.min(size, 2 ** 20)))
  const none = sizesBytes.map(() => 0)
  const model: PLogP = { ...affine, sizesBytes, gapNs, sendOverheadNs: none, receiveOverheadNs: none }
  const { time } = modeledAlgorithmOf('bcast-split-binary')
  const timeOf = (at: number) => evaluate(time, termsOf(model), smoothSizesOf(64, large, at))
  // The table is linear between its sizes, so within a percent.
  expect(Math.abs(leastBetween(sizesBytes, 1, large, timeOf) / 73_935 - 1)).toBeLessThan(0.01)
})

describe('closed forms are where the formula is least', () => {
  const memory = { reduceNsPerByte: 0.5 }
  const models: CostModel[] = [
    { ...mx, ...memory },
    { ...tcp, ...memory },
    { ...mxLogGP, ...memory },
    { ...mxLogGP, gapNs: 9000, ...memory },
    { ...tcpLogGP, gapNs: 30_000, ...memory },
    { model: 'logp', latencyNs: 2100, overheadNs: 1600, gapNs: 2300 },
  ]
  test.each(modeledAlgorithms.filter(({ segmented }) => segmented).map(({ id }) => id))('%s', (id) => {
    if (id === 'gather-linear-sync' || id.startsWith('allreduce-linear') || id === 'allreduce-tree') return
    for (const model of models) {
      for (const ranks of [2, 3, 4, 7, 64, 500]) {
        const bytes = 2 ** 20
        const terms = termsOf(model)
        const algorithm = modeledAlgorithmOf(id)
        const uncut = uncutBytes(algorithm, ranks, bytes)
        const smooth = (at: number): number =>
          evaluate(algorithm.time, terms, smoothSizesOf(ranks, bytes, at))
        const points = Array.from({ length: 40 }, (_, i) => 2 ** (i / 2))
        const least = smooth(leastBetween(points, 1, uncut, smooth))
        const best = smooth(optimalSegmentBytes(id, model, { ranks, bytes }) ?? uncut)
        expect([id, model.model, ranks, best / least < 1.01]).toEqual([id, model.model, ranks, true])
      }
    }
  })
})

test('PLogP: no length on a dense grid is better than what the search finds, whatever the tables', () => {
  const random = seededRandom(5)
  const sizesBytes = [0, 64, 1024, 4096, 16_384, 65_536, 262_144]
  const rising = (first: number) => {
    let value = first
    return sizesBytes.map((size, i) => {
      const length = i === 0 ? 0 : size - sizesBytes[i - 1]
      value += length * random() ** 3 * 20
      return value
    })
  }
  const segmented = modeledAlgorithms.filter((row) => row.segmented).map(({ id }) => id)
  for (let draw = 0; draw < 3; draw++) {
    const model: PLogP = {
      ...{ model: 'plogp', latencyNs: 20_000 * random(), sizesBytes, gapNs: rising(4000 * random()) },
      sendOverheadNs: rising(2000 * random()),
      receiveOverheadNs: rising(2000 * random()),
      reduceNsPerByte: random(),
    }
    for (const id of segmented) {
      for (const ranks of [3, 8, 64]) {
        const call = { ranks, bytes: 2 ** 20 }
        const timeOf = (segmentBytes: number | null) =>
          predictUs(id, model, segmentBytes === null ? call : { ...call, segmentBytes })
        const lengths = Array.from({ length: 201 }, (_, i) => Math.round(2 ** (i / 10)))
        const least = Math.min(...lengths.map(timeOf))
        const best = timeOf(optimalSegmentBytes(id, model, call))
        expect([id, ranks, draw, best / least < 1.001]).toEqual([id, ranks, draw, true])
      }
    }
  }
})

test.each<[string, CostModel]>([
  ['Hockney', { model: 'hockney', latencyNs: 47_600, nsPerByte: 4.4, reduceNsPerByte: 0.5 }],
  ['Hockney of Grig', { ...mx, reduceNsPerByte: 0.5 }],
  ['LogGP of Grig', { ...mxLogGP, reduceNsPerByte: 0.5 }],
])('%s: no number of equal segments is faster than what is recommended', (_, model) => {
  const bytes = 65_536
  for (const { id, segmented } of modeledAlgorithms) {
    if (segmented !== true || id === 'gather-linear-sync' || /^allreduce-(linear|tree)/.test(id)) continue
    for (const ranks of [4, 7, 64]) {
      const call = { ranks, bytes }
      const timeOf = (segmentBytes: number) => predictUs(id, model, { ...call, segmentBytes })
      const counts = Array.from({ length: 4096 }, (_, n) => n + 1)
      const least = Math.min(...counts.map((count) => timeOf(Math.ceil(bytes / count))))
      const best = timeOf(optimalSegmentBytes(id, model, call) ?? bytes)
      expect([id, ranks, best / least]).toEqual([id, ranks, expect.closeTo(1, 9)])
    }
  }
})

test('no segments where they never help', () => {
  const call = { ranks: 64, bytes: large }
  for (const id of ['bcast-linear', 'bcast-binomial', 'reduce-tree']) {
    expect([id, optimalSegmentBytes(id, mx, call)]).toEqual([id, null])
    expect([id, optimalSegmentBytes(id, mxLogGP, call)]).toEqual([id, null])
  }
  expect(optimalSegmentBytes('allgather-ring', mx, call)).toBeNull()
  for (const ranks of [1, 2])
    expect(optimalSegmentBytes('bcast-chain', mx, { ranks, bytes: large })).toBeNull()
  for (const ranks of [2, 3])
    expect(optimalSegmentBytes('bcast-binary', mx, { ranks, bytes: large })).toBeNull()
})

test.each<[CostModel, number]>([
  [{ model: 'hockney', latencyNs: 0, nsPerByte: 1 }, 4],
  [{ model: 'loggp', latencyNs: 1, overheadNs: 0.5, gapNs: 0.5, nsPerByte: 1 }, 4],
])('segments are single elements where messages cost no time of their own: %j', (model, elementBytes) => {
  const call = { ranks: 4, bytes: 4096, elementBytes }
  expect(optimalSegmentBytes('bcast-chain', model, call)).toBe(elementBytes)
})

test('segments are multiples of an element', () => {
  const call = { ranks: 64, bytes: small, elementBytes: 8 }
  // 76 of them, an even number.
  expect(optimalSegmentBytes('bcast-split-binary', mx, call)).toBe(10_352)
  expect(optimalSegmentBytes('bcast-chain', mx, { ranks: 64, bytes: 8, elementBytes: 8 })).toBeNull()
})

test('Hockney: linear and pairwise alltoall are equally fast, neighbor exchange is faster than the ring', () => {
  for (const ranks of [4, 6, 64]) {
    const call = { ranks, bytes: 5000 }
    expect(predictUs('alltoall-linear', mx, call)).toBe(predictUs('alltoall-pairwise', mx, call))
    expect(predictUs('allgather-neighbor-exchange', mx, call)).toBeLessThan(
      predictUs('allgather-ring', mx, call),
    )
  }
})

test('all algorithms of a collective, the fastest first, each with its segments', () => {
  const list = predictAlgorithms('bcast', mx, { ranks: 64, bytes: 2 ** 20 })
  expect(list.map(({ timeUs }) => timeUs)).toEqual(list.map(({ timeUs }) => timeUs).sort((a, b) => a - b))
  expect(list.map(({ algorithm }) => algorithm).sort()).toEqual([
    'bcast-binary',
    'bcast-binomial',
    'bcast-chain',
    'bcast-knomial',
    'bcast-linear',
    'bcast-scatter-allgather',
    'bcast-scatter-doubling',
    'bcast-split-binary',
  ])
  for (const { algorithm, segmentBytes, segments, timeUs } of list) {
    const call = { ranks: 64, bytes: 2 ** 20, ...(segmentBytes === null ? {} : { segmentBytes }) }
    expect(timeUs).toBe(predictUs(algorithm, mx, call))
    expect(segments).toBe(segmentBytes === null ? 1 : Math.ceil(2 ** 20 / segmentBytes))
  }
  const odd = predictAlgorithms('allgather', mx, { ranks: 7, bytes: 100 }).map(({ algorithm }) => algorithm)
  expect(odd).not.toContain('allgather-recursive-doubling')
  expect(odd).not.toContain('allgather-neighbor-exchange')
  expect(() => predictAlgorithms('neighbor-allgather', mx, { ranks: 7 })).toThrow(/barrier, bcast/)
})

describe('conversions keep what a message takes', () => {
  test('LogGP to PLogP and back: table 4.1', () => {
    const there = pLogPOf({ ...mxLogGP, reduceNsPerByte: 0.5 })
    const back = logGPOfPLogP(there)
    expect(back.latencyNs).toBeCloseTo(2100, 6)
    expect({ ...back, latencyNs: 2100, nsPerByte: 4.4 }).toEqual({ ...mxLogGP, reduceNsPerByte: 0.5 })
    expect(back.nsPerByte).toBeCloseTo(4.4, 6)
    const call = { ranks: 2, bytes: 1000 }
    const [first, second] = [mxLogGP, there].map((model) => predictUs('allgather-ring', model, call))
    expect(second).toBeCloseTo(first, 9)
  })

  test('LogGP to Hockney', () => {
    const call = { ranks: 2, bytes: 1000 }
    const [first, second] = [mxLogGP, hockneyOf(mxLogGP)].map((model) =>
      predictUs('bcast-chain', model, call),
    )
    expect(second).toBeCloseTo(first, 9)
  })
})
