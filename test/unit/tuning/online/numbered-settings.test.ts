import { describe, expect, it } from 'vitest'
import { NumberedSettings } from '../../../../src/tuning/settings/setting.js'
import { tunedSettings } from '../../../support/steiner-settings.js'
import { tunedNames } from '../../../support/tuned-names.js'
import { settingOfTuned, tunedOfSetting } from '../../../support/tuned-settings.js'

const printed = tunedSettings.map(settingOfTuned)
const table = new NumberedSettings(printed)

describe('numbered settings', () => {
  it('are 8, 22, 5 and 7 as printed (Steiner 2023, tables A.1 to A.4)', () => {
    expect(table.collectives.map((collective) => [collective, table.of(collective).length])).toEqual([
      ['allreduce', 8],
      ['bcast', 22],
      ['allgather', 5],
      ['alltoall', 7],
    ])
  })

  it('go from number to setting and back', () => {
    for (const [i, setting] of printed.entries()) {
      const number = table.numberOf(setting)
      expect(table.settingOf(setting.collective, number)).toEqual(setting)
      expect(settingOfTuned(tunedOfSetting(setting))).toEqual(setting)
      expect(tunedOfSetting(setting)).toEqual(
        Object.fromEntries(Object.entries(tunedSettings[i]).filter(([, value]) => value !== undefined)),
      )
    }
    expect(table.settingOf('allreduce', 6)).toEqual({
      ...{ collective: 'allreduce', algorithm: 'segmented_ring', parameters: { segment: 1_048_576 } },
    })
  })

  it('have the names of the library, since numbers of broadcasts are printed one too small', () => {
    const names = tunedNames.bcast
    expect(
      ['binomial', 'knomial', 'scatter_allgather', 'scatter_allgather_ring'].map(
        (name) => names.indexOf(name) + 1,
      ),
    ).toEqual([6, 7, 8, 9])
    for (const { collective, algorithm } of tunedSettings) expect(tunedNames[collective]).toContain(algorithm)
  })

  it('grow by a further length of segments without a change of others', () => {
    const more = {
      collective: 'allreduce',
      algorithm: 'segmented_ring',
      parameters: { segment: 65_536 },
    } as const
    const larger = new NumberedSettings([...printed, more])
    expect(larger.numberOf(more)).toBe(9)
    for (const setting of printed) expect(larger.numberOf(setting)).toBe(table.numberOf(setting))
  })

  it('are refused twice, and outside of the table', () => {
    expect(() => new NumberedSettings([printed[0], printed[0]])).toThrow('expected each once')
    expect(() => table.settingOf('bcast', 23)).toThrow('from 1 to 22')
    expect(() => table.settingOf('bcast', 0)).toThrow('from 1 to 22')
    expect(table.numberOf({ collective: 'scan', algorithm: 'x', parameters: {} })).toBe(0)
  })
})
