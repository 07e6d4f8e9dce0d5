import { parseMachine, routeBetween, torus } from 'rankweave/machine'
import { congestedCost, scheduleStages, torusNetwork } from 'rankweave/models'
import { algorithmOf, lower, scheduleOf, simulate, verify } from 'rankweave/schedule'
import { describe, expect, test } from 'vitest'
import { boxOf } from '../../../../src/collective/ways/box.js'
import { mixedWays, ringWays } from '../../../../src/collective/ways/ring-way.js'
import { exchangesOf, type GatherWay } from '../../../../src/collective/ways/way.js'
import { copiesOf } from '../../../../src/schedule/lower/value-memory.js'
import { withPorts } from '../../../../src/schedule/lower/with-ports.js'
import { nodesOfGrid, sentAlong, torusGrid } from '../../../support/way-messages.js'

const boxOfGrid = (dims: readonly number[], isWrapped = true) => {
  const grid = torusGrid(dims, isWrapped)
  return boxOf(grid, nodesOfGrid(grid))
}

test('the exchanges of a participant are found once for all its rounds', () => {
  const ways = ringWays(boxOfGrid([3, 2]), 2)
  const found = exchangesOf(ways, 1)
  expect(exchangesOf(ways, 1)).toBe(found)
  expect(exchangesOf(ways, 2)).not.toEqual(found)
  expect(exchangesOf(ways, 1)).toEqual(found)
})

describe('buckets on 4 x 4 x 4', () => {
  test.each([
    [1, 63],
    [3, 21],
    [6, 10.5],
  ])('%i at once: %f n delta, and 9 messages each', (ports, expected) => {
    const shape = { ranks: 64, segments: ports, grid: torusGrid([4, 4, 4]) }
    const schedule = scheduleOf(algorithmOf(`allgather-bucket:ports=${ports}`), shape)
    const cost = congestedCost(torusNetwork([4, 4, 4]), scheduleStages(schedule, 1 / ports))
    expect(cost.messages).toBe(9 * ports)
    expect(cost.bytes).toBeCloseTo(expected, 9)
  })
})

test.each([3, 6])(
  '%i ports with the shuffle on 4 x 4 x 4: a machine of so many ports is as fast as any',
  (ports) => {
    const shape = { ranks: 64, segments: ports, grid: torusGrid([4, 4, 4]) }
    const schedule = scheduleOf(algorithmOf(`allgather-bucket:ports=${ports},shuffle=1`), shape)
    expect(verify(schedule).violations).toEqual([])
    expect(withPorts(schedule, ports)).toBe(schedule)
    const timeOn = (limit: string): number =>
      simulate(schedule, parseMachine(`torus:dims=4x4x4,profile=bluegene-p${limit}`), { bytes: 600_000 })
        .timeUs
    expect(timeOn(`,ports=${ports}`) / timeOn('')).toBeLessThan(1.001)
    const { programs } = lower(
      schedule,
      Int32Array.from({ length: 64 }, (_, rank) => rank),
    )
    for (const program of programs) {
      const { isSentInPlace, isReceivedInPlace } = copiesOf(schedule, program)
      expect(isSentInPlace).not.toContain(0)
      expect(isReceivedInPlace).not.toContain(0)
    }
  },
)

describe('messages of a participant, one for the shuffle included', () => {
  test.each([
    [8, 127, 61],
    [32, 559, 217],
  ])('side %i: %i with six buckets, %i with recursive doubling in two dimensions', (side, rings, mixed) => {
    const box = boxOfGrid([side, side, side])
    expect(sentAlong(ringWays(box, 6), 7) + 1).toBe(rings)
    expect(sentAlong(mixedWays(box, 6), 7) + 1).toBe(mixed)
  })
})

/** The most messages on one link in a stage. */
function largestLoad(ways: readonly GatherWay[], machine: ReturnType<typeof torus>): number {
  const loads = new Map<string, number>()
  for (let rank = 0; rank < ways[0].originAt.length; rank++)
    for (const { stage, peer, isSent, runs } of exchangesOf(ways, rank)) {
      if (!isSent) continue
      for (const link of routeBetween(machine, rank, peer).slice(1, -1)) {
        const key = `${stage} ${link}`
        loads.set(key, (loads.get(key) ?? 0) + runs.length)
      }
    }
  return [...loads.values()].reduce((most, load) => Math.max(most, load), 0)
}

describe('sections on a link in a stage of buckets', () => {
  test.each([[[4, 4, 4]], [[3, 4, 5]], [[6, 4]]])('a mesh of %j: 1 in one direction, 2 in both', (dims) => {
    const machine = torus({ dims, wraps: dims.map(() => false) })
    const box = boxOfGrid(dims, false)
    expect(largestLoad(ringWays(box, dims.length), machine)).toBe(1)
    expect(largestLoad(ringWays(box, 2 * dims.length), machine)).toBe(2)
  })

  test.each([[[4, 4, 4]], [[3, 4, 5]], [[6, 4]]])('a torus of %j: 1 in both directions', (dims) => {
    expect(largestLoad(ringWays(boxOfGrid(dims), 2 * dims.length), torus({ dims }))).toBe(1)
  })

  test('both directions are refused on a mesh', () => {
    const shape = { ranks: 64, segments: 6, grid: torusGrid([4, 4, 4], false) }
    expect(algorithmOf('allgather-bucket:ports=6').refuses?.(shape)).toMatch(/need dimensions that wrap/)
    expect(algorithmOf('allgather-bucket:ports=3').refuses?.(shape)).toBeNull()
  })
})
