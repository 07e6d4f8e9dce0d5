import { describe, expect, it } from 'vitest'
import { rangesText, union } from '../../../src/world/diagnosis.js'

describe('rank ranges', () => {
  it('rangesText abbreviates runs and strides; union merges disjoint lists', () => {
    expect(rangesText([3, 3])).toBe('rank 3')
    expect(rangesText([0, 3, 7, 7])).toBe('ranks 0-3, 7')
    expect(rangesText([1, 1, 5, 5, 9, 9, 13, 13])).toBe('ranks 1-13 by 4')
    expect(rangesText(Array.from({ length: 20 }, (_, i) => i * i).flatMap((rank) => [rank, rank]))).toBe(
      'ranks 0, 1, 4, 9, 16, 25, 36, 49, 12 more',
    )
    expect(
      union([
        [4, 5, 9, 9],
        [0, 3],
        [6, 6],
      ]),
    ).toEqual([0, 6, 9, 9])
  })
})
