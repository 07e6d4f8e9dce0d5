import { describe, expect, test } from 'vitest'
import { boxOf } from '../../../../src/collective/ways/box.js'
import { cubeWays } from '../../../../src/collective/ways/cube-way.js'
import { shuffleOf } from '../../../../src/collective/ways/gather-along.js'
import { ringWays } from '../../../../src/collective/ways/ring-way.js'
import { shuffledHome } from '../../../../src/collective/ways/sections.js'
import type { GatherWay } from '../../../../src/collective/ways/way.js'
import { cutLength } from '../../../../src/cost/simulate/block-lengths.js'
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

  test.each(shapes)('%i x %i x %i: it is the one whose section the rings leave there', (...dims) => {
    for (const ports of [1, 3, 6]) {
      const ways = ringsOf(dims, ports)
      // Rings of 512 processes take seconds to follow.
      if (ways[0].originAt.length <= 100)
        for (const way of ways) expect(resultOf(way)).toEqual([...way.originAt])
      // Every section of every process has a home of its own, where its bucket begins with it.
      const ranks = ways[0].originAt.length
      const homes = new Set<string>()
      for (let unit = 0; unit < ranks; unit++)
        for (let section = 0; section < ports; section++) {
          const { way, offset, participant } = shuffledHome(ways, unit, section)
          if (way * ranks + offset !== ports * unit + section || ways[way].offsetOf[participant] !== offset)
            throw new Error(`section ${section} of ${unit} is at offset ${offset} of way ${way}`)
          homes.add(`${way} ${participant}`)
        }
      expect(homes.size).toBe(ranks * ports)
    }
  })
})

/** Of whom process 0 has a section at each offset after it has done what the way says, beginning with its own. */
function resultOf({ originAt, offsetOf, messages, stages }: GatherWay): readonly number[] {
  const ranks = originAt.length
  const held = Array.from({ length: ranks }, (_, rank) => {
    const result = new Array<number>(ranks).fill(-1)
    result[offsetOf[rank]] = rank
    return result
  })
  const perRank = held.map((_, rank) => [...messages(rank)])
  for (let stage = 0; stage < stages; stage++) {
    const brought: (() => void)[] = []
    for (const [rank, all] of perRank.entries())
      for (const { peer, isSent, first, count, stage: of } of all) {
        if (!isSent || of !== stage) continue
        const run = held[rank].slice(first, first + count)
        brought.push(() => held[peer].splice(first, count, ...run))
      }
    for (const bring of brought) bring()
  }
  for (const result of held) expect(result).toEqual(held[0])
  return held[0]
}

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

  // The source pads; here segments differ by a byte, so that nothing needs room beyond the result.
  test.each([3, 6])(
    'units of 1 to 30 bytes in %i ways: few messages, few bytes, none beyond the end',
    (ways) => {
      for (const dims of [
        [4, 4, 4],
        [3, 2, 5],
      ]) {
        const rings = ringsOf(dims, ways)
        const ranks = rings[0].originAt.length
        for (let bytes = 1; bytes <= 30; bytes++) {
          const padded = ways * Math.ceil(bytes / ways)
          const lengthOf = cutLength(bytes, ways)
          const lengths = Array.from({ length: ways }, (_, section) => lengthOf(section))
          expect(lengths.reduce((sum, length) => sum + length, 0)).toBe(bytes)
          for (let rank = 0; rank < ranks; rank++) {
            const messages = shuffleOf(rings, rank)
            const [sent, received] = [true, false].map((is) => messages.filter(({ isSent }) => isSent === is))
            expect(sent.length).toBeLessThanOrEqual(ways + 1)
            expect(received.length).toBeLessThanOrEqual(2 * ways)
            for (const side of [sent, received]) {
              const moved = side.flatMap(({ sections }) => sections)
              const sum = moved.reduce(
                (all, { way, offset }) => all + lengths[(way * ranks + offset) % ways],
                0,
              )
              expect(sum).toBeLessThanOrEqual(padded)
            }
          }
        }
      }
    },
  )
})
