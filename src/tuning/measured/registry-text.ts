import { formatAlgorithm, parseAlgorithm } from '../../collective/algorithm-text.js'
import { type TunedCollective, type TunedSetting, textOfTuned } from '../../collective/open-mpi-settings.js'
import { isRankweaveError } from '../../errors.js'
import { settingLine, type TuningSetting } from '../settings/setting.js'
import type { MeasurementSource } from './measurement.js'

/**
 * Returns the line of text of the registry's algorithm that does what a measured setting does. The library's own
 * settings have their own; Open MPI's have the one of the same method. Settings at the defaults have no parameters in
 * it.
 *
 * @returns null if the registry has none, as for algorithms of other MPI libraries
 */
export function registryText(setting: TuningSetting, source: MeasurementSource): string | null {
  try {
    const text = source.kind === 'mpi' ? textOfLibrary(setting) : settingLine(withoutEmptySegment(setting))
    return text === null ? null : formatAlgorithm(parseAlgorithm(text, setting.collective))
  } catch (error) {
    if (isRankweaveError(error, 'ERR_ARGUMENT')) return null
    throw error
  }
}

/** The lines for names of Open MPI that `textOfTuned` does not know. */
const others: Readonly<Record<string, string>> = {
  'barrier linear': 'barrier-linear',
  'barrier double_ring': 'barrier-double-ring',
  'barrier recursive_doubling': 'barrier-recursive-doubling',
  'barrier bruck': 'barrier-dissemination',
  'barrier tree': 'barrier-tree',
  'reduce linear': 'reduce-linear',
  'reduce pipeline': 'reduce-chain',
  'reduce binary': 'reduce-binary',
  'reduce binomial': 'reduce-tree',
  'reduce rabenseifner': 'reduce-rabenseifner',
  'gather basic_linear': 'gather-linear',
  'gather binomial': 'gather-binomial',
  'scatter basic_linear': 'scatter-linear',
  'scatter binomial': 'scatter-binomial',
  'reduce-scatter recursive_halving': 'reduce-scatter-recursive-halving',
  'reduce-scatter ring': 'reduce-scatter-ring',
}

function textOfLibrary({ collective, algorithm, parameters }: TuningSetting): string | null {
  const { segment = 0, ...rest } = parameters
  const other = others[`${collective} ${algorithm}`]
  if (other !== undefined) {
    const isPlain = Object.keys(rest).length === 0
    return isPlain ? `${other}${segment > 0 ? `:segment=${segment}` : ''}` : null
  }
  const tuned = { collective: collective as TunedCollective, algorithm, segmentBytes: segment, ...rest }
  return textOfTuned(tuned as TunedSetting)
}

function withoutEmptySegment(setting: TuningSetting): TuningSetting {
  const { segment, ...rest } = setting.parameters
  return segment === 0 ? { ...setting, parameters: rest } : setting
}
