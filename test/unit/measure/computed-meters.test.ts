import { builtInProfiles, parseMachine } from 'rankweave/machine'
import { logGPOfLevel, predictUs } from 'rankweave/models'
import { algorithmOf, scheduleOf, simulate } from 'rankweave/schedule'
import { describe, expect, it } from 'vitest'
import {
  formulaMeter,
  machineSpread,
  requireOneLevel,
  simulatorMeter,
} from '../../../src/measure/computed-meters.js'
import { settingLine } from '../../../src/tuning/settings/setting.js'
import { raised } from './raised.js'

const machine = parseMachine('cluster:nodes=4,cores=4,profile=simgrid-fast')
const ring = { collective: 'allgather', algorithm: 'allgather-ring', parameters: {} } as const

describe('the meter of the simulator', () => {
  it('places processes on the first cores of the first nodes', async () => {
    const meter = simulatorMeter(machine, [0])
    expect(machineSpread(machine)).toMatchObject({ nodes: 4, processesPerNode: 4 })
    await meter.begin({ collective: 'allgather', nodes: 2, processesPerNode: 2, bytes: 512 }, [ring])
    const { callUs } = await meter.time(ring, 1)
    const smaller = parseMachine('cluster:nodes=2,cores=2,profile=simgrid-fast')
    const schedule = scheduleOf(algorithmOf('allgather-ring'), { ranks: 4 })
    expect(callUs).toEqual([simulate(schedule, smaller, { bytes: 512 }).timeUs])
    expect(meter.source).toEqual({
      kind: 'simulator',
      name: 'simulator, profile simgrid-fast',
      machine: 'cluster:nodes=4,cores=4,profile=simgrid-fast',
    })
  })
})

describe('the meter of formulas', () => {
  const profile = builtInProfiles.find(({ name }) => name === 'simgrid-fast')!
  const parametersOf = logGPOfLevel(profile, 'network')

  it('predicts settings that have a formula', async () => {
    const meter = formulaMeter({ profile: profile.name, level: 'network', parametersOf, segments: [0, 8192] })
    const call = { collective: 'bcast', nodes: 8, processesPerNode: 1, bytes: 65_536 } as const
    const lines = meter.settings(call).map(settingLine)
    expect(lines).toContain('bcast-chain:segment=8192')
    expect(lines.some((line) => line.includes('fanout'))).toBe(false)
    const chain = { collective: 'bcast', algorithm: 'bcast-chain', parameters: { segment: 8192 } } as const
    await meter.begin(call, [chain])
    const { callUs } = await meter.time(chain, 1)
    const expected = predictUs('bcast-chain', parametersOf, { ranks: 8, bytes: 65_536, segmentBytes: 8192 })
    expect(callUs).toEqual([expected])
  })

  it('refuses spreads with two distances between processes', () => {
    requireOneLevel([{ nodes: 8, processesPerNode: 1 }], 'network')
    requireOneLevel([{ nodes: 1, processesPerNode: 8 }], 'node')
    const error = raised(() => requireOneLevel([{ nodes: 4, processesPerNode: 2 }], 'network'))
    expect(error.code).toBe('ERR_MEASUREMENT')
    expect(error.message).toContain('NODESx1')
  })
})
