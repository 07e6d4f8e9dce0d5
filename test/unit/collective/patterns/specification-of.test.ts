import { describe, expect, test } from 'vitest'
import type { Shape } from '../../../../src/collective/patterns/algorithm.js'
import { requireHeld, specificationOf } from '../../../../src/collective/patterns/specification-of.js'
import type { Collective, Specification } from '../../../../src/schedule/specification.js'

const shape: Shape = { ranks: 3, root: 1, segments: 2 }

/** What a rank contributes and what its slots must hold: a block, or the blocks combined. */
function rowOf(specification: Specification, rank: number): [number[], (number | number[])[]] {
  const { ownStart, ownBlock, slotStart, slotTerm } = specification
  return [
    [...ownBlock.subarray(ownStart[rank], ownStart[rank + 1])],
    Array.from(slotTerm.subarray(slotStart[rank], slotStart[rank + 1]), (term) =>
      term >= 0 ? term : blocksOf(specification, ~term),
    ),
  ]
}

function blocksOf({ reductions }: Specification, reduction: number): number[] {
  const { runStart, first, count, stride } = reductions
  const blocks: number[] = []
  for (let run = runStart[reduction]; run < runStart[reduction + 1]; run++) {
    for (let n = 0; n < count[run]; n++) blocks.push(first[run] + n * stride[run])
  }
  return blocks
}

describe('specificationOf 3 ranks, root 1, 2 segments', () => {
  test.each<[Collective, [number[], (number | number[])[]][]]>([
    [
      'bcast',
      [
        [[], [0, 1]],
        [[0, 1], []],
        [[], [0, 1]],
      ],
    ],
    [
      'scatter',
      [
        [[], [0, 1]],
        [
          [0, 1, 2, 3, 4, 5],
          [2, 3],
        ],
        [[], [4, 5]],
      ],
    ],
    [
      'gather',
      [
        [[0, 1], []],
        [
          [2, 3],
          [0, 1, 2, 3, 4, 5],
        ],
        [[4, 5], []],
      ],
    ],
    [
      'allgather',
      [0, 2, 4].map((own) => [
        [own, own + 1],
        [0, 1, 2, 3, 4, 5],
      ]),
    ],
    [
      'alltoall',
      [0, 1, 2].map((rank) => [
        [0, 1, 2, 3, 4, 5].map((part) => 6 * rank + part),
        [0, 1, 6, 7, 12, 13].map((block) => 2 * rank + block),
      ]),
    ],
    [
      'reduce',
      [
        [[0, 1], []],
        [
          [2, 3],
          [
            [0, 2, 4],
            [1, 3, 5],
          ],
        ],
        [[4, 5], []],
      ],
    ],
    [
      'allreduce',
      [0, 2, 4].map((own) => [
        [own, own + 1],
        [
          [0, 2, 4],
          [1, 3, 5],
        ],
      ]),
    ],
    [
      'reduce-scatter',
      [0, 1, 2].map((rank) => [
        [0, 1, 2, 3, 4, 5].map((part) => 6 * rank + part),
        [0, 1].map((segment) => [0, 6, 12].map((block) => block + 2 * rank + segment)),
      ]),
    ],
    [
      'scan',
      [
        [
          [0, 1],
          [[0], [1]],
        ],
        [
          [2, 3],
          [
            [0, 2],
            [1, 3],
          ],
        ],
        [
          [4, 5],
          [
            [0, 2, 4],
            [1, 3, 5],
          ],
        ],
      ],
    ],
    [
      'exscan',
      [
        [[0, 1], []],
        [
          [2, 3],
          [[0], [1]],
        ],
        [
          [4, 5],
          [
            [0, 2],
            [1, 3],
          ],
        ],
      ],
    ],
    ['barrier', [0, 1, 2].map((own) => [[own], [[0, 1, 2]]])],
  ])('%s', (collective, rows) => {
    const whole = specificationOf({ collective }, shape)
    rows.forEach((row, rank) => {
      expect(rowOf(whole, rank)).toEqual(row)
      const alone = specificationOf({ collective }, shape, [rank])
      expect(rowOf(alone, rank)).toEqual(row)
      expect(alone.partStart).toEqual(whole.partStart)
      expect([alone.ownBlock.length, alone.slotTerm.length]).toEqual([row[0].length, row[1].length])
    })
  })
})

describe('specificationOf', () => {
  test('one row of 100,000 ranks has memory for the ranks, not for their pairs', () => {
    const alone = specificationOf({ collective: 'allreduce' }, { ranks: 100_000 }, [7])
    expect(alone.slotTerm).toEqual(Int32Array.of(~0))
    expect(blocksOf(alone, 0).length).toBe(100_000)
    const scan = specificationOf({ collective: 'scan' }, { ranks: 100_000 }, [7])
    expect(scan.reductions.first.length).toBe(1)
  })

  test('rows that hold too much are refused before they are made', () => {
    const shape = { ranks: 2 ** 17, segments: 4096 }
    expect(() => specificationOf({ collective: 'scatter' }, shape)).toThrow(
      expect.objectContaining({ code: 'ERR_ARGUMENT', message: expect.stringContaining('268435456 blocks') }),
    )
    expect(specificationOf({ collective: 'scatter' }, shape, [7]).slotTerm.length).toBe(4096)
  })

  test.each<[unknown, unknown, unknown, string]>([
    [null, shape, [0], 'ERR_ARGUMENT'],
    [{}, shape, [0], 'ERR_ARGUMENT'],
    [{ collective: 'neighbor-allgather' }, shape, [0], 'ERR_ARGUMENT'],
    [{ collective: 'bcast' }, null, [0], 'ERR_ARGUMENT'],
    [{ collective: 'bcast' }, { ranks: -1 }, undefined, 'ERR_ARGUMENT'],
    [{ collective: 'bcast' }, { ranks: 3, segments: '2' }, undefined, 'ERR_ARGUMENT'],
    [{ collective: 'bcast' }, { ranks: 3, root: 3 }, undefined, 'ERR_RANK'],
    [{ collective: 'bcast' }, shape, 3, 'ERR_ARGUMENT'],
    [{ collective: 'bcast' }, shape, [3], 'ERR_RANK'],
  ])('of %j for %j, rows %j, is refused', (algorithm, given, rows, code) => {
    expect(() => specificationOf(algorithm as never, given as Shape, rows as number[])).toThrowError(
      expect.objectContaining({ code }),
    )
  })

  test('exactly 2^28 blocks are held', () => {
    expect(() => requireHeld('scatter', 2, 2 ** 28)).not.toThrow()
    expect(() => requireHeld('scatter', 2, 2 ** 28 + 1)).toThrowError(
      expect.objectContaining({ code: 'ERR_ARGUMENT' }),
    )
  })

  test('more blocks than 32 bits can number are refused', () => {
    const cutInto = (parts: number) =>
      specificationOf({ collective: 'allreduce', parts: () => parts }, { ranks: 1 }, [])
    expect(cutInto(2 ** 31 - 1).partStart).toEqual(Int32Array.of(0, 2 ** 31 - 1))
    expect(() => cutInto(2 ** 31)).toThrowError(expect.objectContaining({ code: 'ERR_ARGUMENT' }))
    expect(() => specificationOf({ collective: 'alltoall' }, { ranks: 2 ** 16 }, [0])).toThrowError(
      expect.objectContaining({ code: 'ERR_ARGUMENT' }),
    )
  })
})
