import { describe, expect, test } from 'vitest'
import { algorithmOf } from '../../src/collective/algorithms.js'
import { scheduleOf } from '../../src/collective/patterns/schedule-size.js'
import { logGPOfLevel } from '../../src/cost/models/conversions.js'
import { predictUs } from '../../src/cost/models/predict.js'
import { simulate } from '../../src/cost/simulate/simulate.js'
import { cluster } from '../../src/machine/machine.js'
import type { MessageCosts, Profile } from '../../src/machine/profile.js'
import { simgridFast } from '../../src/machine/simgrid-profiles.js'

// Where no two messages share a link and no message leaves before the step of its algorithm, the formula of
// LogGP and the simulation of the schedule are the same time.

const messages: MessageCosts = {
  latencyNs: 5000,
  sendOverheadNs: 400,
  receiveOverheadNs: 400,
  gapNs: 300,
  nsPerByte: 1,
}
const profile: Profile = {
  ...simgridFast,
  levels: { process: messages, package: messages, node: messages, network: messages },
  memory: { copyNsPerByte: 0, copyBlockNs: 0, reduceNsPerByte: 0.25 },
  eagerLimitBytes: Number.POSITIVE_INFINITY,
}

function times(id: string, ranks: number, bytes: number): readonly [simulated: number, predicted: number] {
  const schedule = scheduleOf(algorithmOf(id), { ranks })
  const machine = { ...cluster({ nodes: ranks, cores: 1 }), profile }
  const { timeUs } = simulate(schedule, machine, { bytes })
  return [timeUs, predictUs(id, logGPOfLevel(profile, 'network'), { ranks, bytes })]
}

describe('simulation and LogGP agree on one rank per node', () => {
  test.each([
    'bcast-chain',
    'allgather-ring',
    'reduce-chain',
    'reduce-scatter-ring',
    'allreduce-ring',
    'scan-chain',
  ])('%s, any number of ranks', (id) => {
    for (const ranks of [2, 3, 8, 11]) {
      const [simulated, predicted] = times(id, ranks, ranks * 4096)
      expect(simulated).toBeCloseTo(predicted, 6)
    }
  })

  test.each([
    'gather-binomial',
    'allgather-bruck',
    'allgather-recursive-doubling',
    'alltoall-bruck',
    'reduce-tree',
    'reduce-scatter-recursive-halving',
    'allreduce-recursive-doubling',
    'allreduce-rabenseifner',
  ])('%s, powers of two', (id) => {
    for (const ranks of [2, 8, 16]) {
      const [simulated, predicted] = times(id, ranks, ranks * 4096)
      expect(simulated).toBeCloseTo(predicted, 6)
    }
  })

  test.each(['bcast-linear', 'scatter-linear'])('%s on two ranks', (id) => {
    const [simulated, predicted] = times(id, 2, 4096)
    expect(simulated).toBeCloseTo(predicted, 6)
  })
})

test('they differ where a rank sends several long messages, which share its link in the simulation', () => {
  for (const id of ['bcast-binomial', 'scatter-binomial', 'scan-recursive-doubling']) {
    const [simulated, predicted] = times(id, 16, 65_536)
    expect([id, simulated > 1.5 * predicted]).toEqual([id, true])
  }
})
