import { describe, expect, it } from 'vitest'
import { seededRandom } from '../../../../src/base/random.js'
import { local } from '../../../../src/fabric/local/local.js'
import { onRanks } from '../../../support/on-ranks.js'
import { colorPatterns, expectedGroups, keyPatterns, splitCase } from '../../../support/split-cases.js'

const processes = 16
const rowBytes = 12

describe('split by the minimal algorithm, 16 processes', () => {
  it.each([
    ['one color, random keys', 'one', 'random'],
    ['40% undefined', 'someUndefined', 'random'],
    ['every other key the least', 'evenOdd', 'extremes'],
  ])(
    '%s: each row moves at most lg P + 1 times, and a process holds two shares of rows',
    async (_, colors, keys) => {
      const ranks = 8_000
      const given = splitCase(ranks, colorPatterns[colors], keyPatterns[keys], seededRandom(5))
      const groups = expectedGroups(given)
      const place = new Map(groups.flatMap((group) => group.map((rank, at) => [rank, at] as const)))
      let bytes = 0
      let peak = 0
      await onRanks({ ranks, fabric: local({ processes, seed: 3 }), eagerLimitBytes: 256 }, async (world) => {
        const color = given.color[world.rank]
        const part = await world.split(color < 0 ? null : color, given.key[world.rank], {
          algorithm: 'minimal',
        })
        expect(part?.rank).toBe(place.get(world.rank))
        if (world.rank % (ranks / processes) !== 0) return
        const { phases, peakBytes } = world.describe().lastSplit!
        bytes += phases['exchange']?.bytes ?? 0
        peak = Math.max(peak, peakBytes)
      })
      expect(bytes).toBeLessThanOrEqual(rowBytes * ranks * (Math.log2(processes) + 1))
      // Rows twice while they are sorted, then once with world rank and process of each.
      expect(peak).toBeLessThanOrEqual((2 * rowBytes + 8) * Math.ceil(ranks / processes) + 4096)
    },
  )
})
