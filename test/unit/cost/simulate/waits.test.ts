import { describe, expect, it } from 'vitest'
import { algorithmOf } from '../../../../src/collective/algorithms.js'
import { scheduleOf } from '../../../../src/collective/patterns/schedule-of.js'
import { simulate } from '../../../../src/cost/simulate/simulate.js'
import { type Activity, activities } from '../../../../src/cost/simulate/simulation.js'
import { cluster } from '../../../../src/machine/machine.js'
import { ScheduleBuilder } from '../../../../src/schedule/builder.js'
import { partialResult, type Schedule } from '../../../../src/schedule/ir.js'
import { plainProfile } from '../../../support/simulated-machine.js'

const spread = (nodes: number) => cluster({ nodes, cores: 1, profile: plainProfile })
const gather = (ranks: number, segments: number) =>
  scheduleOf(algorithmOf('gather-linear-sync'), { ranks, segments })
const alltoall = (ranks: number, requests: number, segments = 1) =>
  scheduleOf(algorithmOf('alltoall-linear').with!({ requests }), { ranks, segments })
const withoutWaits = (schedule: Schedule): Schedule => ({ ...schedule, opAfter: new Int32Array(0) })

/** What ranks do, in order of the starts. */
function intervals(schedule: Schedule, bytes: number) {
  const { timeline } = simulate(schedule, spread(schedule.specification.ranks), { bytes, timeline: true })
  const { rank, activity, peer, message, startUs, endUs } = timeline!
  const all = Array.from(rank, (of, i) => ({
    rank: of,
    what: activities[activity[i]!]!,
    peer: peer[i]!,
    message: message[i]!,
    startUs: startUs[i]!,
    endUs: endUs[i]!,
  })).sort((a, b) => a.startUs - b.startUs)
  const of = (at: number, what: Activity) => all.filter((one) => one.rank === at && one.what === what)
  /** When a message is complete at its sender. */
  const completeUs = (sent: (typeof all)[number], eagerLimitBytes = 4096) => {
    if (bytes <= eagerLimitBytes) return sent.endUs
    const ways = all.filter((one) => one.what === 'transfer' && one.message === sent.message)
    return Math.max(...ways.map((way) => way.endUs))
  }
  return { of, completeUs }
}

/** Eager and long messages. */
const lengths = [64, 20_000]

describe('a gather with synchronization, simulated', () => {
  it.each(lengths)('sends a token when the first segment of the rank before has come (%i bytes)', (bytes) => {
    const { of } = intervals(gather(5, 3), bytes)
    const [tokens, received] = [of(0, 'send'), of(0, 'receive')]
    expect(tokens.map(({ peer }) => peer)).toEqual([1, 2, 3, 4])
    for (const peer of [2, 3, 4]) {
      const first = received.find((one) => one.peer === peer - 1)!
      expect(tokens[peer - 1]!.startUs).toBeGreaterThanOrEqual(first.endUs)
    }
  })

  it.each(lengths)('sends what remains when the first segment is sent (%i bytes)', (bytes) => {
    const { of, completeUs } = intervals(gather(5, 3), bytes * 3)
    for (const rank of [1, 2, 3, 4]) {
      const [token] = of(rank, 'receive')
      const [first, second] = of(rank, 'send')
      expect(first!.startUs).toBeGreaterThanOrEqual(token!.endUs)
      expect(second!.startUs).toBeGreaterThanOrEqual(completeUs(first!))
    }
  })

  it('sends all tokens at once without its waits', () => {
    const { of } = intervals(withoutWaits(gather(5, 3)), 64)
    expect(of(0, 'send').at(-1)!.endUs).toBe(4 * 0.2)
  })

  it.each([2, 3, 8])('takes a token and a block for each rank (%i ranks)', (ranks) => {
    const { timeUs } = simulate(gather(ranks, 1), spread(ranks), { bytes: 64 })
    const way = 200 + 1000 + 300
    expect(timeUs).toBeCloseTo(((ranks - 1) * (2 * way + 2 * 64) + 5 + 0.25 * 64) / 1000, 9)
  })
})

