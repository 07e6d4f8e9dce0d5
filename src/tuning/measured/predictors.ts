import {
  type AlgorithmSetting,
  formatAlgorithm,
  parseAlgorithm,
  segmentsOf,
} from '../../collective/algorithm-text.js'
import { type TunedCollective, type TunedSetting, textOfTuned } from '../../collective/open-mpi-settings.js'
import type { Shape } from '../../collective/patterns/algorithm.js'
import { checkShape } from '../../collective/patterns/check-shape.js'
import { leastSize, scheduleOf } from '../../collective/patterns/schedule-of.js'
import { gridOfMachine } from '../../collective/ways/machine-grid.js'
import { hockneyOf, logGPOfLevel, pLogPOfLevel } from '../../cost/models/conversions.js'
import { uncutBytes } from '../../cost/models/formulas.js'
import { modeledAlgorithmOf, modeledAlgorithms } from '../../cost/models/modeled-algorithms.js'
import { predictUs } from '../../cost/models/predict.js'
import type { CostModel } from '../../cost/models/terms.js'
import { simulate } from '../../cost/simulate/simulate.js'
import { isRankweaveError } from '../../errors.js'
import type { Machine } from '../../machine/machine.js'
import { nodesOf } from '../../machine/nodes.js'
import type { Level, Profile } from '../../machine/profile.js'
import { settingLine, type TuningSetting } from '../settings/setting.js'
import { callProcesses, type TuningCall } from '../settings/tuning-call.js'
import type { MeasurementSource } from './measurement.js'

/** A predictor of the time of an algorithm, by its line of text, at a call. */
export interface Predictor {
  readonly name: PredictorName
  /** Returns microseconds, or null if it cannot predict them. */
  timeUs(text: string, call: TuningCall): number | null
}

export const predictorNames = ['hockney', 'loggp', 'plogp', 'simulator'] as const
export type PredictorName = (typeof predictorNames)[number]
export type FormulaName = Exclude<PredictorName, 'simulator'>

/** Returns the level at which formulas take messages of a call: they know one rank per node, or one node. */
function levelOfCall({ nodes }: TuningCall): Level {
  return nodes > 1 ? 'network' : 'node'
}

/** Returns a model of one level of a profile. @throws ERR_MACHINE, ERR_MODEL */
export function modelOfLevel(profile: Profile, level: Level, model: FormulaName): CostModel {
  if (model === 'plogp') return pLogPOfLevel(profile, level)
  const parameters = logGPOfLevel(profile, level)
  return model === 'loggp' ? parameters : hockneyOf(parameters)
}

/**
 * Returns a predictor by the formulas of a model, with the parameters of level `network` for calls on several nodes,
 * else of level `node`. It returns null for algorithms without a formula, with parameters other than segments, and for
 * ranks that an algorithm does not serve.
 */
export function formulaPredictor(profile: Profile, name: FormulaName): Predictor {
  const models = new Map(
    (['node', 'network'] as const).map((level) => [level as Level, modelOfLevel(profile, level, name)]),
  )
  return {
    name,
    timeUs: (text, call) => formulaUs(text, call, models.get(levelOfCall(call))!),
  }
}

const formulas = new Set(modeledAlgorithms.map(({ id }) => id))

function formulaUs(text: string, call: TuningCall, model: CostModel): number | null {
  const setting = parseAlgorithm(text, call.collective)
  const { id } = setting.algorithm
  const ranks = callProcesses(call)
  if (!formulas.has(id) || (ranks > 1 && (modeledAlgorithmOf(id).refuses?.(ranks) ?? null) !== null))
    return null
  const { bytes } = call
  const segmentBytes =
    setting.segmentBytes ??
    Math.ceil(uncutBytes(modeledAlgorithmOf(id), ranks, bytes) / (setting.segments ?? 1))
  return predictUs(id, model, { ranks, bytes, segmentBytes: Math.max(1, segmentBytes) })
}

/** The most operations of a schedule that is simulated: about a second. */
const mostOperations = 2 ** 20

/**
 * Returns a predictor by simulation, on nodes of a machine with as many cores as the call has processes per node: one
 * schedule at a time. It returns null for a machine with fewer nodes, a shape that the algorithm does not serve, and
 * schedules of more than 2^20 operations.
 *
 * @param machine its network and its profile count, not its cores
 */
export function simulatorPredictor(machine: Machine): Predictor {
  const machines = new Map<string, Machine>()
  const machineFor = ({ nodes, processesPerNode }: TuningCall): Machine | null => {
    const most = machine.kind === 'cluster' ? nodes : machine.cores.length
    if (nodes > most) return null
    const key = `${most} ${processesPerNode}`
    const known = machines.get(key) ?? {
      ...machine,
      ...nodesOf([{ nodes: most, packages: [processesPerNode] }]),
    }
    machines.set(key, known)
    return known
  }
  return {
    name: 'simulator',
    timeUs: (text, call) => {
      const on = machineFor(call)
      return on === null ? null : simulatedUs(text, call, on)
    },
  }
}

function simulatedUs(text: string, call: TuningCall, machine: Machine): number | null {
  const setting = parseAlgorithm(text, call.collective)
  const shape = shapeOf(setting, call, machine)
  try {
    checkShape(setting.algorithm, shape)
    if (leastSize(setting.algorithm, shape, undefined).operations > mostOperations) return null
    return simulatedCallUs(setting, call, machine)
  } catch (error) {
    if (isRankweaveError(error, 'ERR_ARGUMENT') || isRankweaveError(error, 'ERR_SCHEDULE')) return null
    throw error
  }
}

/**
 * Returns the simulated microseconds of a call on a machine.
 *
 * @param placement cores by rank. Default: one after the other.
 */
export function simulatedCallUs(
  setting: AlgorithmSetting,
  call: TuningCall,
  machine: Machine,
  placement?: Int32Array,
): number {
  const schedule = scheduleOf(setting.algorithm, shapeOf(setting, call, machine, placement))
  const placed = placement === undefined ? {} : { placement }
  return simulate(schedule, machine, { bytes: call.bytes, ...placed }).timeUs
}

function shapeOf(
  setting: AlgorithmSetting,
  call: TuningCall,
  machine: Machine,
  placement: Int32Array | null = null,
): Shape {
  const ranks = callProcesses(call)
  const { algorithm } = setting
  const segments = segmentsOf(setting, call.bytes, ranks) ?? algorithm.sections ?? 1
  const grid = algorithm.followsGrid === true ? gridOfMachine(machine, placement, ranks) : undefined
  return { ranks, segments, ...(grid === undefined ? {} : { grid }) }
}

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
