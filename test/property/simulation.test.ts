import fc from 'fast-check'
import { cluster, parseMachine } from 'rankweave/machine'
import { buildTopology, topologyFromEdges } from 'rankweave/topology'
import { describe, expect, it } from 'vitest'
import { algorithmOf, algorithms } from '../../src/collective/algorithms.js'
import { scheduleOf } from '../../src/collective/patterns/schedule-of.js'
import { simulate } from '../../src/cost/simulate/simulate.js'
import { activities } from '../../src/cost/simulate/simulation.js'
import { levels, type Profile } from '../../src/machine/profile.js'
import { plan } from '../../src/neighborhood/plan/plan.js'
import type { Schedule } from '../../src/schedule/ir.js'
import { lower } from '../../src/schedule/lower/lower.js'
import { withWaits } from '../support/random-waits.js'
import { chooseBy } from '../support/schedule-faults.js'
import { changed, type ProfilePath, plainProfile } from '../support/simulated-machine.js'
import { cases } from '../support/soak.js'

const numRuns = cases(200, 60)
const seed = 20261122

/** A schedule of any kind, and where its ranks are. */
const subjects = fc
  .record({
    ranks: fc.integer({ min: 1, max: 12 }),
    which: fc.nat(),
    segments: fc.constantFrom(1, 1, 2, 5),
    cores: fc.constantFrom(1, 2, 4),
    perProcess: fc.constantFrom(1, 1, 1, 2, 5),
    bytes: fc.constantFrom(0, 1, 100, 3000, 4097, 20000),
    progress: fc.constantFrom('dependencies' as const, 'phases' as const),
    topology: fc.nat(9),
    waits: fc.boolean(),
  })
  .map(({ ranks, which, segments, cores, perProcess, bytes, progress, topology, waits }) => {
    const shape = { ranks, segments }
    const fitting = algorithms.filter(({ refuses }) => (refuses?.(shape) ?? null) === null)
    const plain: Schedule =
      which % 3 === 0
        ? plan(
            buildTopology(`er:${ranks}:d=0.${topology}:seed=${which % 100}`),
            which % 2 === 0 ? { kind: 'direct' } : { kind: 'common-neighbor', k: 2, mode: 'agnostic' },
          ).schedule
        : scheduleOf(fitting[which % fitting.length], shape)
    const schedule = waits ? withWaits(plain, chooseBy(which)) : plain
    const placement = Int32Array.from({ length: ranks }, (_, rank) => Math.floor(rank / perProcess))
    return { schedule, lowered: lower(schedule, placement), placement, cores, options: { bytes, progress } }
  })

const machineOf = (cores: number, profile = plainProfile) =>
  cluster({ nodes: Math.ceil(12 / cores), cores, profile })

