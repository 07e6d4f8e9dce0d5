import { cluster, type Profile, parseMachine } from 'rankweave/machine'
import { algorithmOf, plan, type Schedule, scheduleOf, simulate } from 'rankweave/schedule'
import { describe, expect, it } from 'vitest'
import { topologyFromEdges } from '../../../../src/topology/topology-builders.js'
import { changed, plainProfile } from '../../../support/simulated-machine.js'

/** Rank p sends its block to rank q, for every pair. */
function sends(ranks: number, pairs: readonly (readonly [number, number])[]): Schedule {
  const sources = Int32Array.from(pairs, ([from]) => from)
  const destinations = Int32Array.from(pairs, ([, to]) => to)
  return plan(topologyFromEdges(ranks, { sources, destinations }), { kind: 'direct' }).schedule
}

const free: Profile = changed(plainProfile, (path, cost) =>
  path.endsWith('OverheadNs') || path.startsWith('memory') ? 0 : cost,
)
const [latency, perByte] = [1000, 2]

describe('links', () => {
  it('divide their bandwidth among messages: two of one node take twice as long, each', () => {
    const machine = cluster({ nodes: 3, cores: 2, profile: free })
    const { endUs } = simulate(
      sends(6, [
        [0, 2],
        [1, 4],
      ]),
      machine,
      { bytes: 1000 },
    )
    expect(endUs[2]).toBe((latency + 2 * 1000 * perByte) / 1000)
    expect(endUs[4]).toBe(endUs[2])
  })

  it('give a short message its share: it is through after its bytes have passed twice', () => {
    const machine = cluster({ nodes: 3, cores: 2, profile: free })
    const { endUs } = simulate(
      sends(6, [
        [0, 2],
        [1, 4],
      ]),
      machine,
      {
        bytes: [1000, 100, 0, 0, 0, 0],
      },
    )
    expect(endUs[4]).toBe((latency + 2 * 100 * perByte) / 1000)
    expect(endUs[2]).toBe((latency + (100 + 1000) * perByte) / 1000)
  })

  it('carry the header of every message, also of an empty one', () => {
    const network = { ...free.levels.network, headerBytes: 50 }
    const machine = cluster({
      nodes: 2,
      cores: 1,
      profile: { ...free, levels: { ...free.levels, network } },
    })
    for (const bytes of [0, 100]) {
      const { timeUs, traffic } = simulate(sends(2, [[0, 1]]), machine, { bytes })
      expect(timeUs).toBe((latency + (bytes + 50) * perByte) / 1000)
      expect(traffic.network.bytes).toBe(bytes)
    }
  })

  it('inside a torus are shared by messages on one way, and not by those the other way', () => {
    const machine = parseMachine('torus:dims=8,cores=1,profile=plain', { profiles: [free] })
    const time = (pairs: readonly (readonly [number, number])[]) =>
      simulate(sends(8, pairs), machine, { bytes: 1000 }).timeUs
    const alone = time([[0, 3]])
    expect(alone).toBe((latency + 3 * 10 + 1000 * perByte) / 1000)
    // The common link is busy from the arrival of the nearer message on.
    expect(
      time([
        [0, 3],
        [1, 2],
      ]),
    ).toBe((latency + 10 + 2 * 1000 * perByte) / 1000)
    expect(
      time([
        [0, 3],
        [3, 0],
      ]),
    ).toBe(alone)
  })
})

describe('gaps', () => {
  it('separate the messages of a sender and those to a receiver', () => {
    const gapNs = 400
    const profile = changed(free, (path, cost) => (path === 'network.gapNs' ? gapNs : cost))
    const machine = cluster({ nodes: 5, cores: 1, profile })
    const from = simulate(
      sends(5, [
        [0, 1],
        [0, 2],
        [0, 3],
        [0, 4],
      ]),
      machine,
      { bytes: 0 },
    )
    expect([...from.endUs]).toEqual([0, 1, 1.4, 1.8, 2.2])
    const to = simulate(
      sends(5, [
        [1, 0],
        [2, 0],
        [3, 0],
        [4, 0],
      ]),
      machine,
      { bytes: 0 },
    )
    expect(to.timeUs).toBe(2.2)
  })

  it('inside a node are the time of the bytes before, if that is longer', () => {
    const machine = cluster({ nodes: 1, cores: 3, profile: free })
    const { endUs } = simulate(
      sends(3, [
        [0, 1],
        [0, 2],
      ]),
      machine,
      { bytes: 1000 },
    )
    expect([...endUs]).toEqual([0, 0.6, 1.1])
  })
})

it('in phases a long message waits for its receiver, and its sender for the end of the phase', () => {
  const machine = cluster({ nodes: 8, cores: 1, profile: plainProfile })
  const schedule = scheduleOf(algorithmOf('allgather-ring'), { ranks: 8 })
  const time = (progress: 'dependencies' | 'phases', bytes: number) =>
    simulate(schedule, machine, { bytes, progress }).timeUs
  expect(time('phases', 100)).toBe(time('dependencies', 100))
  expect(time('phases', 10_000)).toBeGreaterThanOrEqual(time('dependencies', 10_000))
})

describe('ports', () => {
  const bytes = 1000
  /** One rank per node, all messages from node 0. */
  const ends = (ports: number | null, cores = 1, sizes: number | readonly number[] = bytes) => {
    const pairs = [1, 2, 3, 4, 5].map((to) => [0, cores * to] as const)
    const machine = cluster({ nodes: 6, cores, profile: free, ports })
    return simulate(sends(6 * cores, pairs), machine, { bytes: sizes })
  }
  const alone = bytes * perByte

  it('of a node, one: its messages leave one after the other, in the order of their coming', () => {
    expect([...ends(1).endUs.subarray(1)]).toEqual(
      [1, 2, 3, 4, 5].map((place) => (latency + place * alone) / 1000),
    )
  })

  it('of a node, two: as many share its link, and the next follows when one is through', () => {
    const times = [2, 2, 4, 4, 5].map((place) => (latency + place * alone) / 1000)
    expect([...ends(2).endUs.subarray(1)]).toEqual(times)
  })

  it('as many as there are messages change nothing, nor does the text of a machine without them', () => {
    const without = simulate(sends(6, [[0, 1]]), cluster({ nodes: 6, cores: 1, profile: free }), { bytes })
    expect(without).toEqual(
      simulate(sends(6, [[0, 1]]), cluster({ nodes: 6, cores: 1, profile: free, ports: 1 }), { bytes }),
    )
    for (const ports of [5, 6, 2 ** 16]) expect(ends(ports)).toEqual(ends(null))
  })

  it('are those of a node, for messages of all its ranks and none of those inside it', () => {
    const pairs = [
      [0, 1],
      [0, 2],
      [1, 4],
    ] as const
    const { endUs } = simulate(sends(6, pairs), cluster({ nodes: 3, cores: 2, profile: free, ports: 1 }), {
      bytes,
    })
    expect(endUs[1]).toBe(0.6)
    expect([endUs[2], endUs[4]].sort()).toEqual([1, 2].map((place) => (latency + place * alone) / 1000))
  })

  it('are not for messages without bytes', () => {
    expect([...ends(1, 1, 0).endUs.subarray(1)]).toEqual(Array(5).fill(latency / 1000))
  })

  it('make waiting time of the critical path a queue', () => {
    const { criticalPath } = ends(1)
    expect(criticalPath.map(({ activity }) => activity)).toEqual(['queue', 'transfer'])
    expect(criticalPath[0].endUs).toBe((4 * alone) / 1000)
  })
})
