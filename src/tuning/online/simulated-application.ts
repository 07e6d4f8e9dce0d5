import { below, mulberry32 } from '../../base/random.js'
import { modeledAlgorithmOf, modeledAlgorithms } from '../../cost/models/modeled-algorithms.js'
import { predictUs } from '../../cost/models/predict.js'
import type { CostModel } from '../../cost/models/terms.js'
import { type Collective, collectives } from '../../schedule/specification.js'
import { defaultAlgorithm, type NumberedSettings, type TuningSetting } from '../settings/setting.js'
import type { TuningCall } from '../settings/tuning-call.js'
import { type CallFileHeader, formatCallFile } from './call-file.js'
import { CallTimes } from './call-records.js'
import { callDraw, GridSelection, type SelectionLogic } from './grid-selection.js'
import type { LearnedGrid } from './learn-grid.js'

/** The calls of an application, drawn one by one. */
export interface SimulatedApplication {
  readonly name: string
  readonly calls: readonly SimulatedCall[]
  /** The places where it runs, of which one is drawn for each run. */
  readonly places: readonly SimulatedPlace[]
}

interface SimulatedCall {
  readonly collective: Collective
  readonly bytes: number
  /** The frequency with which it is drawn, in proportion. */
  readonly weight: number
}

export interface SimulatedPlace {
  readonly nodes: number
  readonly processesPerNode: number
}

/**
 * The pattern in which the processes of a call enter it:
 *
 * - `together`: at once;
 * - `late`: all but one, that one later;
 * - `ramp`: one after the other, in equal steps;
 * - `random`: evenly spread.
 *
 * All leave together, so a process that comes early measures its wait, too.
 *
 * @see Steiner 2023 §4.3, fig. 4.3
 */
export const arrivalPatterns = ['together', 'late', 'ramp', 'random'] as const

export type ArrivalPattern = (typeof arrivalPatterns)[number]

export interface SimulatedConditions {
  readonly calls: number
  /** The number of calls that are chosen and recorded: the first ones. */
  readonly tunedCalls: number
  /** The standard deviation of the logarithm of a time. */
  readonly noise: number
  readonly arrival: ArrivalPattern
  /** The time between the first and the last process that enters, in parts of the true time of the call. */
  readonly imbalance: number
  /** The number of processes whose times are recorded. */
  readonly measured: number
}

export const usualConditions: SimulatedConditions = {
  ...{ calls: 20_000, tunedCalls: 1000, noise: 0.1, arrival: 'together', imbalance: 0.5, measured: 4 },
}

interface ApplicationRun {
  readonly file: Uint8Array
  readonly place: SimulatedPlace
  /** The true time of all of its calls; below, their time by default. */
  readonly timeUs: number
  readonly defaultUs: number
  /** The true time of the calls that were chosen; below, their time by default. */
  readonly chosenUs: number
  readonly chosenDefaultUs: number
}

/**
 * Runs an application on a machine: chooses as a real run does, and returns the file that a real run writes. Clocks of
 * processes are hours apart. Pure: equal arguments give equal runs.
 *
 * @param model checksum of the tuning file with these grids; empty for runs without one
 */
