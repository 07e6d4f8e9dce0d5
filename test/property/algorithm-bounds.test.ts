import { type Algorithm, algorithms, simulate } from 'rankweave/schedule'
import { describe, expect, it } from 'vitest'
import { leastSize, scheduleOf } from '../../src/collective/patterns/schedule-of.js'
import { gridOfMachine } from '../../src/collective/ways/machine-grid.js'
import { LeastTimes, ScheduleBounds } from '../../src/cost/choose/lower-bounds.js'
import { placesOf } from '../../src/cost/simulate/costs.js'
import { parseMachine } from '../../src/machine/machine-text.js'

const calls = [
  { text: 'cluster:nodes=4,cores=4,profile=simgrid-fast', ranks: 13, root: 5, segments: 4, bytes: 5000 },
  { text: 'cluster:cores=3+5+1+7,profile=niagara', ranks: 12, root: 11, segments: 4, bytes: 300_000 },
  { text: 'torus:dims=4x2x2,profile=bluegene-p', ranks: 9, root: 5, segments: 2, bytes: 5000 },
  {
    text: 'clos:radix=8,levels=2,taper=3,nodes=16,profile=simgrid-slow',
    ranks: 16,
    root: 0,
    segments: 2,
    bytes: 8,
  },
]
const withPorts = (family: Algorithm) =>
  family.followsGrid === true ? [family, family.with!({ ports: 2 })] : [family]

it('bounds of any algorithm are no longer than what the simulator says, and often close', () => {
  let [all, closeBounds, closeTimes] = [0, 0, 0]
  for (const { text, bytes, ...call } of calls) {
    const machine = parseMachine(text)
    const shape = { ...call, grid: gridOfMachine(machine, null, call.ranks)! }
    const bounds = new ScheduleBounds(machine, placesOf(machine, 16))
    const leastTimes = new LeastTimes(machine, shape, bytes)
    for (const algorithm of algorithms.flatMap(withPorts)) {
      if ((algorithm.refuses?.(shape) ?? null) !== null) continue
      const schedule = scheduleOf(algorithm, shape)
      const { timeUs } = simulate(schedule, machine, { bytes })
      const [boundUs, leastUs] = [bounds.of(schedule, bytes), leastTimes.of(algorithm, shape.segments)]
      expect(Math.max(boundUs, leastUs), `${algorithm.id} on ${text}`).toBeLessThanOrEqual(timeUs)
      all++
      if (boundUs > 0.7 * timeUs) closeBounds++
      if (leastUs > 0.5 * timeUs) closeTimes++
    }
  }
  // They would be of no use if they were far below.
  expect(closeBounds).toBeGreaterThan(all / 3)
  expect(closeTimes).toBeGreaterThan(all / 6)
})

describe('LeastTimes', () => {
  it('looks at some of many ranks, with their nodes', () => {
    const machine = parseMachine('cluster:nodes=10,cores=10,profile=simgrid-fast')
    const shape = { ranks: 95, root: 50 }
    for (const algorithm of algorithms) {
      if ((algorithm.refuses?.(shape) ?? null) !== null) continue
      if (leastSize(algorithm, shape, undefined).operations >= 1200) continue
      const leastUs = new LeastTimes(machine, shape, 64).of(algorithm, 1)
      const { timeUs } = simulate(scheduleOf(algorithm, shape), machine, { bytes: 64 })
      expect(leastUs, algorithm.id).toBeLessThanOrEqual(timeUs)
    }
  })

  it('is what the busiest part of the machine has to do', () => {
    const machine = parseMachine('cluster:nodes=4,cores=4,profile=simgrid-fast')
    const leastUs = (bytes: number, id: string) =>
      new LeastTimes(machine, { ranks: 16 }, bytes).of(algorithms.find((each) => each.id === id)!, 1)
    // The root sends 15 messages at 0.35 us.
    expect(leastUs(8, 'bcast-linear')).toBeCloseTo(15 * 0.35, 6)
    // Four ranks of a node send 12 others 1 MB and 16 bytes each, at 0.08 ns per byte.
    expect(leastUs(1e6, 'alltoall-linear')).toBeCloseTo((48 * (1e6 + 16) * 0.08) / 1000, 3)
  })
})
