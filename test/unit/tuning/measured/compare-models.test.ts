import { builtInProfiles, cluster, parseMachine } from 'rankweave/machine'
import { algorithmOf, scheduleOf, simulate } from 'rankweave/schedule'
import { describe, expect, it } from 'vitest'
import { predictUs } from '../../../../src/cost/models/predict.js'
import { compareModels } from '../../../../src/tuning/measured/compare-models.js'
import { measuredData } from '../../../../src/tuning/measured/measured-data.js'
import {
  formulaPredictor,
  modelOfLevel,
  registryText,
  simulatorPredictor,
} from '../../../../src/tuning/measured/predictors.js'
import { measurementOf } from '../../../support/tuning-data.js'

const grig = builtInProfiles.find(({ name }) => name === 'grig-mx')!
const machine = cluster({ nodes: 1, cores: 1, profile: grig })
const predictors = [
  ...(['hockney', 'loggp', 'plogp'] as const).map((model) => formulaPredictor(grig, model)),
  simulatorPredictor(machine),
]

const call = { nodes: 8, processesPerNode: 1 } as const
const loggpUs = (id: string, bytes: number, segmentBytes = bytes) =>
  predictUs(id, modelOfLevel(grig, 'network', 'loggp'), { ranks: 8, bytes, segmentBytes })

describe('models compared with measurements', () => {
  it('that follow LogGP: no error there, and the right winner', () => {
    const lines = [1024, 65_536, 1_048_576].flatMap((bytes) =>
      [
        { algorithm: 'bcast-linear', parameters: {}, timeUs: loggpUs('bcast-linear', bytes) },
        { algorithm: 'bcast-binomial', parameters: {}, timeUs: loggpUs('bcast-binomial', bytes) },
        {
          ...{ algorithm: 'bcast-chain', parameters: { segment: 512 } },
          timeUs: loggpUs('bcast-chain', bytes, 512),
        },
      ].map((setting) => measurementOf({ ...call, bytes, ...setting })),
    )
    const { predictors: reports, times } = compareModels(measuredData(lines), predictors)
    const [hockney, loggp, plogp, simulator] = reports
    expect(loggp).toMatchObject({ predictor: 'loggp', times: 9, missing: 0, calls: 3, winners: 3 })
    expect(loggp.maxError).toBeLessThan(1e-9)
    expect([loggp.maxPenaltyPercent, loggp.meanPenaltyPercent]).toEqual([0, 0])
    expect(plogp.times).toBe(9)
    expect(hockney.maxError).toBeGreaterThan(0.05)
    expect(hockney.medianRatio).toBeGreaterThan(0)
    expect(simulator.times).toBe(9)
    expect(times.filter(({ isBest }) => isBest)).toHaveLength(3)
    const first = times.find(({ setting }) => setting === 'bcast-linear')!
    expect(first.measuredUs).toBeCloseTo(first.predictedUs.loggp!, 9)
  })

  it('that a model ranks wrongly: what its choice loses', () => {
    const lines = [
      measurementOf({ ...call, bytes: 8, algorithm: 'bcast-linear', timeUs: 10 }),
      measurementOf({ ...call, bytes: 8, algorithm: 'bcast-binomial', timeUs: 15 }),
    ]
    const [hockney] = compareModels(measuredData(lines), predictors).predictors
    expect(hockney).toMatchObject({ calls: 1, winners: 0, meanPenaltyPercent: 50, maxPenaltyPercent: 50 })
  })

  it('by a vote: what two of three take for the fastest, whatever the simulator says', () => {
    const fastest = {
      plogp: 'bcast-linear',
      loggp: 'bcast-binomial',
      hockney: 'bcast-binomial',
      simulator: 'bcast-linear',
    }
    const voters = Object.entries(fastest).map(([name, algorithm]) => ({
      name: name as keyof typeof fastest,
      timeUs: (text: string) => (text === algorithm ? 1 : 2),
    }))
    const lines = [
      measurementOf({ ...call, bytes: 8, algorithm: 'bcast-linear', timeUs: 10 }),
      measurementOf({ ...call, bytes: 8, algorithm: 'bcast-binomial', timeUs: 15 }),
    ]
    const { vote } = compareModels(measuredData(lines), voters)
    expect(vote).toEqual({ calls: 1, winners: 0, meanPenaltyPercent: 50, maxPenaltyPercent: 50 })
  })

  it('by the simulator: the time of the schedule on as many nodes and cores', () => {
    const lines = [measurementOf({ nodes: 2, processesPerNode: 3, bytes: 4096, algorithm: 'bcast-chain' })]
    const [time] = compareModels(measuredData(lines), predictors).times
    const on = { ...cluster({ nodes: 2, cores: 3 }), profile: grig }
    const schedule = scheduleOf(algorithmOf('bcast-chain'), { ranks: 6 })
    expect(time.predictedUs.simulator).toBe(simulate(schedule, on, { bytes: 4096 }).timeUs)
  })

  it('on a torus: its nodes are those of the call, and a call on more nodes has no time', () => {
    const torus = parseMachine('torus:dims=2x2,cores=1,profile=grig-mx')
    const simulator = simulatorPredictor(torus)
    const one = { collective: 'bcast', bytes: 8, processesPerNode: 2 } as const
    expect(simulator.timeUs('bcast-chain', { ...one, nodes: 4 })).toBeGreaterThan(0)
    expect(simulator.timeUs('bcast-chain', { ...one, nodes: 5 })).toBeNull()
  })

  it('has no time where an algorithm does not serve the ranks, or has no formula', () => {
    const three = { collective: 'allgather', nodes: 3, processesPerNode: 1, bytes: 8 } as const
    for (const predictor of predictors)
      expect(predictor.timeUs('allgather-recursive-doubling', three)).toBeNull()
    const [hockney] = predictors
    const fanout = { collective: 'bcast', nodes: 8, processesPerNode: 1, bytes: 8 } as const
    expect(hockney.timeUs('bcast-chain:fanout=4', fanout)).toBeNull()
    expect(predictors[3].timeUs('bcast-chain:fanout=4', fanout)).toBeGreaterThan(0)
  })

  it('counts times that nobody predicts as missing', () => {
    const source = { kind: 'mpi', name: 'MPICH 4.1', machine: 'here' } as const
    const lines = [measurementOf({ source, algorithm: 'intra_smp' })]
    const { predictors: reports, times } = compareModels(measuredData(lines), predictors)
    expect(reports.map(({ missing }) => missing)).toEqual([1, 1, 1, 1])
    expect(times[0].algorithm).toBeNull()
    expect(reports[0].medianError).toBeNaN()
  })
})