export function simulateRun(
  application: SimulatedApplication,
  machine: SimulatedMachine,
  grids: ReadonlyMap<Collective, LearnedGrid>,
  table: NumberedSettings,
  logic: SelectionLogic,
  conditions: SimulatedConditions,
  seed: number,
  model = '',
): ApplicationRun {
  const next = mulberry32(seed)
  const place = application.places[below(next, application.places.length)]
  const draw = drawCall(application.calls)
  const trueTimes = application.calls.map((call) => timesOf(machine, table, { ...call, ...place }))
  const selections = new Map(
    [...grids].map(([collective, { grid }]) => [
      collective,
      new GridSelection(
        grid,
        logic,
        servedNumbers(table, machine, collective, place),
        place.nodes,
        place.processesPerNode,
      ),
    ]),
  )
  const records = new Map<number, CallTimes>()
  const measured = Math.min(conditions.measured, place.nodes * place.processesPerNode)
  for (let process = 0; process < measured; process++)
    records.set(process, new CallTimes(conditions.tunedCalls))
  const sums = { timeUs: 0, defaultUs: 0, chosenUs: 0, chosenDefaultUs: 0 }
  let now = 0
  for (let i = 0; i < conditions.calls; i++) {
    const drawn = draw(next() / 2 ** 32)
    const { collective, bytes } = application.calls[drawn]
    const timeUs = trueTimes[drawn]
    const byDefault = timeUs(0)
    const ordinal = collectives.indexOf(collective)
    const isChosen = i < conditions.tunedCalls
    const number = isChosen
      ? (selections.get(collective)?.choose(bytes, callDraw(seed, 0, i, ordinal)) ?? 0)
      : 0
    const trueUs = timeUs(number)
    sums.timeUs += trueUs
    sums.defaultUs += byDefault
    if (!isChosen) continue
    sums.chosenUs += trueUs
    sums.chosenDefaultUs += byDefault
    const lengthUs = trueUs * Math.exp(conditions.noise * normal(next))
    const spreadUs = conditions.imbalance * byDefault
    const end = now + spreadUs + lengthUs
    for (const [process, own] of records) {
      const clock = process * 3.6e9
      const enters = now + spreadUs * arrivalOf(conditions.arrival, process, measured, next)
      own.end(own.start(0, i, ordinal, number, bytes, clock + enters), clock + end)
    }
    now = end
  }
  const header: CallFileHeader = {
    source: { kind: 'simulator', name: application.name, machine: machine.name },
    ...{ mode: logic.name, model, seed, processes: place.nodes * place.processesPerNode },
    clock: { name: 'simulated', tickUs: 0 },
    settings: table.collectives.flatMap((collective) => table.of(collective)),
    communicators: [{ id: 0, ...place, processes: place.nodes * place.processesPerNode }],
  }
  const bytes = new Map([...records].map(([process, own]) => [process, own.bytes()]))
  return { file: formatCallFile(header, bytes), place, ...sums }
}

/** Returns the numbers of the settings of a collective that can serve some call there. */
export function servedNumbers(
  table: NumberedSettings,
  machine: SimulatedMachine,
  collective: Collective,
  place: SimulatedPlace,
): number[] {
  const settings = table.of(collective)
  return [...settings.keys()]
    .filter((i) => Number.isFinite(machine.timeUs(settings[i], { collective, bytes: 1, ...place })))
    .map((i) => i + 1)
}

/** Returns the true times of a call by number, 0 for the default; each is computed once. */
function timesOf(
  machine: SimulatedMachine,
  table: NumberedSettings,
  call: TuningCall,
): (number: number) => number {
  const { collective } = call
  const known: (number | undefined)[] = []
  const settingOf = (number: number): TuningSetting =>
    number === 0
      ? { collective, algorithm: defaultAlgorithm, parameters: {} }
      : table.settingOf(collective, number)
  return (number) => {
    known[number] ??= machine.timeUs(settingOf(number), call)
    return known[number]
  }
}

/** Returns a function that draws the place of a call. */
function drawCall(calls: readonly SimulatedCall[]): (drawn: number) => number {
  const total = calls.reduce((sum, { weight }) => sum + weight, 0)
  return (drawn) => {
    let left = drawn * total
    for (const [place, call] of calls.entries()) {
      left -= call.weight
      if (left < 0) return place
    }
    return calls.length - 1
  }
}

/** Returns the time at which a process enters, from 0 to 1. */
function arrivalOf(pattern: ArrivalPattern, process: number, processes: number, next: () => number): number {
  switch (pattern) {
    case 'together':
      return 1
    case 'late':
      return Number(process === processes - 1)
    case 'ramp':
      return processes === 1 ? 1 : process / (processes - 1)
    case 'random':
      return next() / 2 ** 32
  }
}

