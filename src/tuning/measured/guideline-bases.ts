import type { Collective } from '../../schedule/specification.js'
import { defaultAlgorithm } from '../settings/setting.js'
import { entryOf, type MeasuredData } from './measured-data.js'
import { exactSelector, type SettingSelector } from './selector.js'

/** The setting whose calls are checked against guidelines, for a collective. */
export interface GuidelineBase {
  readonly collective: Collective
  /** The setting. `default`: the library's own choice. `best`: the fastest measured setting of each call. */
  readonly of: 'default' | 'best'
  readonly calls: number
  /** The number of calls at which that was measured; the others are left out. */
  readonly checked: number
}

/**
 * Returns the checked setting of each collective of a data set in the order of its calls.
 *
 * @param of for all collectives. Default: the default if a collective has one at any call, else the best.
 */
export function guidelineBases(
  data: MeasuredData,
  of?: GuidelineBase['of'],
): { readonly bases: readonly GuidelineBase[]; readonly select: SettingSelector } {
  const defaults = new Map(
    data.settings.flatMap(({ collective, algorithm }, i) =>
      algorithm === defaultAlgorithm ? [[collective, i] as const] : [],
    ),
  )
  const ofCollective = (collective: Collective) => of ?? (defaults.has(collective) ? 'default' : 'best')
  const best = exactSelector(data)
  const select: SettingSelector = (call) =>
    ofCollective(call.collective) === 'best' ? best(call) : (defaults.get(call.collective) ?? -1)
  const collectives = [...new Set(data.calls.map(({ collective }) => collective))]
  const bases = collectives.map((collective): GuidelineBase => {
    const rows = [...data.calls.keys()].filter((row) => data.calls[row].collective === collective)
    const checked = rows.filter((row) => entryOf(data, row, select(data.calls[row])) >= 0).length
    return { collective, of: ofCollective(collective), calls: rows.length, checked }
  })
  return { bases, select }
}

/** Returns a text such as `bcast: the default at 2 of 3 calls`. */
export function guidelineBaseText({ collective, of, calls, checked }: GuidelineBase): string {
  const what = of === 'default' ? 'the default' : 'the best setting'
  return `${collective}: ${what} at ${checked} of ${calls} ${calls === 1 ? 'call' : 'calls'}`
}
