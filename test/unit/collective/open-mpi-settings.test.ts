import { readFileSync } from 'node:fs'
import { scheduleOf, verify } from 'rankweave/schedule'
import { describe, expect, it } from 'vitest'
import { parseAlgorithm } from '../../../src/collective/algorithm-text.js'
import {
  type TunedCollective,
  type TunedSetting,
  textOfTuned,
  tunedOfText,
  tunedParameters,
} from '../../../src/collective/open-mpi-settings.js'
import { tunedSettings } from '../../support/steiner-settings.js'
import { tunedNames } from '../../support/tuned-names.js'

const collectives = Object.keys(tunedNames) as TunedCollective[]

const written = tunedSettings.map((setting) => ({ setting, text: textOfTuned(setting) }))

describe('settings of Open MPI', () => {
  it('are 42, of 4 collectives, by the names of its algorithms', () => {
    const counts = collectives.map(
      (name) => tunedSettings.filter(({ collective }) => collective === name).length,
    )
    expect(Object.fromEntries(collectives.map((name, i) => [name, counts[i]]))).toEqual({
      allreduce: 8,
      bcast: 22,
      allgather: 5,
      alltoall: 7,
    })
    for (const { collective, algorithm } of tunedSettings) expect(tunedNames[collective]).toContain(algorithm)
    expect(new Set(tunedSettings.map((setting) => JSON.stringify(setting))).size).toBe(42)
  })

  it.each(written)('$text is the text of $setting, and back', ({ setting, text }) => {
    const back = tunedOfText(text)!
    expect(textOfTuned(back)).toBe(text)
    expect(back.collective).toBe(setting.collective)
    const { algorithm, segmentBytes } = parseAlgorithm(text, setting.collective)
    expect(tunedParameters(back)).toMatchObject({ coll_tuned_use_dynamic_rules: '1' })
    if (segmentBytes !== undefined) expect(segmentBytes).toBe(setting.segmentBytes)
    const ranks = [2, 4, 6].filter((count) => (algorithm.refuses?.({ ranks: count }) ?? null) === null)
    expect(ranks.length).toBeGreaterThan(0)
    for (const count of ranks)
      expect(verify(scheduleOf(algorithm, { ranks: count, segments: 3 })).ok).toBe(true)
  })

  it('come back as they are, unless another one does the same', () => {
    const aliases = written.flatMap(({ setting, text }) => {
      const back = tunedOfText(text)!
      return JSON.stringify(sorted(back)) === JSON.stringify(sorted(setting))
        ? []
        : [`${nameOf(setting)} is ${nameOf(back)}`]
    })
    const expected = [
      'basic_linear segmentBytes=1024 is basic_linear',
      'chain segmentBytes=1024 fanout=1 is pipeline segmentBytes=1024',
      'chain segmentBytes=1048576 fanout=1 is pipeline segmentBytes=1048576',
      'chain segmentBytes=8388608 fanout=1 is pipeline segmentBytes=8388608',
      'knomial segmentBytes=8388608 is knomial segmentBytes=8388608 radix=4',
      'scatter_allgather segmentBytes=1024 is scatter_allgather',
      'scatter_allgather segmentBytes=1048576 is scatter_allgather',
      'scatter_allgather segmentBytes=8388608 is scatter_allgather',
      'scatter_allgather_ring segmentBytes=1024 is scatter_allgather_ring',
      'scatter_allgather_ring segmentBytes=1048576 is scatter_allgather_ring',
      'scatter_allgather_ring segmentBytes=8388608 is scatter_allgather_ring',
      'linear_sync requests=0 is linear',
    ]
    expect(aliases).toEqual(expected)
  })

  it.each<[TunedSetting, string]>([
    [{ collective: 'bcast', algorithm: 'chain' }, 'bcast-chain:fanout=4'],
    [{ collective: 'bcast', algorithm: 'chain', fanout: 1 }, 'bcast-chain'],
    [
      { collective: 'bcast', algorithm: 'chain', fanout: 2, segmentBytes: 1000 },
      'bcast-chain:fanout=2,segment=1000',
    ],
    [{ collective: 'bcast', algorithm: 'pipeline', segmentBytes: 0 }, 'bcast-chain'],
    [{ collective: 'bcast', algorithm: 'knomial', radix: 8 }, 'bcast-knomial:radix=8'],
    [{ collective: 'bcast', algorithm: 'basic_linear', segmentBytes: 1024 }, 'bcast-linear'],
    [{ collective: 'allreduce', algorithm: 'segmented_ring' }, 'allreduce-ring-segmented'],
  ])('%j is %s', (setting, text) => {
    expect(textOfTuned(setting)).toBe(text)
  })

  it.each([
    'bcast-chain:segments=2',
    'bcast-linear:segment=1KiB',
    'allreduce-segmented',
    'allgather-linear',
    'scan-chain',
    'barrier-linear',
  ])('there is none for %s', (text) => {
    expect(tunedOfText(text)).toBeNull()
  })

  it.each([
    { collective: 'bcast', algorithm: 'nonoverlapping' },
    { collective: 'bcast', algorithm: 'toString' },
    { collective: 'bcast', algorithm: 'chain', fanout: 0 },
    { collective: 'scan', algorithm: 'linear' },
    { collective: 'bcast', algorithm: '6' },
  ])('%j is refused', (setting) => {
    expect(() => textOfTuned(setting as TunedSetting)).toThrowError(
      expect.objectContaining({ code: 'ERR_ARGUMENT' }),
    )
  })

  it('fall in the parameters by which Open MPI is told', () => {
    const chain = { collective: 'bcast', algorithm: 'chain', segmentBytes: 1024, fanout: 16 } as const
    expect(tunedParameters(chain)).toEqual({
      coll_tuned_use_dynamic_rules: '1',
      coll_tuned_bcast_algorithm: 'chain',
      coll_tuned_bcast_algorithm_segmentsize: '1024',
      coll_tuned_bcast_algorithm_chain_fanout: '16',
    })
    expect(tunedParameters({ collective: 'alltoall', algorithm: 'linear_sync', requests: 64 })).toEqual({
      coll_tuned_use_dynamic_rules: '1',
      coll_tuned_alltoall_algorithm: 'linear_sync',
      coll_tuned_alltoall_algorithm_max_requests: '64',
    })
    expect(tunedParameters({ collective: 'allgather', algorithm: 'ring' })).toEqual({
      coll_tuned_use_dynamic_rules: '1',
      coll_tuned_allgather_algorithm: 'ring',
    })
  })
})

it('docs/schedules.md lists every name of Open MPI, with its text', () => {
  const page = readFileSync(new URL('../../../docs/schedules.md', import.meta.url), 'utf8')
  const rows = Array.from(
    page.matchAll(/^\| `(\w+)` \| `((\w+)-[^`]+)` \|$/gm),
    ([, name, text, collective]) => [...[collective, name, text]],
  )
  const names = collectives.flatMap((collective) => tunedNames[collective].map((name) => [collective, name]))
  expect(rows.map(([collective, name]) => [collective, name])).toEqual(names)
  const values = { fanout: 3, radix: 3, requests: 3, segmentBytes: 24 }
  for (const [collective, algorithm, text] of rows) {
    const setting = { collective, algorithm, ...values } as TunedSetting
    expect(textOfTuned(setting)).toBe(text!.replaceAll('NUMBER', '3').replaceAll('BYTES', '24'))
  }
})

function sorted(setting: TunedSetting) {
  return Object.entries(setting).sort(([a], [b]) => (a < b ? -1 : 1))
}

function nameOf({ collective: _, algorithm, ...values }: TunedSetting): string {
  return [algorithm, ...Object.entries(values).map(([name, value]) => `${name}=${value}`)].join(' ')
}
