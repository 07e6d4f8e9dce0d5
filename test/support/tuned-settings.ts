import type { TunedSetting } from '../../src/collective/open-mpi-settings.js'
import type { TuningSetting } from '../../src/tuning/settings/setting.js'

/** A setting of Open MPI's component `tuned` by the names of measurements: a segment of 0 bytes is no segment. */
export function settingOfTuned(tuned: TunedSetting): TuningSetting {
  const { collective, algorithm, segmentBytes, fanout, radix, requests } = tuned
  const named = { fanout, radix, requests, segment: segmentBytes === 0 ? undefined : segmentBytes }
  const stated = Object.entries(named).filter((entry): entry is [string, number] => entry[1] !== undefined)
  return { collective, algorithm, parameters: Object.fromEntries(stated) }
}

/** The inverse of {@link settingOfTuned}. */
export function tunedOfSetting({ collective, algorithm, parameters }: TuningSetting): TunedSetting {
  const { segment, ...others } = parameters
  const cut = segment === undefined ? {} : { segmentBytes: segment }
  return { collective: collective as TunedSetting['collective'], algorithm, ...cut, ...others }
}
