import { cluster, type MessageCosts, type Profile, torus } from 'rankweave/machine'
import { congestedCost, logGPOfLevel, predictUs, scheduleStages, torusNetwork } from 'rankweave/models'
import { algorithmOf, scheduleOf, simulate } from 'rankweave/schedule'
import { describe, expect, test } from 'vitest'
import { VirtualTime } from '../../src/fabric/local/virtual-time.js'
import { simgridFast } from '../../src/machine/built-in-profiles.js'

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

function times(
  id: string,
  ranks: number,
  bytes: number,
  costs: MessageCosts = messages,
): readonly [simulated: number, predicted: number] {
  const schedule = scheduleOf(algorithmOf(id), { ranks })
  const levels = { process: costs, package: costs, node: costs, network: costs }
  const machine = { ...cluster({ nodes: ranks, cores: 1 }), profile: { ...profile, levels } }
  const { timeUs } = simulate(schedule, machine, { bytes })
  return [timeUs, predictUs(id, logGPOfLevel(machine.profile, 'network'), { ranks, bytes })]
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

  // Where bytes cost nothing, messages share no link, and a gap is as long as the overhead.
  test.each(['barrier-tree', 'bcast-binomial', 'bcast-knomial', 'allgather-binomial', 'allreduce-tree'])(
    '%s of empty messages, powers of two',
    (id) => {
      for (const ranks of [4, 8, 16]) {
        const [simulated, predicted] = times(id, ranks, 0, { ...messages, gapNs: 400, nsPerByte: 0 })
        expect(simulated).toBeCloseTo(predicted, 6)
      }
    },
  )

  test.each(['allgather-two-proc', 'alltoall-two-proc', 'reduce-scatter-binomial'])(
    '%s on two ranks',
    (id) => {
      const [simulated, predicted] = times(id, 2, 4096)
      expect(simulated).toBeCloseTo(predicted, 6)
    },
  )

  // With neither overheads nor gaps, what a rank sends to all others at once shares its link.
  test.each(['allreduce-segmented', 'reduce-scatter-tree'])(
    '%s of bytes alone, any number of ranks',
    (id) => {
      const bytesAlone: MessageCosts = { ...messages, sendOverheadNs: 0, receiveOverheadNs: 0, gapNs: 0 }
      for (const ranks of [2, 3, 8, 11]) {
        const [simulated, predicted] = times(id, ranks, ranks * 4096, bytesAlone)
        expect(simulated / predicted).toBeCloseTo(1, 3)
      }
    },
  )

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

// What docs/neighborhood-strategies.md says agrees by construction.

test.each([
  ...[0, 1, 4096].map((bytes) => [bytes, 0] as const),
  ...[1, 4096].map((bytes) => [bytes, 16] as const),
])(
  'one message of %i bytes with a header of %i takes as long in the simulator, by the formula and in virtual time',
  (bytes, headerBytes) => {
    const costs: MessageCosts = { ...messages, headerBytes }
    const withHeader: Profile = { ...profile, levels: { ...profile.levels, network: costs } }
    const machine = { ...cluster({ nodes: 2, cores: 1 }), profile: withHeader }
    const simulated = simulate(scheduleOf(algorithmOf('bcast-linear'), { ranks: 2 }), machine, {
      bytes,
    }).timeUs
    const expectedNs = 400 + 5000 + (bytes + headerBytes) * 1 + 400
    expect(simulated).toBeCloseTo(expectedNs / 1000, 9)

    const time = new VirtualTime({ node: costs })
    time.reset(['a', 'a'])
    time.receive(0, 1, time.send(0, 1, bytes), bytes)
    expect(time.nowNs(1)).toBe(expectedNs)

    // LogGP has one byte at least.
    if (bytes === 0) return
    const predicted = predictUs('bcast-linear', logGPOfLevel(withHeader, 'network'), { ranks: 2, bytes })
    expect(predicted).toBeCloseTo(expectedNs / 1000, 9)
  },
)

test.each([
  ['allgather-recursive-doubling', [4, 4, 4]],
  ['allgather-recursive-doubling', [2, 8]],
  ['allgather-ring', [4, 4]],
] as const)(
  'links alone: %s on a torus of %j costs as much by congestion as in the simulator',
  (id, dims) => {
    const ranks = dims.reduce((product, extent) => product * extent, 1)
    const schedule = scheduleOf(algorithmOf(id), { ranks })
    const free: MessageCosts = {
      ...{ latencyNs: 0, sendOverheadNs: 0, receiveOverheadNs: 0, gapNs: 0, nsPerByte: 2 },
    }
    const linksOnly: Profile = {
      ...profile,
      levels: { process: free, package: free, node: free, network: free },
      hop: { latencyNs: 0, nsPerByte: 2 },
    }
    const machine = torus({ dims, profile: linksOnly })
    const { timeUs } = simulate(schedule, machine, { bytes: 4096, progress: 'phases' })
    const { bytes } = congestedCost(torusNetwork(dims), scheduleStages(schedule, 4096))
    expect(timeUs).toBeCloseTo((2 * bytes) / 1000, 6)
  },
)
