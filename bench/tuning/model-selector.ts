import { modelledAlgorithmOf, modelledAlgorithms } from '../../src/cost/models/modelled-algorithms.js'
import type { CostModel } from '../../src/cost/models/parameters.js'
import { predictUs } from '../../src/cost/models/predict.js'
import type { SettingSelector } from '../../src/tuning/measured/selector.js'
import type { TuningSetting } from '../../src/tuning/settings/setting.js'
import { callProcesses, type TuningCall } from '../../src/tuning/settings/tuning-call.js'

/**
 * The setting that is fastest by the formulas of a model, of equal times the lowest; -1 where none has a formula.
 * Formulas know processes and bytes only, and no parameter but `segment`.
 *
 * @throws ERR_MODEL when it is called, for a model that is not complete
 * @see Pjesivac-Grbovic 2007 §5.2.3
 */
export function modelSelector(settings: readonly TuningSetting[], model: CostModel): SettingSelector {
  const known = [...settings.keys()].filter((index) => hasFormula(settings[index]))
  return (call) => {
    let [fastest, best] = [-1, Number.POSITIVE_INFINITY]
    for (const index of known) {
      const timeUs = predictedUs(settings[index], model, call)
      if (timeUs >= best) continue
      best = timeUs
      fastest = index
    }
    return fastest
  }
}

const formulas = new Set(modelledAlgorithms.map(({ id }) => id))

function hasFormula({ algorithm, parameters }: TuningSetting): boolean {
  return formulas.has(algorithm) && Object.keys(parameters).every((name) => name === 'segment')
}

/** Infinity where the setting cannot serve the call. */
function predictedUs(
  { collective, algorithm, parameters }: TuningSetting,
  model: CostModel,
  call: TuningCall,
) {
  const ranks = callProcesses(call)
  const reason = ranks === 1 ? null : (modelledAlgorithmOf(algorithm).refuses?.(ranks) ?? null)
  if (collective !== call.collective || reason !== null) return Number.POSITIVE_INFINITY
  const { segment } = parameters
  const segments = segment === undefined || segment === 0 ? {} : { segmentBytes: segment }
  return predictUs(algorithm, model, { ranks, bytes: call.bytes, ...segments })
}
