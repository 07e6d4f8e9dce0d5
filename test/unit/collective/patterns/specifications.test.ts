import type { Collective, Shape, Specification } from 'rankweave/schedule'
import { describe, expect, test } from 'vitest'
import { requireHeld, specificationOf } from '../../../../src/collective/patterns/schedule-of.js'
import { refusal } from '../../../support/refusal.js'

const shape: Shape = { ranks: 3, root: 1, segments: 2 }

/** `0 1 > 2 0+3` for a rank that contributes blocks 0 and 1, and whose slots get block 2 and blocks 0 and 3 combined. */
function rowOf(specification: Specification, rank: number): string {
  const { ownStart, ownBlock, slotStart, slotTerm } = specification
  const own = ownBlock.subarray(ownStart[rank], ownStart[rank + 1])
  const slots = Array.from(slotTerm.subarray(slotStart[rank], slotStart[rank + 1]), (term) =>
    term >= 0 ? term : blocksOf(specification, ~term).join('+'),
  )
  return [...own, '>', ...slots].join(' ')
}

function blocksOf({ reductions }: Specification, reduction: number): number[] {
  const { runStart, first, count, stride } = reductions
  const blocks: number[] = []
  for (let run = runStart[reduction]; run < runStart[reduction + 1]; run++) {
    for (let n = 0; n < count[run]; n++) blocks.push(first[run] + n * stride[run])
  }
  return blocks
}

test.each<[Collective, ...string[]]>([
  ['bcast', '> 0 1', '0 1 >', '> 0 1'],
  ['scatter', '> 0 1', '0 1 2 3 4 5 > 2 3', '> 4 5'],
  ['gather', '0 1 >', '2 3 > 0 1 2 3 4 5', '4 5 >'],
  ['allgather', '0 1 > 0 1 2 3 4 5', '2 3 > 0 1 2 3 4 5', '4 5 > 0 1 2 3 4 5'],
  [
    'alltoall',
    '0 1 2 3 4 5 > 0 1 6 7 12 13',
    '6 7 8 9 10 11 > 2 3 8 9 14 15',
    '12 13 14 15 16 17 > 4 5 10 11 16 17',
  ],
  ['reduce', '0 1 >', '2 3 > 0+2+4 1+3+5', '4 5 >'],
  ['allreduce', '0 1 > 0+2+4 1+3+5', '2 3 > 0+2+4 1+3+5', '4 5 > 0+2+4 1+3+5'],
  [
    'reduce-scatter',
    '0 1 2 3 4 5 > 0+6+12 1+7+13',
    '6 7 8 9 10 11 > 2+8+14 3+9+15',
    '12 13 14 15 16 17 > 4+10+16 5+11+17',
  ],
  ['scan', '0 1 > 0 1', '2 3 > 0+2 1+3', '4 5 > 0+2+4 1+3+5'],
  ['exscan', '0 1 >', '2 3 > 0 1', '4 5 > 0+2 1+3'],
  ['barrier', '0 > 0+1+2', '1 > 0+1+2', '2 > 0+1+2'],
])('specificationOf %s on 3 ranks, root 1, 2 segments', (collective, ...rows) => {
  const whole = specificationOf({ collective }, shape)
  for (const [rank, row] of rows.entries()) {
    expect(rowOf(whole, rank)).toBe(row)
    const alone = specificationOf({ collective }, shape, [rank])
    expect(rowOf(alone, rank)).toBe(row)
    expect(alone.partStart).toEqual(whole.partStart)
    const [own, slots] = row.split('>').map((side) => side.split(' ').filter((word) => word !== ''))
    expect([alone.ownBlock.length, alone.slotTerm.length]).toEqual([own.length, slots.length])
  }
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
      refusal('ERR_ARGUMENT', '268435456 blocks'),
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
