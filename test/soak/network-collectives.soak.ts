import { describe, expect, test } from 'vitest'
import { algorithmOf } from '../../src/collective/algorithms.js'
import { scheduleOf } from '../../src/collective/patterns/schedule-of.js'
import { simulate } from '../../src/cost/simulate/simulate.js'
import { parseMachine } from '../../src/machine/machine-text.js'
import { torusGrid } from '../support/way-messages.js'

// Allgathers along the dimensions of a network, simulated where that takes too long for every day; see
// test/paper/network-collectives.test.ts.

const bytes = 600_000

describe('buckets on a torus of 8 x 8 x 8 with the profile of Blue Gene/P, long blocks', () => {
  const machine = parseMachine('torus:dims=8x8x8,profile=bluegene-p')
  const grid = torusGrid([8, 8, 8])
  const timeOf = (setting: string, segments: number): number => {
    const schedule = scheduleOf(algorithmOf(`allgather-bucket:${setting}`), { ranks: 512, segments, grid })
    return simulate(schedule, machine, { bytes }).timeUs
  }

  test('with 3 and 6 ports against one', () => {
    const one = timeOf('ports=1', 1)
    expect(Math.abs((bytes * 511) / one / 375 - 1)).toBeLessThan(0.01)
    // 2.884: the shuffle loads a link by 20 sections on routes that take one dimension after the other.
    expect(one / timeOf('ports=3,shuffle=1', 3)).toBeGreaterThan(2.85)
    expect(one / timeOf('ports=6,shuffle=1', 6)).toBeGreaterThan(5.2)
  })
})

test('a tapered Clos network of 1,024 nodes: doubling takes 3999/1120 = 3.57 times as long as halving, within 5%', () => {
  const machine = parseMachine('clos:radix=40,levels=2,taper=4,nodes=1024,profile=niagara')
  const timeOf = (setting: string): number => {
    const schedule = scheduleOf(algorithmOf(`allgather-reordered:${setting}`), { ranks: 1024 })
    return simulate(schedule, machine, { bytes }).timeUs
  }
  const ratio = timeOf('order=doubling') / timeOf('order=halving,shuffle=1')
  expect(Math.abs(ratio / (3999 / 1120) - 1)).toBeLessThan(0.05)
})
