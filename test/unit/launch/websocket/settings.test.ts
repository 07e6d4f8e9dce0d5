import { cluster, type Machine, torus } from 'rankweave/machine'
import { describe, expect, it } from 'vitest'
import { isRankweaveError } from '../../../../src/errors.js'
import { inheritedFlags } from '../../../../src/launch/websocket/launcher.js'
import { parseSettings, settingsOf, silenceLimits } from '../../../../src/launch/websocket/settings.js'
import { simgridFast } from '../../../../src/machine/built-in-profiles.js'
import { machineOfCores } from '../../../../src/machine/machine.js'
import { clusterOf } from '../../../support/cluster-of.js'
import { refusal } from '../../../support/refusal.js'
import { thrown } from '../../topology/thrown.js'

describe('parseSettings', () => {
  it('returns what was written', () => {
    const settings = { ranks: 4, ranksPerProcess: [1, 3], creditBytes: 0 }
    expect(parseSettings(JSON.stringify(settings))).toEqual(settings)
  })

  it.each([
    '',
    'null',
    '7',
    '{}',
    '{"ranks":0}',
    '{"ranks":1e9}',
    '{"ranks":1,"ranksPerProcess":[-1]}',
    '{"ranks":1,"ranksPerProcess":1}',
    '{"ranks":1,"ranksPerProcess":null}',
    '{',
  ])('refuses %j', (text) => {
    expect(() => parseSettings(text)).toThrow(
      expect.toSatisfy((error: unknown) => isRankweaveError(error, 'ERR_PROTOCOL')),
    )
  })
})

it('several heartbeats fit into the time of silence, however short', () => {
  for (const silenceMs of [100, 30_000]) {
    const { heartbeatMs } = silenceLimits(silenceMs)
    expect(heartbeatMs * 4).toBeLessThanOrEqual(silenceMs)
    expect(heartbeatMs).toBeGreaterThanOrEqual(10)
  }
})

it('processes inherit the flags of Node but those of a program given as text and of a debugger', () => {
  const flags = [
    '--import',
    'tsx',
    '--input-type=module',
    '--eval',
    'code',
    '--inspect=0',
    '--stack-size=2000',
  ]
  expect(inheritedFlags(flags)).toEqual(['--import', 'tsx', '--stack-size=2000'])
  expect(inheritedFlags(['-e', 'code', '--eval=code', '--expose-gc'])).toEqual(['--expose-gc'])
})

describe('a machine in the settings of a world', () => {
  const machines: readonly Machine[] = [
    cluster({ nodes: 2, cores: 4, packages: 2 }),
    {
      ...clusterOf([1, 3, 2]),
      profile: { ...simgridFast, name: 'mine', eagerLimitBytes: Number.POSITIVE_INFINITY },
    },
    torus({ dims: [2, 2], profile: simgridFast }),
  ]

  it.each(machines)('is the same in all processes: $kind', (machine) => {
    const { settings } = settingsOf('test', { ranks: 4, machine })
    expect(parseSettings(settings)).toEqual({ ranks: 4, machine })
  })

  it.each<[string, Machine, string]>([
    ['with fewer cores than ranks', cluster({ nodes: 1, cores: 3 }), 'at least 4 cores for 4 ranks, got 3'],
    [
      'that takes more than the settings have',
      clusterOf(Array.from({ length: 8000 }, (_, node) => (node % 2) + 1)),
      'at most 12288 characters',
    ],
    [
      'with nodes without cores',
      machineOfCores(cluster({ nodes: 3, cores: 4 }), Int32Array.of(0, 1, 2, 3, 8)),
      'node 1: expected 1 to 1024 packages, got 0',
    ],
  ])('%s is refused', (_, machine, message) => {
    expect(() => settingsOf('test', { ranks: 4, machine })).toThrow(refusal('ERR_MACHINE', message))
  })

  it.each([
    'null',
    '{}',
    '{"kind":"ring","runs":[[1,3]],"profile":null}',
    '{"kind":"cluster","runs":[[1,2]],"profile":null}',
    '{"kind":"cluster","runs":[[1e9,3]],"profile":null}',
    '{"kind":"cluster","runs":[3],"profile":null}',
    '{"kind":"cluster","runs":[[1,3]],"profile":{}}',
    '{"kind":"torus","dims":[2],"runs":[[2,3]],"profile":null}',
  ])('that is %s is not the settings of a world of three', (machine) => {
    const error = thrown(() => parseSettings(`{"ranks":3,"machine":${machine}}`))
    expect(error.code).toBe('ERR_PROTOCOL')
  })
})
