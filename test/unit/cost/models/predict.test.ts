import { describe, expect, test } from 'vitest'
import { modelledAlgorithms } from '../../../../src/cost/models/modelled-algorithms.js'
import type { CostModel, Hockney } from '../../../../src/cost/models/parameters.js'
import { predictUs } from '../../../../src/cost/models/predict.js'
import { optimalSegmentBytes } from '../../../../src/cost/models/segment-size.js'
import { isRankweaveError } from '../../../../src/errors.js'

/** Myrinet MX of the Grig cluster: Pjesivac-Grbovic 2007, table 4.12. */
const grig: Hockney = { model: 'hockney', latencyNs: 5640, nsPerByte: 4.2 }

describe('a broadcast of 1 MiB in segments of 8 KiB on 64 ranks of Grig takes, in the model of Hockney,', () => {
  test.each([
    ['bcast-linear', 322_934],
    ['bcast-binary', 10_652],
    ['bcast-binomial', 30_756],
    ['bcast-split-binary', 7_734],
    ['bcast-chain', 7_609],
  ])('%s: %i us', (id, us) => {
    expect(Math.round(predictUs(id, grig, { ranks: 64, bytes: 2 ** 20, segmentBytes: 8192 }))).toBe(us)
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
  for (const { id } of modelledAlgorithms) {
    expect([id, predictUs(id, grig, { ranks: 1, bytes: 100 })]).toEqual([id, 0])
  }
})
