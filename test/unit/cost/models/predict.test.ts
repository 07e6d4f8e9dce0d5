import { type CostModel, type Hockney, type LogGP, type PLogP, predictUs } from 'rankweave/models'
import { describe, expect, test } from 'vitest'
import { modeledAlgorithms } from '../../../../src/cost/models/modeled-algorithms.js'
import { optimalSegmentBytes } from '../../../../src/cost/models/predict.js'
import { isRankweaveError } from '../../../../src/errors.js'

/** Myrinet MX of the Grig cluster: Pjesivac-Grbovic 2007, table 4.12. */
const grig: Hockney = { model: 'hockney', latencyNs: 5640, nsPerByte: 4.2 }

const logGP: LogGP = { model: 'loggp', latencyNs: 2100, overheadNs: 1600, gapNs: 2300, nsPerByte: 4.4 }
/** Messages cost what they cost in LogGP (table 4.1): the source prints no g(m). */
const pLogP: PLogP = {
  ...{ model: 'plogp', latencyNs: 3000, sizesBytes: [0, 1, 1_000_001] },
  gapNs: [2300, 2300, 2300 + 4_400_000],
  sendOverheadNs: [1600, 1600, 1600],
  receiveOverheadNs: [1600, 1600, 1600],
}

/** Those that differ from the printed form, docs/study/formulas.md#corrections: by hand, microseconds. */
describe('corrected formulas at Grig, by Hockney, LogGP and PLogP', () => {
  test.for<readonly [string, ranks: number, bytes: number, times: readonly number[]]>([
    ['barrier-linear', 64, 0, [360.96, 153.2, 153.2]],
    ['scatter-linear', 64, 1024, [626.2704, 431.4756, 431.4756]],
    ['scatter-binomial', 24, 1024, [127.1184, 130.1068, 130.1068]],
    ['gather-linear', 64, 1024, [626.2704, 431.4756, 431.4756]],
    ['gather-binomial', 64, 1024, [304.7904, 315.6264, 315.6264]],
    ['gather-binomial', 24, 1024, [127.1184, 130.1068, 130.1068]],
    ['allgather-bruck', 64, 1024, [370.3264, 381.1624, 381.1624]],
    ['allgather-bruck', 24, 1024, [151.6944, 154.6828, 154.6828]],
    ['allgather-neighbor-exchange', 64, 1024, [451.4304, 453.312, 453.312]],
    ['alltoall-linear', 64, 1024, [626.2704, 578.6756, 859.9512]],
    ['alltoall-bruck', 64, 1024, [1121.7376, 1158.9928, 1158.9928]],
    ['reduce-rabenseifner', 64, 1_048_576, [9254.1888, 9662.9328, 9662.9328]],
    ['reduce-scatter-recursive-halving', 64, 1024, [337.0464, 347.8824, 347.8824]],
    ['reduce-scatter-recursive-halving', 24, 1024, [261.936, 269.5976, 269.5976]],
    ['allreduce-rabenseifner', 64, 1_048_576, [9254.1888, 9662.9328, 9662.9328]],
  ])('%s on %i ranks, %i bytes', ([id, ranks, bytes, times]) => {
    const memory = { reduceNsPerByte: 0.5, copyNsPerByte: 1 }
    for (const [i, model] of [grig, logGP, pLogP].entries())
      expect(predictUs(id, { ...model, ...memory }, { ranks, bytes })).toBeCloseTo(times[i], 3)
  })
})

/** Counted by hand, in units of alpha, beta and gamma; the length is 1 byte for block or piece. */
describe('algorithms without a table take, in the model of Hockney,', () => {
  test.each<[string, number, [alpha: number, beta: number, gamma: number]]>([
    // Up and down a binomial tree.
    ['barrier-tree', 8, [6, 0, 0]],
    ['barrier-tree', 5, [6, 0, 0]],
    // The root sends to 3 ranks, and each of them to 3.
    ['bcast-knomial', 16, [6, 6, 0]],
    // The root sends to one rank, 4, which sends to 3.
    ['bcast-knomial', 8, [4, 4, 0]],
    ['bcast-knomial', 3, [2, 2, 0]],
    // Pieces of a byte: 4, 2, 1 down the tree; 1, 2, 4 in exchanges.
    ['bcast-scatter-doubling', 8, [6, 14, 0]],
    // 3, 2 and 1 pieces down the tree; 1, 2 and 4 in exchanges; then one piece in one step, and 3 pieces in two.
    ['bcast-scatter-doubling', 7, [9, 20, 0]],
    // Both children at each level of the tree.
    ['reduce-in-order-binary', 7, [4, 4, 4]],
    ['allreduce-binary', 7, [8, 8, 4]],
    // Pieces of a byte to and from all others.
    ['allreduce-segmented', 8, [14, 14, 7]],
    ['reduce-scatter-tree', 8, [7, 7, 7]],
    // 1, 2 and 4 blocks up; all 8 at each level down.
    ['allgather-binomial', 8, [6, 31, 0]],
    ['allgather-two-proc', 2, [1, 1, 0]],
    ['alltoall-two-proc', 2, [1, 1, 0]],
    // All 8 blocks at each level up; 4, 2 and 1 down.
    ['reduce-scatter-binomial', 8, [6, 31, 24]],
  ])('%s on %i ranks: %j', (id, ranks, [alphas, betas, gammas]) => {
    const bytes = /scatter-doubling|segmented/.test(id) ? ranks : 1
    const us = (terms: Partial<Hockney>): number =>
      predictUs(id, { model: 'hockney', latencyNs: 0, nsPerByte: 0, ...terms }, { ranks, bytes }) * 1000
    const counted = [us({ latencyNs: 1 }), us({ nsPerByte: 1 }), us({ reduceNsPerByte: 1 })]
    expect(counted.map((count) => Math.round(count * 1e6) / 1e6)).toEqual([alphas, betas, gammas])
  })

  test('bcast-knomial in segments: each to one child after the other', () => {
    const call = { ranks: 16, bytes: 8, segmentBytes: 2 }
    expect(predictUs('bcast-knomial', { model: 'hockney', latencyNs: 1000, nsPerByte: 0 }, call)).toBeCloseTo(
      24,
      9,
    )
  })

  test('allreduce-ring-segmented: a segment is a piece at most, which is the default', () => {
    const us = (ranks: number, segmentBytes?: number) => {
      const call = { ranks, bytes: 8 * ranks, ...(segmentBytes === undefined ? {} : { segmentBytes }) }
      return (
        predictUs('allreduce-ring-segmented', { model: 'hockney', latencyNs: 0, nsPerByte: 1 }, call) * 1000
      )
    }
    for (const ranks of [2, 4, 7, 64]) {
      const whole = us(ranks, 8)
      // P pieces follow each other along P - 2 ranks, then go around once more; each takes the time of 8 bytes.
      expect(whole).toBeCloseTo(8 * (2 * ranks - 2 + ranks - 1), 6)
      expect([us(ranks), us(ranks, 8 * ranks), us(ranks, 9)]).toEqual([whole, whole, whole])
      expect(us(ranks, 4)).toBeCloseTo(4 * (3 * ranks - 2) + 8 * (ranks - 1), 6)
    }
  })

  test('those of two ranks: no other number', () => {
    for (const id of ['allgather-two-proc', 'alltoall-two-proc'])
      expect(() => predictUs(id, grig, { ranks: 3, bytes: 8 })).toThrowError(
        expect.objectContaining({ code: 'ERR_MODEL' }),
      )
  })
})