describe('a simulation', () => {
  it('is the same every time, from the schedule and from its programs, and on a machine with idle nodes', () => {
    fc.assert(
      fc.property(subjects, ({ schedule, lowered, placement, cores, options }) => {
        const first = simulate(lowered, machineOf(cores), { ...options, timeline: true })
        expect(simulate(lowered, machineOf(cores), { ...options, timeline: true })).toEqual(first)
        expect(simulate(schedule, machineOf(cores), { ...options, placement, timeline: true })).toEqual(first)
        const larger = cluster({ nodes: 40, cores, profile: plainProfile })
        expect(simulate(lowered, larger, { ...options, timeline: true })).toEqual(first)
      }),
      { numRuns, seed },
    )
  })

  it('sends every frame of the programs once, with its bytes', () => {
    fc.assert(
      fc.property(subjects, ({ lowered, cores, options }) => {
        const { traffic, timeline } = simulate(lowered, machineOf(cores), { ...options, timeline: true })
        const { programs } = lowered
        const outside = levels.filter((level) => level !== 'process')
        const frames = programs.reduce((sum, { counts }) => sum + counts.framesSent, 0)
        expect(outside.reduce((sum, level) => sum + traffic[level].messages, 0)).toBe(frames)
        expect(traffic.process.messages).toBe(
          programs.reduce((sum, { counts }) => sum + counts.messagesInside, 0),
        )
        if (cores === 1) expect(traffic.package.messages + traffic.node.messages).toBe(0)
        const count = (name: (typeof activities)[number]) =>
          timeline!.activity.filter((activity) => activities[activity] === name).length
        expect(count('send')).toBe(frames)
        expect(count('receive')).toBe(frames)
        let sent = 0
        for (let i = 0; i < timeline!.rank.length; i++)
          if (activities[timeline!.activity[i]] === 'send') sent += timeline!.bytes[i]
        expect(outside.reduce((sum, level) => sum + traffic[level].bytes, 0)).toBe(sent)
      }),
      { numRuns, seed },
    )
  })

  it('has a critical path without gaps from 0 to the end, and ranks that wait while they do nothing', () => {
    fc.assert(
      fc.property(subjects, ({ lowered, cores, options }) => {
        const simulation = simulate(lowered, machineOf(cores), { ...options, timeline: true })
        const { criticalPath, timeUs, timeline, endUs, waitUs } = simulation
        expect(criticalPath.reduce((end, step) => (step.startUs === end ? step.endUs : Number.NaN), 0)).toBe(
          timeUs,
        )
        expect(Math.max(0, ...endUs)).toBe(timeUs)
        const { rank, activity, startUs, endUs: ends } = timeline!
        const last = new Map<number, number>()
        const waited = new Map<number, number>()
        for (let i = 0; i < rank.length; i++) {
          const name = activities[activity[i]]
          expect(ends[i]).toBeGreaterThan(startUs[i])
          if (name === 'transfer' || name === 'queue') continue
          expect(startUs[i]).toBe(last.get(rank[i]) ?? 0)
          last.set(rank[i], ends[i])
          if (name === 'wait') waited.set(rank[i], (waited.get(rank[i]) ?? 0) + ends[i] - startUs[i])
        }
        for (const [of, end] of last) {
          expect(end).toBe(endUs[of])
          expect(waited.get(of) ?? 0).toBeCloseTo(waitUs[of], 9)
        }
      }),
      { numRuns, seed },
    )
  })

  it('does not depend on the numbers of nodes, nor of ranks on them', () => {
    fc.assert(
      fc.property(
        fc.shuffledSubarray([...Array(24).keys()], { minLength: 24 }),
        fc.shuffledSubarray([...Array(6).keys()], { minLength: 6 }),
        fc.shuffledSubarray([...Array(4).keys()], { minLength: 4 }),
        fc.constantFrom(0, 10, 3000, 20_000),
        (destinations, nodes, places, bytes) => {
          const time = (renamed: (rank: number) => number) => {
            const edges = destinations.map((to, from) => [renamed(from), renamed(to)] as const)
            const topology = topologyFromEdges(24, {
              sources: edges.map(([from]) => from),
              destinations: edges.map(([, to]) => to),
            })
            const machine = cluster({ nodes: 6, cores: 4, profile: plainProfile })
            return simulate(plan(topology, { kind: 'direct' }).schedule, machine, { bytes }).timeUs
          }
          const renamed = (rank: number) => 4 * nodes[Math.floor(rank / 4)] + places[rank % 4]
          expect(time(renamed)).toBeCloseTo(
            time((rank) => rank),
            9,
          )
        },
      ),
      { numRuns, seed },
    )
  })

  it('takes twice as long where everything costs twice as much', () => {
    fc.assert(
      fc.property(subjects, ({ lowered, cores, options }) => {
        const slower = machineOf(
          cores,
          changed(plainProfile, (_, cost) => 2 * cost),
        )
        const { timeUs, endUs } = simulate(lowered, machineOf(cores), options)
        const doubled = simulate(lowered, slower, options)
        expect(doubled.timeUs).toBe(2 * timeUs)
        expect([...doubled.endUs]).toEqual([...endUs].map((us) => 2 * us))
      }),
      { numRuns, seed },
    )
  })

  it('sends the same bytes with any ports, and with one a node sends one message after the other', () => {
    fc.assert(
      fc.property(subjects, ({ lowered, cores, options }) => {
        const withPorts = (ports: number | null) =>
          simulate(lowered, { ...machineOf(cores), ports }, { ...options, timeline: true })
        const [free, one] = [withPorts(null), withPorts(1)]
        const frames = lowered.programs.reduce((sum, { counts }) => sum + counts.framesSent, 0)
        expect(withPorts(Math.max(1, frames))).toEqual(free)
        expect(simulate(lowered, machineOf(cores), { ...options, timeline: true })).toEqual(free)
        expect(one.traffic).toEqual(free.traffic)
        const timeline = one.timeline!
        const nodeOfRank = (rank: number) => Math.floor(lowered.placement[rank] / cores)
        const ends = new Map<number, number>()
        const ways = [...timeline.rank.keys()]
          .filter((i) => activities[timeline.activity[i]] === 'transfer' && timeline.bytes[i] > 0)
          .filter((i) => nodeOfRank(timeline.rank[i]) !== nodeOfRank(timeline.peer[i]))
          .sort((a, b) => timeline.endUs[a] - timeline.endUs[b])
        for (const i of ways) {
          const node = nodeOfRank(timeline.rank[i])
          const start = timeline.endUs[i] - (timeline.bytes[i] * plainProfile.levels.network.nsPerByte) / 1000
          expect(start).toBeGreaterThanOrEqual((ends.get(node) ?? 0) * (1 - 1e-9))
          ends.set(node, timeline.endUs[i])
        }
      }),
      { numRuns, seed },
    )
  })
})

