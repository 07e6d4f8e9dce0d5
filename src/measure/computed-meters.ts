import { parseAlgorithm } from '../collective/algorithm-text.js'
import { modeledAlgorithms } from '../cost/models/modeled-algorithms.js'
import { predictUs } from '../cost/models/predict.js'
import type { CostModel } from '../cost/models/terms.js'
import { RankweaveError } from '../errors.js'
import type { Machine } from '../machine/machine.js'
import { formatMachine } from '../machine/machine-text.js'
import { profileOf } from '../machine/network.js'
import type { Level } from '../machine/profile.js'
import { measurementLimits } from '../tuning/measured/measurement.js'
import { simulatedCallUs } from '../tuning/measured/predictors.js'
import { ownAlgorithms, ownSettings } from '../tuning/settings/own-settings.js'
import { settingLine, type TuningSetting } from '../tuning/settings/setting.js'
import { callProcesses, type TuningCall } from '../tuning/settings/tuning-call.js'
import { type EvenSpread, largestSpread, membersOf, type PlacedSpread, spreadText } from './grid.js'
import type { Meter } from './meter.js'

interface FormulaOptions {
  /** The profile of the parameters. */
  readonly profile: string
  /** The level between any two processes: formulas know one distance. */
  readonly level: Level
  readonly parametersOf: CostModel
  /** The lengths of segments in bytes; 0 for whole data. */
  readonly segments: readonly number[]
}

/**
 * Returns a meter that predicts times by formula, of settings that have one. Formulas know one distance between
 * processes.
 *
 * @throws ERR_MODEL for parameters out of range
 */
export function formulaMeter({ profile, level, parametersOf: model, segments }: FormulaOptions): Meter {
  let call: TuningCall | undefined
  const withFormula = new Set(modeledAlgorithms.map(({ id }) => id))
  return {
    source: { kind: 'formula', name: model.model, machine: `${profile}, level ${level}` },
    isComputed: true,
    algorithms: (collective) => ownAlgorithms(collective).filter((id) => withFormula.has(id)),
    settings: (served) =>
      ownSettings(served, segments).filter(
        ({ algorithm, parameters }) =>
          withFormula.has(algorithm) && Object.keys(parameters).every((name) => name === 'segment'),
      ),
    begin: async (begun) => {
      call = begun
    },
    verify: async () => 'right',
    time: async (setting) => ({ callUs: [predictedUs(model, call!, setting)], barrierUs: [0] }),
    end: async () => {},
  }
}

function predictedUs(model: CostModel, call: TuningCall, setting: TuningSetting): number {
  const { segment } = setting.parameters
  const us = predictUs(setting.algorithm, model, {
    ranks: callProcesses(call),
    bytes: call.bytes,
    ...(segment === undefined ? {} : { segmentBytes: segment }),
  })
  if (us > 0) return us
  const message = `expected times above 0, got ${us} us by ${settingLine(setting)} on ${spreadText(call)}`
  throw new RankweaveError('ERR_MEASUREMENT', message)
}

/**
 * Requires spreads with one distance between processes.
 *
 * @throws ERR_MEASUREMENT for spreads with several nodes and several processes on each
 */
export function requireOneLevel(spreads: readonly EvenSpread[], level: Level): void {
  const [nodes, processes] = level === 'network' ? ['NODES', '1'] : ['1', 'PROCESSES']
  for (const spread of spreads) {
    const isOne = level === 'network' ? spread.processesPerNode === 1 : spread.nodes === 1
    if (isOne) continue
    const message = `expected spreads ${nodes}x${processes} for formulas of level ${level}, got ${spreadText(spread)}`
    throw new RankweaveError('ERR_MEASUREMENT', message)
  }
}

/** Returns the spread of a machine with one process on every core. */
export function machineSpread(machine: Machine): PlacedSpread {
  return largestSpread([...machine.cores].flatMap((cores, node) => new Array<number>(cores).fill(node)))
}

/**
 * Returns a meter that predicts times of Rankweave's own algorithms by the simulator.
 *
 * @throws ERR_MACHINE for a machine without a profile
 */
export function simulatorMeter(machine: Machine, segments: readonly number[]): Meter {
  const { name } = profileOf(machine)
  const spread = machineSpread(machine)
  let call: TuningCall | undefined
  return {
    source: {
      kind: 'simulator',
      name: `simulator, profile ${name}`.slice(0, measurementLimits.sourceCharacters),
      machine: formatMachine(machine).slice(0, measurementLimits.sourceCharacters),
    },
    isComputed: true,
    algorithms: ownAlgorithms,
    settings: (served) => ownSettings(served, segments),
    begin: async (begun) => {
      call = begun
    },
    verify: async () => 'right',
    time: async (setting) => ({ callUs: [simulatedUs(machine, spread, call!, setting)], barrierUs: [0] }),
    end: async () => {},
  }
}

function simulatedUs(
  machine: Machine,
  spread: PlacedSpread,
  call: TuningCall,
  setting: TuningSetting,
): number {
  const parsed = parseAlgorithm(settingLine(setting), call.collective)
  return simulatedCallUs(parsed, call, machine, Int32Array.from(membersOf(spread, call)))
}
