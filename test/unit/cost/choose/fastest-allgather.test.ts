import { algorithms, scheduleOf, simulate } from 'rankweave/schedule'
import { describe, expect, it } from 'vitest'
import { fastestAllgather } from '../../../../src/cost/choose/choose-algorithm.js'
import { parseMachine } from '../../../../src/machine/machine-text.js'

describe('fastestAllgather', () => {
  it.each([
    [1, 8],
    [6, 8],
    [8, 65_536],
    [12, 1_048_576],
  ])('of %i ranks and %i bytes: no algorithm is faster', (ranks, bytes) => {
    const machine = parseMachine(`cluster:nodes=${ranks},cores=1,profile=simgrid-fast`)
    const { simulation } = fastestAllgather(ranks, machine, bytes)
    const shape = { ranks, root: 0, segments: 1 }
    const times = algorithms
      .filter(({ collective, refuses }) => collective === 'allgather' && (refuses?.(shape) ?? null) === null)
      .map((algorithm) => simulate(scheduleOf(algorithm, { ranks }), machine, { bytes }).timeUs)
    expect(simulation.timeUs).toBe(Math.min(...times))
  })
})
