import { type Algorithm, algorithmOf, algorithms, type Shape, scheduleOf } from 'rankweave/schedule'
import { describe, expect, test } from 'vitest'
import { bcastBinomial } from '../../../../src/collective/bcast/bcast-binomial.js'
import type { ErrorCode } from '../../../../src/errors.js'

const error = (code: ErrorCode, message: string) =>
  expect.objectContaining({ code, message: expect.stringContaining(message) })

describe('scheduleOf', () => {
  test('names the algorithm, the root and the segments', () => {
    const { strategy, parameters, phases } = scheduleOf(bcastBinomial, { ranks: 5, root: 2, segments: 3 })
    expect(strategy).toBe('bcast-binomial')
    expect(parameters).toEqual({ root: 2, segments: 3 })
    expect(phases).toBe(3 + 2)
  })

  test.each(algorithms.map((algorithm) => [algorithm.id, algorithm] as const))(
    '%s without root and segments has root 0 and one segment',
    (_, algorithm) => {
      const ranks = [4, 2].find((count) => (algorithm.refuses?.({ ranks: count }) ?? null) === null)!
      const { specification, opKind, opPhase, opPeer, entryBlock, entryFrom, entryTo } = scheduleOf(
        algorithm,
        { ranks },
      )
      const given = scheduleOf(algorithm, { ranks, root: 0, segments: 1 })
      expect({ specification, opKind, opPhase, opPeer, entryBlock, entryFrom, entryTo }).toEqual({
        specification: given.specification,
        opKind: given.opKind,
        opPhase: given.opPhase,
        opPeer: given.opPeer,
        entryBlock: given.entryBlock,
        entryFrom: given.entryFrom,
        entryTo: given.entryTo,
      })
    },
  )

  test.each<[Shape, ErrorCode, string]>([
    [{ ranks: 0 }, 'ERR_ARGUMENT', 'bcast-binomial: ranks must be an integer from 1 to 4194304, got 0'],
    [{ ranks: 2.5 }, 'ERR_ARGUMENT', 'got 2.5'],
    [{ ranks: 2 ** 23 }, 'ERR_ARGUMENT', 'got 8388608'],
    [{ ranks: '4' as unknown as number }, 'ERR_ARGUMENT', "got '4'"],
    [{ ranks: 4, segments: 0 }, 'ERR_ARGUMENT', 'segments must be an integer from 1 to 4096, got 0'],
    [{ ranks: 4, segments: 1.5 }, 'ERR_ARGUMENT', 'got 1.5'],
    [{ ranks: 4, segments: Number.NaN }, 'ERR_ARGUMENT', 'got NaN'],
    [{ ranks: 4, root: 4 }, 'ERR_RANK', 'root must be a rank from 0 to 3, got 4'],
    [{ ranks: 4, root: -1 }, 'ERR_RANK', 'got -1'],
    [{ ranks: 4, root: 0.5 }, 'ERR_RANK', 'got 0.5'],
    [{ ranks: 2, firstRank: Int32Array.of(0, 1) }, 'ERR_ARGUMENT', 'firstRank must ascend strictly from 0'],
    [{ ranks: 2, firstRank: Int32Array.of(0, 2, 2) }, 'ERR_ARGUMENT', 'firstRank'],
    [{ ranks: 2, firstRank: Int32Array.of(1, 2, 3) }, 'ERR_ARGUMENT', 'firstRank'],
  ])('refuses the shape %j with %s', (shape, code, message) => {
    expect(() => scheduleOf(bcastBinomial, shape)).toThrowError(error(code, message))
  })

  test('refuses what the algorithm refuses, with its reason', () => {
    expect(() => scheduleOf(algorithmOf('allgather-recursive-doubling'), { ranks: 6 })).toThrowError(
      error(
        'ERR_ARGUMENT',
        'allgather-recursive-doubling: the number of ranks must be a power of two, got 6',
      ),
    )
  })

  test.each([[[4]], [[-1]], [[1.5]]])('refuses to emit ranks %j of 4', (ranks) => {
    expect(() => scheduleOf(bcastBinomial, { ranks: 4 }, ranks)).toThrowError(
      error('ERR_RANK', 'expected ranks from 0 to 3'),
    )
  })

  test('ranks in any order, repeated, or from a generator are emitted once each, ascending', () => {
    const expected = scheduleOf(bcastBinomial, { ranks: 8 }, [1, 4])
    expect(scheduleOf(bcastBinomial, { ranks: 8 }, [4, 1, 4])).toEqual(expected)
    expect(scheduleOf(bcastBinomial, { ranks: 8 }, new Set([4, 1]).values())).toEqual(expected)
  })

  test.each([null, undefined, 3, 'x', { id: 'y' }])(
    '%j in place of an algorithm, a shape or ranks is refused',
    (odd) => {
      const refusal = error('ERR_ARGUMENT', 'expected')
      expect(() => scheduleOf(odd as unknown as Algorithm, { ranks: 2 })).toThrowError(refusal)
      const asShape = typeof odd === 'object' && odd !== null ? 'ranks must be' : 'expected'
      expect(() => scheduleOf(bcastBinomial, odd as unknown as Shape)).toThrowError(
        error('ERR_ARGUMENT', asShape),
      )
      if (odd === undefined) return
      const rows = odd as unknown as Iterable<number>
      expect(() => scheduleOf(bcastBinomial, { ranks: 2 }, rows)).toThrowError(
        expect.objectContaining({ code: typeof odd === 'string' ? 'ERR_RANK' : 'ERR_ARGUMENT' }),
      )
    },
  )

  test.each([0, 1.5, -1])('an algorithm that cuts into %j parts is refused', (parts) => {
    const algorithm: Algorithm = { ...bcastBinomial, id: 'bcast-odd', parts: () => parts }
    expect(() => scheduleOf(algorithm, { ranks: 2 })).toThrowError(error('ERR_ARGUMENT', 'bcast-odd: parts'))
  })
})
