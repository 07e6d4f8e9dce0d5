import { describe, expect, it } from 'vitest'
import { algorithms } from '../../../src/collective/algorithms.js'
import { parseMachine } from '../../../src/machine/machine-text.js'
import { simulatorMeter } from '../../../src/measure/computed-meters.js'
import { requireNamed, restrictedTo } from '../../../src/measure/meter.js'
import { settingLine } from '../../../src/tuning/settings/setting.js'
import { raised } from './raised.js'

const meter = simulatorMeter(parseMachine('cluster:nodes=4,cores=4,profile=simgrid-fast'), [0, 8192])
const call = (collective: 'bcast' | 'allgather', processesPerNode = 4) => ({
  ...{ collective, nodes: 2, processesPerNode, bytes: 65_536 },
})
const both = [call('bcast'), call('allgather')]

describe('the settings that a command names', () => {
  it('may be of one of several collectives', () => {
    expect(requireNamed(meter, ['bcast-chain', 'allgather-ring'], both)).toEqual([])
    expect(requireNamed(meter, null, both)).toEqual([])
  })

  it('are compared by their meaning: parameters in any order, segments as lengths', () => {
    const named = ['bcast-chain:segment=8KiB,fanout=4']
    expect(requireNamed(meter, named, both)).toEqual([])
    expect(restrictedTo(meter, named).settings(both[0]).map(settingLine)).toEqual([
      'bcast-chain:fanout=4,segment=8192',
    ])
  })

  it.each([
    ['another name', 'nonsense'],
    ['an algorithm of another collective', 'scan-linear'],
    ['no name', ''],
    ['parameters without a name', ':fanout=4'],
  ])('that have %s are refused with the names of each collective', (_, text) => {
    const { code, message } = raised(() => requireNamed(meter, ['bcast-chain', text], both))
    expect(code).toBe('ERR_MEASUREMENT')
    expect(message).toContain(`got '${text}'`)
    for (const collective of ['bcast', 'allgather']) {
      const ids = algorithms.filter((one) => one.collective === collective).map(({ id }) => id)
      expect(message).toContain(`of ${collective}: ${ids.join(', ')}`)
    }
  })

  it.each(['bcast-chain:fanot=4', 'bcast-chain:fanout=3', 'bcast-chain:', 'bcast-chain:fanout'])(
    'that are not measured are refused with those that are: %s',
    (text) => {
      const { code, message } = raised(() => requireNamed(meter, [text], both))
      expect(code).toBe('ERR_MEASUREMENT')
      expect(message).toContain('bcast-chain, bcast-chain:segment=8192, bcast-chain:fanout=2')
      expect(message).toContain(`got '${text}'`)
    },
  )

  it('of algorithms that serve no call are returned, unless there are no others', () => {
    const odd = [call('allgather', 3)].map((one) => ({ ...one, nodes: 1 }))
    const doubling = 'allgather-recursive-doubling'
    expect(requireNamed(meter, [doubling, 'allgather-ring'], odd)).toEqual([doubling])
    const { code, message } = raised(() => requireNamed(meter, [doubling], odd))
    expect(code).toBe('ERR_MEASUREMENT')
    expect(message).toContain(`got '${doubling}'`)
  })
})
