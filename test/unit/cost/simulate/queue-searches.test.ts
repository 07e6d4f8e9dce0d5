import { cluster, type Profile } from 'rankweave/machine'
import { activities, algorithmOf, plan, type Schedule, scheduleOf, simulate } from 'rankweave/schedule'
import { describe, expect, it } from 'vitest'
import { frameTableOfRanks } from '../../../../src/cost/simulate/frame-table.js'
import { QueueSearches } from '../../../../src/cost/simulate/queue-searches.js'
import type { FrameStart } from '../../../../src/cost/simulate/run.js'
import { buildTopology } from '../../../../src/topology/files/topology-from-spec.js'
import { plainProfile } from '../../../support/simulated-machine.js'

const nsPerEntry = 7
const slowProfile: Profile = { ...plainProfile, matchNsPerEntry: nsPerEntry }
const machineOf = (nodes: number, profile = slowProfile) => cluster({ nodes, cores: 1, profile })
const one = (id: string, ranks: number, segments = 1) => scheduleOf(algorithmOf(id), { ranks, segments })

/** Every rank but 0 sends `messages` to rank 0. */
function toRankZero(ranks: number, messages: number) {
  const count = (ranks - 1) * messages
  return frameTableOfRanks(
    {
      sendStart: Int32Array.from({ length: ranks + 1 }, (_, p) => Math.max(0, p - 1) * messages),
      to: new Int32Array(count),
      round: new Int32Array(count),
      blocks: new Int32Array(count).fill(1),
    },
    8,
  )
}

describe('searches of queues, counted by hand', () => {
  it('messages that arrive in the order of their receives pass one entry each, in reverse all of those left', () => {
    const frames = toRankZero(5, 1)
    const arrivals = [0, 1, 2, 3]
    for (const [order, passed] of [
      [arrivals, [1, 1, 1, 1]],
      [arrivals.toReversed(), [1, 2, 3, 4]],
    ] as const) {
      const searches = new QueueSearches(frames, nsPerEntry)
      for (const frame of arrivals) searches.post(frame)
      for (const frame of order) searches.arrive(frame)
      expect(arrivals.map((frame) => searches.searchNs(frame))).toEqual(passed.map((n) => n * nsPerEntry))
    }
  })

  it('a message that arrives before its receive passes all posted receives, and its receive what came before it', () => {
    const searches = new QueueSearches(toRankZero(5, 1), nsPerEntry)
    searches.post(0)
    searches.post(1)
    searches.arrive(2)
    searches.arrive(3)
    searches.arrive(3)
    searches.post(3)
    // Two posted receives, then two unexpected messages.
    expect(searches.searchNs(3)).toBe((2 + 2) * nsPerEntry)
    searches.post(2)
    expect(searches.searchNs(2)).toBe((2 + 1) * nsPerEntry)
    const passed = 4 + 3
    const searchUs = (passed * nsPerEntry) / 1000
    expect(searches.report()).toEqual({
      searches: 6,
      entriesPassed: passed,
      searchUs,
      mostSearchUs: searchUs,
    })
  })

  it('the reverse search of Ghazimirsaeed 2019 (MB1) passes 315.5 entries in the mean with 63 x 10 messages', () => {
    const frames = toRankZero(64, 10)
    const searches = new QueueSearches(frames, 1)
    for (let frame = 0; frame < 630; frame++) searches.arrive(frame)
    for (let frame = 629; frame >= 0; frame--) searches.post(frame)
    expect(searches.report().entriesPassed / 630).toBe(315.5)
  })
})

describe('simulate with matchNsPerEntry', () => {
  it('lengthens a gather by one entry per message that arrives in order', () => {
    const schedule = one('gather-linear', 5)
    const without = simulate(schedule, machineOf(5, plainProfile), { bytes: 8 })
    const { timeUs, matching } = simulate(schedule, machineOf(5), { bytes: 8 })
    expect(matching).toMatchObject({ searches: 8, entriesPassed: 4 })
    expect(timeUs - without.timeUs).toBeCloseTo((4 * nsPerEntry) / 1000, 9)
  })

  it('counts all receives that are left where the last message arrives first', () => {
    const bytes = [0, 4000, 3000, 2000, 1000]
    const { matching } = simulate(one('gather-linear', 5), machineOf(5), { bytes })
    expect(matching).toMatchObject({
      entriesPassed: 4 + 3 + 2 + 1,
      mostSearchUs: (10 * nsPerEntry) / 1000,
    })
  })

  it('receives last as long as their searches, on the critical path, too', () => {
    const options = { bytes: [0, 4000, 3000, 2000, 1000], timeline: true }
    const { timeline, criticalPath, timeUs } = simulate(one('gather-linear', 5), machineOf(5), options)
    const receives = [...timeline!.activity.keys()].filter(
      (i) => activities[timeline!.activity[i]!] === 'receive',
    )
    const durations = receives.map((i) => Math.round(1000 * (timeline!.endUs[i]! - timeline!.startUs[i]!)))
    expect(durations).toEqual([4, 3, 2, 1].map((passed) => 300 + passed * nsPerEntry))
    let end = 0
    for (const { startUs, endUs } of criticalPath) {
      expect(startUs).toBe(end)
      end = endUs
    }
    expect(end).toBe(timeUs)
  })

  it('of 0 is the simulation of a profile without it, to the last bit', () => {
    const zero = { ...plainProfile, matchNsPerEntry: 0 }
    for (const { schedule, bytes, progress } of subjects()) {
      const options = { bytes, progress, timeline: true }
      const ranks = schedule.specification.ranks
      const without = simulate(schedule, machineOf(ranks, plainProfile), options)
      expect(without.matching).toBeNull()
      expect(simulate(schedule, machineOf(ranks, zero), options)).toEqual(without)
    }
  })
})

interface Subject {
  readonly schedule: Schedule
  readonly bytes: number
  readonly progress: FrameStart
}

/** Short and long frames, both ways to start them, with receives that wait and without. */
function* subjects(): Generator<Subject> {
  const topology = buildTopology('er:12:d=0.5:seed=3')
  const schedules = [
    plan(topology, { kind: 'direct' }).schedule,
    plan(topology, { kind: 'common-neighbor', k: 2, mode: 'agnostic' }).schedule,
    one('allgather-bruck', 8),
    one('gather-linear-sync', 6, 3),
    scheduleOf(algorithmOf('alltoall-linear').with!({ requests: 2 }), { ranks: 8 }),
  ]
  for (const schedule of schedules)
    for (const bytes of [8, 20_000])
      for (const progress of ['dependencies', 'phases'] as const) yield { schedule, bytes, progress }
}