describe('the algorithm of the registry that a setting names', () => {
  const mpi = { kind: 'mpi', name: 'Open MPI 4.1.4', machine: 'here' } as const
  const own = { kind: 'rankweave', name: 'threads', machine: 'here' } as const
  it.each([
    [own, 'bcast', 'bcast-chain', { fanout: 1, segment: 1024 }, 'bcast-chain:segment=1KiB'],
    [own, 'bcast', 'bcast-chain', { segment: 0 }, 'bcast-chain'],
    [own, 'bcast', 'bcast-new', {}, null],
    [mpi, 'bcast', 'pipeline', { segment: 8192 }, 'bcast-chain:segment=8KiB'],
    [mpi, 'bcast', 'chain', {}, 'bcast-chain:fanout=4'],
    [mpi, 'alltoall', 'modified_bruck', { segment: 0 }, 'alltoall-bruck'],
    [mpi, 'barrier', 'bruck', {}, 'barrier-dissemination'],
    [mpi, 'reduce', 'pipeline', { segment: 4096 }, 'reduce-chain:segment=4KiB'],
    [mpi, 'bcast', 'of another library', {}, null],
  ] as const)('%o %s %s %o', (source, collective, algorithm, parameters, text) => {
    expect(registryText({ collective, algorithm, parameters }, source)).toBe(text)
  })
})
