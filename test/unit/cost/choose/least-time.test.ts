import { describe, expect, it } from 'vitest'
import { algorithms } from '../../../../src/collective/algorithms.js'
import type { Algorithm } from '../../../../src/collective/patterns/algorithm.js'
import { leastSize, scheduleOf } from '../../../../src/collective/patterns/schedule-size.js'
import { LeastTimes } from '../../../../src/cost/choose/least-time.js'
import { simulate } from '../../../../src/cost/simulate/simulate.js'
import { parseMachine } from '../../../../src/machine/machine-text.js'

const machines = [
  'cluster:nodes=4,cores=4,profile=simgrid-fast',
  'cluster:cores=3+5+1+7,profile=simgrid-slow',
  'torus:dims=4x4,profile=simgrid-fast',
  'clos:radix=8,levels=2,taper=3,nodes=16,profile=simgrid-slow',
]

describe('LeastTimes', () => {
  it.each(machines)('is no longer than what the simulator says of any algorithm: %s', (text) => {
    const machine = parseMachine(text)
    let above = 0
    for (const algorithm of algorithms) {
      for (const [ranks, root, segments, bytes] of [
        [16, 0, 1, 8],
        [13, 5, 3, 5000],
        [16, 15, 4, 300_000],
        [1, 0, 1, 64],
      ] as const) {
        const shape = { ranks, root, segments }
        if ((algorithm.refuses?.(shape) ?? null) !== null) continue
        const leastUs = new LeastTimes(machine, shape, bytes).of(algorithm, segments)
        const { timeUs } = simulate(scheduleOf(algorithm, shape), machine, { bytes })
        expect(leastUs, `${algorithm.id} ${ranks} ${segments} ${bytes}`).toBeLessThanOrEqual(timeUs)
        if (leastUs > 0.5 * timeUs) above++
      }
    }
    // It would be of no use if it were far below.
    expect(above).toBeGreaterThan(40)
  })

  it('looks at some of many ranks, with their nodes', () => {
    const machine = parseMachine('cluster:nodes=20,cores=20,profile=simgrid-fast')
    const shape = { ranks: 390, root: 200 }
    const isSmall = (algorithm: Algorithm) => leastSize(algorithm, shape, undefined).operations < 3000
    for (const algorithm of algorithms) {
      if ((algorithm.refuses?.(shape) ?? null) !== null || !isSmall(algorithm)) continue
      const leastUs = new LeastTimes(machine, shape, 64).of(algorithm, 1)
      const { timeUs } = simulate(scheduleOf(algorithm, shape), machine, { bytes: 64 })
      expect(leastUs, algorithm.id).toBeLessThanOrEqual(timeUs)
    }
  })

  it('is what the busiest part of the machine has to do', () => {
    const machine = parseMachine('cluster:nodes=4,cores=4,profile=simgrid-fast')
    const shape = { ranks: 16 }
    const leastUs = (bytes: number, id: string) =>
      new LeastTimes(machine, shape, bytes).of(algorithms.find((each) => each.id === id)!, 1)
    // The root sends 15 messages at 0.35 us.
    expect(leastUs(8, 'bcast-linear')).toBeCloseTo(15 * 0.35, 6)
    // Four ranks of a node send 12 others 1 MB and 16 bytes each, at 0.08 ns per byte.
    expect(leastUs(1e6, 'alltoall-linear')).toBeCloseTo((48 * (1e6 + 16) * 0.08) / 1000, 3)
  })
})
