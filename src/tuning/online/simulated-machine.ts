import { modelledAlgorithmOf, modelledAlgorithms } from '../../cost/models/modelled-algorithms.js'
import type { CostModel } from '../../cost/models/parameters.js'
import { predictUs } from '../../cost/models/predict.js'
import type { Collective } from '../../schedule/specification.js'
import { defaultAlgorithm, type TuningSetting } from '../settings/setting.js'
import type { TuningCall } from '../settings/tuning-call.js'

/** A machine with known times for the calls of a simulated application. */
export interface SimulatedMachine {
  readonly name: string
  /** The settings by collective and number. */
  readonly settings: readonly TuningSetting[]
  /** Returns the true time of a call, microseconds above 0; infinite if the setting cannot serve it. */
  readonly timeUs: (setting: TuningSetting, call: TuningCall) => number
}

/** The models of two levels: nodes exchange over a network by one, the processes of a node by another. */
export interface TwoLevels {
  readonly network: CostModel
  readonly memory: CostModel
}

const segments = [2 ** 10, 2 ** 20, 2 ** 23] as const

/**
 * Returns a machine by the formulas of two models: first among nodes, then within each. Every algorithm that has a
 * formula is a setting, whole and in segments of 1 KiB, 1 MiB and 8 MiB if it cuts data. So is the default, which takes
 * the time of the rule's algorithm.
 *
 * @param ruleOf the algorithm that a call takes by default
 */
export function formulaMachine(
  name: string,
  { network, memory }: TwoLevels,
  collectives: readonly Collective[],
  ruleOf: (call: TuningCall) => Pick<TuningSetting, 'algorithm' | 'parameters'> | null,
): SimulatedMachine {
  const levelUs = (
    setting: Pick<TuningSetting, 'algorithm' | 'parameters'>,
    model: CostModel,
    ranks: number,
    bytes: number,
  ) => {
    if (ranks === 1) return 0
    if ((modelledAlgorithmOf(setting.algorithm).refuses?.(ranks) ?? null) !== null)
      return Number.POSITIVE_INFINITY
    const { segment } = setting.parameters
    return predictUs(setting.algorithm, model, {
      ranks,
      bytes,
      ...(segment === undefined ? {} : { segmentBytes: segment }),
    })
  }
  const ofAlgorithm = (
    setting: Pick<TuningSetting, 'algorithm' | 'parameters'>,
    call: TuningCall,
  ): number => {
    const { nodes, processesPerNode, bytes } = call
    const apart = levelUs(setting, network, nodes, bytes)
    return leastUs + apart + levelUs(setting, memory, processesPerNode, bytes)
  }
  return {
    name,
    settings: collectives.flatMap((collective) => [
      { collective, algorithm: defaultAlgorithm, parameters: {} },
      ...modelledAlgorithms
        .filter((algorithm) => algorithm.collective === collective)
        .flatMap(({ id, segmented }) =>
          (segmented ? [undefined, ...segments] : [undefined]).map((segment) => ({
            collective,
            algorithm: id,
            parameters: segment === undefined ? {} : { segment },
          })),
        ),
    ]),
    timeUs: (setting, call) => {
      if (setting.algorithm !== defaultAlgorithm) return ofAlgorithm(setting, call)
      const rule = ruleOf(call)
      return rule === null ? Number.POSITIVE_INFINITY : ofAlgorithm(rule, call)
    },
  }
}

/** The time of a call apart from its messages. */
const leastUs = 0.5