describe('a simulation is monotone', () => {
  const paths: readonly ProfilePath[] = [
    ...(['package', 'node', 'network'] as const).flatMap((level) =>
      (['latencyNs', 'sendOverheadNs', 'receiveOverheadNs', 'gapNs', 'nsPerByte'] as const).map(
        (cost) => `${level}.${cost}` as const,
      ),
    ),
    'hop.latencyNs',
    'hop.nsPerByte',
    'memory.copyNsPerByte',
    'memory.copyBlockNs',
    'memory.reduceNsPerByte',
  ]
  const machines = [
    'cluster:nodes=4,cores=4,profile=plain',
    'torus:dims=4x2x2,cores=1,profile=plain',
    'clos:radix=6,levels=2,taper=2,nodes=8,cores=2,profile=plain',
  ]
  const schedules = [
    ...[
      'allgather-ring',
      'allgather-bruck',
      'bcast-binomial',
      'allreduce-rabenseifner',
      'alltoall-linear',
    ].map((id) => scheduleOf(algorithmOf(id), { ranks: 16 })),
    plan(buildTopology('moore:4x4:r=1'), { kind: 'direct' }).schedule,
  ]

  it('in every cost where every rank sends one message at a time', () => {
    for (const id of ['allgather-ring', 'allgather-bruck', 'allreduce-recursive-doubling', 'bcast-chain']) {
      const schedule = scheduleOf(algorithmOf(id), { ranks: 16 })
      for (const bytes of [8, 2000, 10_000]) {
        const time = (profile: Profile) =>
          simulate(schedule, cluster({ nodes: 16, cores: 1, profile }), { bytes }).timeUs
        for (const path of paths) {
          const after = time(changed(plainProfile, (of, cost) => (of === path ? 1.5 * cost + 7 : cost)))
          expect(after, `${path}, ${id}, ${bytes} bytes`).toBeGreaterThanOrEqual(time(plainProfile))
        }
      }
    }
  })

  it.each(machines)('in the length of blocks on %s', (text) => {
    for (const schedule of schedules) {
      const machine = parseMachine(text, { profiles: [plainProfile] })
      let before = 0
      for (const bytes of [0, 1, 10, 100, 1000, 2000, 10_000, 100_000]) {
        const { timeUs } = simulate(schedule, machine, { bytes })
        expect(timeUs).toBeGreaterThanOrEqual(before)
        before = timeUs
      }
    }
  })
})
