import { algorithmOf, lower, scheduleOf, simulate } from 'rankweave/schedule'
import { describe, expect, it } from 'vitest'
import { cluster } from '../../../../src/machine/machine.js'
import { plainProfile } from '../../../support/simulated-machine.js'

const profile = plainProfile
const one = (id: string, ranks: number, segments = 1) => scheduleOf(algorithmOf(id), { ranks, segments })
const spread = (nodes: number) => cluster({ nodes, cores: 1, profile })

describe('simulate without contention equals the closed form', () => {
  it.each([0, 1, 1000, 4096])('a message of %i bytes takes o + L + mG + o', (bytes) => {
    const { timeUs, endUs, traffic } = simulate(one('bcast-linear', 2), spread(2), { bytes })
    expect(timeUs).toBe((200 + 1000 + 2 * bytes + 300) / 1000)
    expect([...endUs]).toEqual([0.2, timeUs])
    expect(traffic.network).toEqual({ messages: 1, bytes })
  })

  it('a message above the eager limit waits for a request and the permission, a latency each', () => {
    const { timeUs } = simulate(one('bcast-linear', 2), spread(2), { bytes: 5000 })
    expect(timeUs).toBe((200 + 3 * 1000 + 2 * 5000 + 300) / 1000)
  })

  it.each([2, 3, 8, 16])(
    'a ring of %i ranks takes a message per step, then the copy of the own block',
    (ranks) => {
      const bytes = 64
      const { timeUs } = simulate(one('allgather-ring', ranks), spread(ranks), { bytes })
      const step = 200 + 1000 + 2 * bytes + 300
      expect(timeUs).toBeCloseTo(((ranks - 1) * step + 5 + 0.25 * bytes) / 1000, 9)
    },
  )

  it.each([2, 4, 8, 16])('a binomial broadcast to %i ranks takes a message per level', (ranks) => {
    const bytes = 64
    const { timeUs } = simulate(one('bcast-binomial', ranks), spread(ranks), { bytes })
    expect(timeUs).toBeCloseTo((Math.log2(ranks) * (200 + 1000 + 2 * bytes + 300)) / 1000, 9)
  })
})

describe('simulate of what takes no messages', () => {
  it('one rank takes the copy of its own block', () => {
    const { timeUs, criticalPath, traffic } = simulate(one('allgather-ring', 1), spread(1), { bytes: 8 })
    expect(timeUs).toBe((5 + 8 * 0.25) / 1000)
    expect(criticalPath).toEqual([{ activity: 'copy', rank: 0, peer: -1, startUs: 0, endUs: timeUs }])
    expect(traffic.network).toEqual({ messages: 0, bytes: 0 })
  })

  it('a broadcast to no one takes no time', () => {
    const simulation = simulate(one('bcast-linear', 1), spread(1), { bytes: 8, timeline: true })
    expect(simulation).toMatchObject({ timeUs: 0, criticalPath: [] })
    expect(simulation.timeline!.rank).toHaveLength(0)
  })

  it('ranks of one process exchange nothing', () => {
    const options = { bytes: 8, placement: new Int32Array(8) }
    const { traffic } = simulate(one('allgather-ring', 8), spread(1), options)
    expect(traffic).toMatchObject({ process: { messages: 56, bytes: 448 }, network: { messages: 0 } })
  })
})

describe('simulate refuses', () => {
  const schedule = one('allgather-ring', 4)
  it.each([-1, 0.5, Number.NaN, 2 ** 41, '4'])('bytes %j with ERR_SIMULATION', (bytes) => {
    expect(() => simulate(schedule, spread(4), { bytes: bytes as number })).toThrow(
      expect.objectContaining({ code: 'ERR_SIMULATION' }),
    )
  })

  it('lengths of other than every block with ERR_SIMULATION', () => {
    expect(() => simulate(schedule, spread(4), { bytes: [1, 2, 3] })).toThrow(
      expect.objectContaining({ code: 'ERR_SIMULATION' }),
    )
  })

  it('unknown progress and a second placement with ERR_SIMULATION', () => {
    const refused = expect.objectContaining({ code: 'ERR_SIMULATION' })
    expect(() => simulate(schedule, spread(4), { bytes: 1, progress: 'fast' as 'phases' })).toThrow(refused)
    const placement = new Int32Array(4)
    expect(() => simulate(lower(schedule, placement), spread(4), { bytes: 1, placement })).toThrow(refused)
  })

  it('a placement of other ranks with ERR_PLACEMENT', () => {
    expect(() => simulate(schedule, spread(4), { bytes: 1, placement: new Int32Array(3) })).toThrow(
      expect.objectContaining({ code: 'ERR_PLACEMENT' }),
    )
  })

  it('a machine without a profile or with too few cores with ERR_MACHINE', () => {
    const refused = expect.objectContaining({ code: 'ERR_MACHINE' })
    expect(() => simulate(schedule, cluster({ nodes: 4, cores: 1 }), { bytes: 1 })).toThrow(refused)
    expect(() => simulate(schedule, spread(3), { bytes: 1 })).toThrow(refused)
  })
})

it('simulate refuses what is no schedule, damaged machines and lengths, before anything is simulated', () => {
  const schedule = one('bcast-binomial', 4)
  const damaged = structuredClone(spread(4))
  ;(damaged.profile!.levels.network as { latencyNs: number }).latencyNs = 1e308
  const codeOf = (call: () => unknown) => {
    try {
      call()
    } catch (error) {
      return (error as { code?: string }).code
    }
    return 'none'
  }
  expect(codeOf(() => simulate(schedule, damaged, { bytes: 1 }))).toBe('ERR_MACHINE')
  expect(codeOf(() => simulate(null as never, spread(4), { bytes: 1 }))).toBe('ERR_SIMULATION')
  expect(codeOf(() => simulate(schedule, spread(4), { bytes: null as never }))).toBe('ERR_SIMULATION')
  expect(codeOf(() => simulate(one('alltoall-linear', 128), spread(128), { bytes: 2 ** 40 }))).toBe(
    'ERR_SIMULATION',
  )
})
