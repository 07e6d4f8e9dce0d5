import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Figure } from '../../bench/bench.js'
import {
  blockSuite,
  type ComparedSuite,
  dimensionSuite,
  farthestFirstSuite,
  figuresOfSuite,
} from '../../bench/simgrid/compare.js'
import { missingSimgrid, Simgrid } from '../../bench/simgrid/simgrid.js'
import { algorithmOf } from '../../src/collective/algorithms.js'
import { scheduleOf } from '../../src/collective/patterns/schedule-of.js'
import { simulate } from '../../src/cost/simulate/simulate.js'
import { parseMachine } from '../../src/machine/machine-text.js'
import { plan } from '../../src/neighborhood/plan/plan.js'
import type { Schedule } from '../../src/schedule/ir.js'
import { lower } from '../../src/schedule/lower/lower.js'
import type { LoweredSchedule } from '../../src/schedule/lower/program.js'
import { upTo } from '../../src/schedule/specification.js'
import { buildTopology } from '../../src/topology/files/topology-from-spec.js'

const missing = missingSimgrid()
if (missing !== null) {
  if (process.env['RANKWEAVE_REQUIRE_MPI'] === '1') throw new Error(`tests require SimGrid: ${missing}`)
  console.warn(`Tests with SimGrid are skipped: ${missing}`)
}

const limitSeconds = 300
const machine = parseMachine('cluster:nodes=4,cores=4,profile=simgrid-fast')
const loweredOf = (schedule: Schedule): LoweredSchedule => lower(schedule, upTo(schedule.specification.ranks))
const ofAlgorithm = (id: string, segments = 1) => scheduleOf(algorithmOf(id), { ranks: 16, segments })

describe.skipIf(missing !== null)('soak: SimGrid', () => {
  let simgrid: Simgrid
  beforeAll(() => {
    simgrid = new Simgrid()
  })
  afterAll(() => simgrid.close())

  it('receives on every rank what the schedule must deliver, and takes about as long as our simulation', async () => {
    const direct = plan(buildTopology('moore:4x4:r=1'), { kind: 'direct' }).schedule
    const combining = plan(
      buildTopology('moore:4x4:r=1'),
      { kind: 'common-neighbor', k: 2, mode: 'aware' },
      { machine },
    ).schedule
    const schedules: readonly Schedule[] = [
      ...[direct, combining],
      ...['allgather-ring', 'allgather-bruck', 'alltoall-bruck', 'barrier-dissemination'].map((id) =>
        ofAlgorithm(id),
      ),
      ...['allreduce-recursive-doubling', 'allreduce-rabenseifner', 'scan-recursive-doubling'].map((id) =>
        ofAlgorithm(id),
      ),
      ...[ofAlgorithm('bcast-chain', 5), ofAlgorithm('reduce-scatter-pairwise')],
    ]
    const bytes = [4, 1003]
    const { timesUs } = await simgrid.simulate(
      machine,
      schedules.map((schedule) => ({ lowered: loweredOf(schedule), bytes })),
      limitSeconds,
    )
    for (const [i, schedule] of schedules.entries()) {
      for (const [j, unit] of bytes.entries()) {
        const ours = simulate(schedule, machine, { bytes: unit }).timeUs
        expect(ours / timesUs[i][j], `${schedule.strategy} ${unit} B`).toBeGreaterThan(0.75)
        expect(ours / timesUs[i][j], `${schedule.strategy} ${unit} B`).toBeLessThan(1.25)
      }
    }
  })

  async function figuresOf(suite: ComparedSuite): Promise<readonly Figure[]> {
    const figures: Figure[] = []
    for await (const figure of figuresOfSuite(suite, simgrid, '')) figures.push(figure)
    return figures
  }

  const casesOf = (figures: readonly Figure[]) => figures.filter(({ unit }) => unit === 'us simulated')
  const endingIn = (figures: readonly Figure[], words: string) =>
    figures.filter(({ case: name }) => name.endsWith(words))

  it('differs by at most 5% on average where blocks of messages lie side by side, and where they lie apart', async () => {
    const figures = await figuresOf(blockSuite)
    expect(casesOf(figures)).toHaveLength(24)
    expect(endingIn(figures, 'mean error of simulated times')).toMatchObject([{ target: 5, met: true }])
  })

  it('differs by at most 5% in allgathers that exchange with the farthest node first, with copies and without', async () => {
    const figures = await figuresOf(farthestFirstSuite)
    expect(casesOf(figures)).toHaveLength(4)
    expect(endingIn(figures, 'largest error')).toMatchObject([{ target: 5, met: true }])
    const timeOf = (words: string) => casesOf(figures).find(({ case: name }) => name.includes(words))!.peer!
    expect(timeOf('copies free')).toBeLessThan(timeOf('allgather-ring'))
    expect(timeOf('bits in reverse')).toBeLessThan(timeOf('allgather-ring'))
    expect(timeOf('allgather-distance-halving 16 KiB')).toBeGreaterThan(timeOf('allgather-ring'))
  })

  it('differs by at most 15% on average along the dimensions of networks, and prefers the same algorithms', async () => {
    const figures = await figuresOf(dimensionSuite)
    expect(casesOf(figures)).toHaveLength(24)
    expect(endingIn(figures, 'mean error of simulated times')).toMatchObject([{ target: 15, met: true }])
    expect(endingIn(figures, 'in another order')).toMatchObject([{ ours: 0, met: true }])
  })

  it('takes a pair of messages as long as latency, bandwidth and overheads say', async () => {
    const schedule = scheduleOf(algorithmOf('bcast-linear'), { ranks: 2 })
    const apart = parseMachine('cluster:nodes=2,cores=1,profile=simgrid-slow')
    const { timesUs } = await simgrid.simulate(
      apart,
      [{ lowered: loweredOf(schedule), bytes: [1250, 10_000] }],
      limitSeconds,
    )
    // Overheads of 2 us at both ends, 5 us latency; 1.25 GB/s, and SMPI adds 16 bytes to every message. The
    // root copies to its own slot while the message is away.
    const envelope = 16 / 1250
    expect(timesUs[0][0]).toBeCloseTo(9 + 1 + envelope, 6)
    expect(timesUs[0][1]).toBeCloseTo(9 + 8 + envelope, 6)
  })

  it('fails when a rank receives something else', async () => {
    const schedule = ofAlgorithm('allgather-ring')
    const slotTerm = schedule.specification.slotTerm.slice()
    ;[slotTerm[1], slotTerm[2]] = [slotTerm[2], slotTerm[1]]
    const specification = { ...schedule.specification, slotTerm }
    const lowered = { ...loweredOf(schedule), schedule: { ...schedule, specification } }
    await expect(simgrid.simulate(machine, [{ lowered, bytes: [64] }], limitSeconds)).rejects.toThrow(
      'wrong contents',
    )
  })
})