describe('bad input is refused with ERR_MODEL:', () => {
  const pLogP = { model: 'plogp', latencyNs: 1, sizesBytes: [0, 8], gapNs: [1, 2], sendOverheadNs: [1, 1] }
  const call = { ranks: 4, bytes: 8 }
  const code = (run: () => number): string => {
    try {
      return `${run()}`
    } catch (error) {
      return isRankweaveError(error) ? error.code : 'another error'
    }
  }
  test.each<[string, unknown]>([
    ['a model without a kind', { latencyNs: 1, nsPerByte: 1 }],
    ['no model', null],
    ['an unknown kind', { ...grig, model: 'logfp' }],
    ['a negative parameter', { ...grig, latencyNs: -1 }],
    ['a parameter that is not finite', { ...grig, nsPerByte: Number.POSITIVE_INFINITY }],
    ['a missing parameter', { model: 'loggp', latencyNs: 1, overheadNs: 1, nsPerByte: 1 }],
    ['a negative gamma', { ...grig, reduceNsPerByte: -1 }],
    ['a missing table', pLogP],
    ['a table of another length', { ...pLogP, receiveOverheadNs: [1] }],
    ['no table entries', { ...pLogP, receiveOverheadNs: [], sizesBytes: [] }],
    ['sizes that do not ascend', { ...pLogP, receiveOverheadNs: [1, 1], sizesBytes: [8, 8] }],
    ['a table entry that is no number', { ...pLogP, receiveOverheadNs: [1, Number.NaN] }],
  ])('%s', (_, model) => {
    expect(code(() => predictUs('bcast-linear', model as CostModel, call))).toBe('ERR_MODEL')
  })

  test.each([
    ['no rank', { ranks: 0 }],
    ['half a rank', { ranks: 2.5 }],
    ['too many ranks', { ranks: 2 ** 22 + 1 }],
    ['negative bytes', { ranks: 2, bytes: -1 }],
    ['a segment of 0 bytes', { ranks: 2, bytes: 8, segmentBytes: 0 }],
    ['a number of bytes that is not exact', { ranks: 2, bytes: 2 ** 54 }],
  ])('%s', (_, bad) => {
    expect(code(() => predictUs('bcast-linear', grig, bad))).toBe('ERR_MODEL')
  })

  test('a number of ranks that an algorithm refuses', () => {
    expect(code(() => predictUs('allgather-recursive-doubling', grig, { ranks: 6, bytes: 8 }))).toBe(
      'ERR_MODEL',
    )
    expect(code(() => predictUs('allgather-neighbor-exchange', grig, { ranks: 7, bytes: 8 }))).toBe(
      'ERR_MODEL',
    )
  })

  test.each(['bcast-chain:fanout=4', 'bcast-chain:segments=8', 'bcast-linear:'])(
    'an algorithm with settings, for which there is no formula: %s',
    (id) => {
      const refusal = expect.objectContaining({
        code: 'ERR_ARGUMENT',
        message: expect.stringMatching(
          /^expected bcast-\w+ without settings: its formula is for the defaults/,
        ),
      })
      expect(() => predictUs(id, grig, call)).toThrowError(refusal)
      expect(() => optimalSegmentBytes(id, grig, call)).toThrowError(refusal)
    },
  )

  test('an unknown algorithm has the code ERR_ARGUMENT', () => {
    expect(code(() => predictUs('bcast-fastest', grig, call))).toBe('ERR_ARGUMENT')
  })
})

test('one rank takes no time, in every algorithm', () => {
  for (const { id } of modeledAlgorithms) {
    expect([id, predictUs(id, grig, { ranks: 1, bytes: 100 })]).toEqual([id, 0])
  }
})
