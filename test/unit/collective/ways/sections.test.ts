import { describe, expect, test } from 'vitest'
import { shuffledHome, shuffleOf } from '../../../../src/collective/ways/along-ways.js'
import { boxOf } from '../../../../src/collective/ways/box.js'
import { cubeWays } from '../../../../src/collective/ways/cube-way.js'
import { ringWays } from '../../../../src/collective/ways/ring-way.js'
import type { GatherWay } from '../../../../src/collective/ways/way.js'
import { nodesOfGrid, torusGrid } from '../../../support/way-messages.js'

const ringsOf = (dims: readonly number[], ports: number): readonly GatherWay[] => {
  const grid = torusGrid(dims)
  return ringWays(boxOf(grid, nodesOfGrid(grid)), ports)
}

const shapes = [
  [3, 2, 5],
  [8, 8, 8],
  [2, 4, 8],
  [8, 4, 2],
  [4, 4, 4],
  [2, 2, 2],
  [5, 3, 2],
  [3, 3, 3],
  [2, 5, 4],
  [6, 4, 3],
] as const

describe('the sections of a round', () => {
  test('8 x 8 x 8 in six ways: section 1203, the fourth of process 200, is in bucket 2 at process 410', () => {
    const place = shuffledHome(ringsOf([8, 8, 8], 6), 200, 3)
    expect(place).toEqual({ way: 2, offset: 179, participant: 410 })
  })

  test.each(shapes)('%i x %i x %i: the process of every offset is that of Sack 2011 §3.4.2', (X, Y, Z) => {
    const processAt = [
      (k: number) => k,
      (k: number) => (Math.floor(k / (Y * Z)) % X) + X * (k % Y) + X * Y * (Math.floor(k / Y) % Z),
      (k: number) => (Math.floor(k / Z) % X) + X * (Math.floor(k / (Z * X)) % Y) + X * Y * (k % Z),
    ]
    for (const [ports, rotationOf] of [
      [3, (way: number) => way],
      [6, (way: number) => way >> 1],
    ] as const)
      for (const [way, { originAt }] of ringsOf([X, Y, Z], ports).entries())
        expect([...originAt]).toEqual(
          Array.from({ length: X * Y * Z }, (_, k) => processAt[rotationOf(way)](k)),
        )
  })
})

describe('the shuffle', () => {
  test('8 x 8 x 8 in six ways: a process exchanges with at most 6 others in each direction', () => {
    const ways = ringsOf([8, 8, 8], 6)
    for (let rank = 0; rank < 512; rank++) {
      const messages = shuffleOf(ways, rank)
      expect(messages.filter(({ isSent }) => isSent).length).toBeLessThanOrEqual(6)
      expect(messages.filter(({ isSent }) => !isSent).length).toBeLessThanOrEqual(6)
    }
  })

  test('of bit reversal on 512 processes moves 480 blocks: the others read the same both ways', () => {
    const ways = cubeWays(undefined, 512, 'halving', 1)
    const moved = Array.from({ length: 512 }, (_, rank) => shuffleOf(ways, rank)).filter(
      ({ length }) => length > 0,
    )
    expect(moved.length).toBe(480)
  })
})