describe('an all-to-all with at most n requests, simulated', () => {
  const cases = lengths.flatMap((bytes) => [1, 2, 3, 6].map((requests) => ({ bytes, requests })))

  it.each(cases)('has at most $requests sends in progress ($bytes bytes)', ({ bytes, requests }) => {
    const ranks = 7
    const { of, completeUs } = intervals(alltoall(ranks, requests), bytes)
    let most = 0
    for (let rank = 0; rank < ranks; rank++) {
      const sends = of(rank, 'send').map((sent) => ({ ...sent, completeUs: completeUs(sent) }))
      expect(sends).toHaveLength(ranks - 1)
      for (const { startUs } of sends) {
        const open = sends.filter((other) => other.startUs <= startUs && other.completeUs > startUs)
        most = Math.max(most, open.length)
      }
      const received = of(rank, 'receive')
      for (const [k, sent] of sends.entries()) {
        const before = received.find(({ peer }) => peer === (rank - (k + 1 - requests) + ranks) % ranks)
        if (k >= requests) expect(sent.startUs).toBeGreaterThanOrEqual(before!.endUs)
      }
    }
    if (bytes > 4096) expect(most).toBe(requests)
    else expect(most).toBe(1)
  })

  it('takes a step for each message, one at a time: long ones are announced before their receive is posted', () => {
    for (const [bytes, latencies] of [
      [64, 1],
      [20_000, 3],
    ] as const) {
      const { timeUs } = simulate(alltoall(4, 1), spread(4), { bytes })
      const step = 200 + latencies * 1000 + 2 * bytes + 300
      expect(timeUs).toBeCloseTo((3 * step + 5 + 0.25 * bytes) / 1000, 9)
    }
  })

  it('is what it is without waits if they never hold anything back', () => {
    const machine = spread(6)
    for (const bytes of lengths) {
      const all = simulate(alltoall(6, 4096, 2), machine, { bytes, timeline: true })
      expect(simulate(withoutWaits(alltoall(6, 4096, 2)), machine, { bytes, timeline: true })).toEqual(all)
    }
  })

  it('waits for no gate where whole phases are waited for', () => {
    const options = { bytes: 20_000, progress: 'phases' } as const
    const schedule = alltoall(6, 2)
    expect(simulate(schedule, spread(6), options)).toEqual(
      simulate(withoutWaits(schedule), spread(6), options),
    )
  })
})

describe('a receive behind a gate, simulated', () => {
  it('lets a long message wait that was announced before', () => {
    // Rank 1 receives from rank 2 only after it has received from rank 0, which takes as long.
    const late = simulate(chain(true), spread(3), { bytes: 20_000 })
    const early = simulate(chain(false), spread(3), { bytes: 20_000 })
    const way = 200 + 3 * 1000 + 2 * 20_000 + 300
    // Without the wait both share the link.
    expect(early.timeUs).toBeCloseTo((way + 2 * 20_000 + 300 + 5 + 0.25 * 20_000) / 1000, 9)
    // The permission, the way, and what the receiver does.
    expect(late.timeUs).toBeCloseTo((way + 1000 + 1000 + 2 * 20_000 + 300 + 5 + 0.25 * 20_000) / 1000, 9)
  })

  it('is not posted while its rank combines what opened the gate', () => {
    const { timeUs } = simulate(sumOfTwo(), spread(3), { bytes: 20_000 })
    const combining = 0.125 * 20_000
    const way = 200 + 3 * 1000 + 2 * 20_000 + 300
    const permitted = 1000 + 1000 + 2 * 20_000 + 300
    expect(timeUs).toBeCloseTo((way + combining + permitted + combining) / 1000, 9)
  })
})

/** A gather of the blocks of ranks 0 and 2 to rank 1, one phase each; the own block is there. */
function chain(waits: boolean): Schedule {
  const linear = scheduleOf(algorithmOf('gather-linear'), { ranks: 3, root: 1 })
  const builder = new ScheduleBuilder({ specification: linear.specification, strategy: 'test' })
  for (const [phase, rank] of [0, 2].entries()) {
    builder.send(rank, phase, 1).add(rank, 0)
    builder.receive(1, phase, rank).add(rank, builder.slot(1, rank))
    if (waits) builder.after(phase - 1)
  }
  builder.copy(1, 0).add(1, 0, builder.slot(1, 1))
  return builder.build()
}

/** A reduction to rank 1, which receives from rank 2 only after it has received from rank 0. */
function sumOfTwo(): Schedule {
  const linear = scheduleOf(algorithmOf('reduce-linear'), { ranks: 3, root: 1 })
  const builder = new ScheduleBuilder({ specification: linear.specification, strategy: 'test' })
  const total = partialResult(0)
  let held = 0
  for (const [phase, rank] of [0, 2].entries()) {
    const received = builder.stage(1)
    builder.send(rank, phase, 1).add(total, 0)
    builder.receive(1, phase, rank).add(total, received)
    builder.after(phase - 1)
    const sum = phase === 0 ? builder.stage(1) : builder.slot(1, 0)
    builder.combine(1, phase, 0, held, received, sum)
    held = sum
  }
  return builder.build()
}