/** Draws from the normal distribution (Box and Muller). */
function normal(next: () => number): number {
  const radius = Math.sqrt(-2 * Math.log((next() + 1) / (2 ** 32 + 1)))
  return radius * Math.cos((2 * Math.PI * next()) / 2 ** 32)
}

const places: readonly SimulatedPlace[] = [4, 8, 16, 32].flatMap((nodes) =>
  [1, 32].map((processesPerNode) => ({ nodes, processesPerNode })),
)

type CallRow = readonly [collective: Collective, bytes: number, weight: number]

function application(name: string, rows: readonly CallRow[]): SimulatedApplication {
  return { name, places, calls: rows.map(([collective, bytes, weight]) => ({ collective, bytes, weight })) }
}

/**
 * Applications of four kinds, on 4, 8, 16 and 32 nodes with 1 and 32 processes each. Their collectives follow table 5.3
 * of the source; lengths and weights are this library's.
 *
 * | name | like | calls |
 * |---|---|---|
 * | `refinement` | miniAMR | allreduce of 8 B to 10 KiB, few bcast and allgather |
 * | `transform` | SWFFT | alltoall of 1 to 64 KiB, allreduce of 8 B |
 * | `graph` | miniVite | alltoall of 128 B to 4 KiB, allreduce of 8 B, bcast of 1 MiB |
 * | `solver` | Nekbone | allreduce of 8 and 24 B, bcast of 64 KiB, allgather of 2 KiB |
 *
 * @see Steiner 2023 §5.3, §5.4.7, appendix B
 */
export const simulatedApplications: readonly SimulatedApplication[] = [
  application('refinement', [
    ['allreduce', 8, 60],
    ['allreduce', 16, 15],
    ['allreduce', 64, 8],
    ['allreduce', 1024, 5],
    ['allreduce', 10_240, 6],
    ['bcast', 4096, 2],
    ['allgather', 8, 4],
  ]),
  application('transform', [
    ['alltoall', 1024, 30],
    ['alltoall', 8192, 20],
    ['alltoall', 65_536, 10],
    ['allreduce', 8, 40],
  ]),
  application('graph', [
    ['alltoall', 128, 40],
    ['alltoall', 4096, 30],
    ['allreduce', 8, 20],
    ['bcast', 2 ** 20, 10],
  ]),
  application('solver', [
    ['allreduce', 8, 60],
    ['allreduce', 24, 20],
    ['bcast', 65_536, 10],
    ['allgather', 2048, 10],
  ]),
]

/** The collectives that simulated applications call. */
export const simulatedCollectives: readonly Collective[] = ['allreduce', 'bcast', 'allgather', 'alltoall']

/** A network of 10 GB/s and 1.5 us, and memory of 20 GB/s. */
export const simulatedLevels = {
  network: {
    model: 'loggp',
    ...{ latencyNs: 1500, overheadNs: 400, gapNs: 700, nsPerByte: 0.1, reduceNsPerByte: 0.1 },
  },
  memory: {
    model: 'loggp',
    ...{ latencyNs: 300, overheadNs: 100, gapNs: 200, nsPerByte: 0.05, reduceNsPerByte: 0.1 },
  },
} as const

/** A machine with known times for the calls of a simulated application. */
export interface SimulatedMachine {
  readonly name: string
  /** The settings by collective and number. */
  readonly settings: readonly TuningSetting[]
  /** Returns the true time of a call, microseconds above 0; infinite if the setting cannot serve it. */
  readonly timeUs: (setting: TuningSetting, call: TuningCall) => number
}

/** The models of two levels: nodes exchange over a network by one, the processes of a node by another. */
interface TwoLevels {
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
    if ((modeledAlgorithmOf(setting.algorithm).refuses?.(ranks) ?? null) !== null)
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
      ...modeledAlgorithms
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
