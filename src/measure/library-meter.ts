import { RankweaveError, wrongValue } from '../errors.js'
import type { Collective } from '../schedule/specification.js'
import type { ElementType } from '../tuning/measured/measurement.js'
import { defaultAlgorithm, settingLine, type TuningSetting } from '../tuning/settings/setting.js'
import { callProcesses, isReduction, type TuningCall } from '../tuning/settings/tuning-call.js'
import { elementBytes, largestSpread, membersOf, type PlacedSpread, spreadText } from './grid.js'
import type { MeasuringJob } from './measuring-job.js'
import type { CallVerdict, Meter } from './meter.js'

interface LibraryMeterOptions {
  readonly machine: string
  readonly collectives: readonly Collective[]
  readonly elementType: ElementType
  /** The lengths of segments in bytes; 0 for whole data. */
  readonly segments: readonly number[]
}

interface LibraryMeter extends Meter {
  readonly spread: PlacedSpread
  /** The collectives whose algorithms the library does not name: only its default is measured. */
  readonly unnamed: readonly Collective[]
}

const verdicts: readonly CallVerdict[] = ['right', 'wrong', 'refused']

/**
 * Measures an MPI library's own algorithms in a job of {@link startMeasuring}.
 *
 * @throws ERR_MEASUREMENT for a library that is neither Open MPI nor MPICH, and for a job whose control variables keep
 *   settings from taking effect ({@link requireOwnChoice})
 */
export async function libraryMeter(job: MeasuringJob, options: LibraryMeterOptions): Promise<LibraryMeter> {
  const { machine, collectives, elementType } = options
  const library = libraryName(job.library)
  if (library === null)
    throw wrongValue('ERR_MEASUREMENT', 'expected a job of Open MPI or MPICH', job.library)
  const { kind, version } = library
  await requireOwnChoice(kind, collectives, (name) => variableOf(job, name))
  const algorithms = new Map<Collective, LibraryAlgorithms>()
  for (const collective of collectives) {
    const described = await job.ask(`describe ${algorithmVariable(kind, collective)}`)
    algorithms.set(collective, libraryAlgorithms(described))
  }
  const spread = largestSpread(job.nodes)
  const order = async (text: string): Promise<void> => {
    const answer = await job.ask(text)
    if (answer !== 'ok') throw unexpected(text, answer)
  }
  let spreadNow = ''
  let ids = new Map<string, number>()
  const idOf = (setting: TuningSetting) => ids.get(settingLine(setting))!
  return {
    source: { kind: 'mpi', name: `${kind} ${version}`, machine },
    isComputed: false,
    spread,
    unnamed: collectives.filter((collective) => algorithms.get(collective)!.size === 0),
    algorithms: (collective) => [defaultAlgorithm, ...algorithms.get(collective)!.keys()],
    settings: (call) => librarySettings(kind, algorithms.get(call.collective)!, call, options),
    async begin(call, settings) {
      const members = membersOf(spread, call)
      if (spreadNow !== spreadText(call)) await order(`spread ${members.join(' ')}`)
      spreadNow = spreadText(call)
      await order(`call ${call.collective} ${typeOf(call, elementType)} ${call.bytes}`)
      ids = new Map(settings.map((setting, id) => [settingLine(setting), id]))
      for (const setting of settings) {
        const variables = settingVariables(kind, algorithms.get(call.collective)!, setting)
        const words = Object.entries(variables).map(([name, value]) => ` ${name}=${value}`)
        await order(`setting ${idOf(setting)}${words.join('')}`)
      }
    },
    async verify(setting) {
      const answer = await job.ask(`verify ${idOf(setting)}`)
      const verdict = verdicts.find((word) => word === answer)
      if (verdict === undefined) throw unexpected('verify', answer)
      return verdict
    },
    async time(setting, repetitions) {
      const answer = await job.ask(`time ${idOf(setting)} ${repetitions}`)
      const [word, ...times] = answer.split(' ')
      const us = times.map(Number)
      if (word !== 'times' || us.length !== 2 * repetitions || !us.every(Number.isFinite))
        throw unexpected('time', answer)
      return { callUs: us.slice(0, repetitions), barrierUs: us.slice(repetitions) }
    },
    end: () => order('done'),
  }
}

/** Returns a control variable as text, or null if the library has none of that name. */
async function variableOf(job: MeasuringJob, name: string): Promise<string | null> {
  const answer = await job.ask(`read ${name}`)
  if (answer === 'none') return null
  if (!answer.startsWith('value ')) throw unexpected(`read ${name}`, answer)
  return answer.slice('value '.length)
}

function typeOf({ collective }: TuningCall, elementType: ElementType): string {
  return isReduction(collective) ? elementType : 'byte'
}

function unexpected(order: string, answer: string): RankweaveError {
  return wrongValue('ERR_MEASUREMENT', `expected an answer of the measured job to '${order}'`, answer)
}

/** The values of control variables under which settings are in effect, and the default is the library's choice. */
const required: Readonly<Record<LibraryKind, Readonly<Record<string, string>>>> = {
  'Open MPI': { coll_tuned_use_dynamic_rules: '1', coll_tuned_dynamic_rules_filename: '' },
  MPICH: {
    // Variables decide for each collective; other values use the device for all of them or for none.
    MPIR_CVAR_DEVICE_COLLECTIVES: '2',
    MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE: '',
    MPIR_CVAR_CH4_COLL_SELECTION_TUNING_JSON_FILE: '',
    MPIR_CVAR_CH4_POSIX_COLL_SELECTION_TUNING_JSON_FILE: '',
  },
}

/** The components of Open MPI that take collectives before `tuned` does if their priority is higher. */
const rivals = ['acoll', 'adapt', 'fca', 'han', 'hcoll', 'ml', 'portals4', 'sm', 'ucc', 'xhc'] as const

/**
 * Checks that a job carries out the settings of its orders, and that its default is the library's own choice. An
 * environment, a file of parameters or the launcher may have set control variables that prevent it. Open MPI prefers a
 * file of rules to the algorithm of a variable, and ignores both if rules are off.
 *
 * @param read returns the value of a control variable in the job as text, or null if the library has none of that name
 * @throws ERR_MEASUREMENT with the name of the variable, the required and the actual value
 */
export async function requireOwnChoice(
  kind: LibraryKind,
  collectives: readonly Collective[],
  read: (variable: string) => Promise<string | null>,
): Promise<void> {
  const unforced = collectives.map((collective) => [algorithmVariable(kind, collective), '0'] as const)
  for (const [name, expected] of [...Object.entries(required[kind]), ...unforced]) {
    const value = await read(name)
    if (value !== null && value !== expected) throw presetVariable(kind, name, `'${expected}'`, value)
  }
  if (kind !== 'Open MPI') return
  const tuned = await read('coll_tuned_priority')
  if (tuned === null) return
  for (const rival of rivals) {
    const name = `coll_${rival}_priority`
    const value = await read(name)
    if (value !== null && Number(value) > Number(tuned))
      throw presetVariable(kind, name, `at most ${tuned} as that of tuned`, value)
  }
}

/** The places where the variable may have been set. */
const places: Readonly<Record<LibraryKind, (name: string) => string>> = {
  'Open MPI': (name) =>
    `OMPI_MCA_${name} in the environment, ${name} in files of MCA parameters, and --mca in --launch`,
  MPICH: (name) => `${name} in the environment and in --launch`,
}

function presetVariable(kind: LibraryKind, name: string, expected: string, value: string): RankweaveError {
  const message = `expected control variable ${name} to be ${expected}, without which settings are not in effect`
  return new RankweaveError('ERR_MEASUREMENT', `${message}, got '${value}'; look for ${places[kind](name)}`)
}

/** The sizes that decide whether an algorithm of a library serves a call. */
interface CallSizes {
  readonly processes: number
  readonly nodes: number
  readonly processesPerNode: number
  /** The elements of the data that MPI's count describes. */
  readonly elements: number
  readonly bytes: number
  /** The bytes of a segment; 0 for whole data. */
  readonly segment: number
}

function sizesOfCall(call: TuningCall, elementType: ElementType, segment: number): CallSizes {
  const { bytes, nodes, processesPerNode } = call
  const elements = isReduction(call.collective) ? bytes / elementBytes(elementType) : bytes
  return { processes: callProcesses(call), nodes, processesPerNode, elements, bytes, segment }
}

type Condition = (sizes: CallSizes) => boolean
type LibraryConditions = Readonly<Partial<Record<Collective, Readonly<Record<string, Condition>>>>>

const isPowerOfTwo: Condition = ({ processes }) => Number.isInteger(Math.log2(processes))
const isPair: Condition = ({ processes }) => processes === 2
const isEven: Condition = ({ processes }) => processes % 2 === 0
/** Requires an element for each process of the largest power of two. */
const isHalvable: Condition = ({ processes, elements }) => elements >= 2 ** Math.floor(Math.log2(processes))
/** Requires several processes on each of several nodes. */
const isTwoLevel: Condition = ({ nodes, processesPerNode }) => nodes > 1 && processesPerNode > 1
const never: Condition = () => false

/**
 * The conditions under which Open MPI 4.1 runs the named algorithm and not silently another one. Algorithms without a
 * condition serve every call.
 */
const openMpiConditions: LibraryConditions = {
  barrier: { two_proc: isPair },
  bcast: {
    // Each half holds a segment.
    split_binary_tree: ({ elements, bytes, segment }) => elements >= 2 && segment <= Math.floor(bytes / 2),
  },
  allgather: { recursive_doubling: isPowerOfTwo, neighbor: isEven, two_proc: isPair },
  alltoall: { two_proc: isPair },
  reduce: { rabenseifner: isHalvable },
  allreduce: {
    ring: ({ elements, processes }) => elements >= processes,
    // Every process has a segment.
    segmented_ring: ({ bytes, processes, segment }) => segment > 0 && bytes >= processes * segment,
    rabenseifner: isHalvable,
  },
}

/** The conditions of MPICH 4.0 and 4.1. */
const mpichConditions: LibraryConditions = {
  barrier: { smp: isTwoLevel },
  bcast: {
    smp: isTwoLevel,
    scatter_recursive_doubling_allgather: isPowerOfTwo,
  },
  allgather: { recursive_doubling: isPowerOfTwo },
  // MPICH uses this one for exchanges in place only.
  alltoall: { pairwise_sendrecv_replace: never },
  reduce: { smp: isTwoLevel, reduce_scatter_gather: isHalvable },
  allreduce: { smp: isTwoLevel, reduce_scatter_allgather: isHalvable },
  'reduce-scatter': { noncommutative: isPowerOfTwo },
  scan: { smp: isTwoLevel },
}

type LibraryKind = 'Open MPI' | 'MPICH'

/** The name and version that an MPI library reports. */
interface LibraryName {
  readonly kind: LibraryKind
  readonly version: string
}

/** Reads the first line of MPI_Get_library_version; returns null for another library. */
export function libraryName(text: string): LibraryName | null {
  const openMpi = /^Open MPI v([\w.-]+)/.exec(text)
  if (openMpi !== null) return { kind: 'Open MPI', version: openMpi[1] }
  const mpich = /^MPICH Version:\s*(\S+)/.exec(text)
  return mpich === null ? null : { kind: 'MPICH', version: mpich[1] }
}

/** The algorithms of a collective in a library: its number by the name that the library has for it. */
type LibraryAlgorithms = ReadonlyMap<string, number>

/** A parameter of an algorithm: its word in settings, the variable that holds it, and the values that are tried. */
interface LibraryParameter {
  readonly word: string
  readonly variable: string
  /** The value in settings without this parameter. */
  readonly default: number
  readonly tried: readonly number[]
}

interface Library {
  /** Returns the control variable that names the algorithm of a collective. */
  variable(collective: Collective): string
  readonly conditions: LibraryConditions
  parameters(collective: Collective, algorithm: string): readonly LibraryParameter[]
  /** Returns the further variables that are set along with the algorithm. */
  more(collective: Collective): Readonly<Record<string, number>>
}

const tuned = (collective: Collective) => collective.replaceAll('-', '_')
const tunedVariable = (collective: Collective) => `coll_tuned_${tuned(collective)}_algorithm`

/** The algorithms of Open MPI's component `tuned` that have each parameter. */
const segmented: Readonly<Partial<Record<Collective, readonly string[]>>> = {
  bcast: ['chain', 'pipeline', 'split_binary_tree', 'binary_tree', 'binomial', 'knomial'],
  reduce: ['chain', 'pipeline', 'binary', 'binomial', 'in-order_binary'],
  allreduce: ['segmented_ring'],
  gather: ['linear_sync'],
}

const openMpi: Library = {
  variable: tunedVariable,
  conditions: openMpiConditions,
  parameters(collective, algorithm) {
    const of = (word: string, end: string, initial: number, ...tried: number[]): LibraryParameter => ({
      ...{ word, variable: `${tunedVariable(collective)}_${end}`, default: initial, tried },
    })
    return [
      ...(segmented[collective]?.includes(algorithm) === true ? [of('segment', 'segmentsize', 0)] : []),
      ...(algorithm === 'chain' ? [of('fanout', 'chain_fanout', 4, 2, 8)] : []),
      ...(algorithm === 'knomial' ? [of('radix', 'knomial_radix', 4, 2, 8)] : []),
      ...(algorithm === 'linear_sync' && collective === 'alltoall'
        ? [of('requests', 'max_requests', 0, 2, 8)]
        : []),
    ]
  },
  more: () => ({}),
}

const mpichPrefix = (collective: Collective) => `MPIR_CVAR_${tuned(collective).toUpperCase()}`

const mpich: Library = {
  variable: (collective) => `${mpichPrefix(collective)}_INTRA_ALGORITHM`,
  conditions: mpichConditions,
  parameters: () => [],
  // MPICH's device would carry out the call in two levels, each by the algorithm.
  more: (collective) => ({ [`${mpichPrefix(collective)}_DEVICE_COLLECTIVE`]: 0 }),
}

const libraries: Readonly<Record<LibraryKind, Library>> = { 'Open MPI': openMpi, MPICH: mpich }

/** Returns the control variable of a library that names the algorithm of a collective. */
export function algorithmVariable(kind: LibraryKind, collective: Collective): string {
  return libraries[kind].variable(collective)
}

/**
 * Returns the algorithms in the description of the variable that names them: `enum 0=ignore 1=linear`, where number 0
 * leaves the choice to the library, or `none`.
 */
export function libraryAlgorithms(described: string): LibraryAlgorithms {
  const items = /^enum( \d+=\S+)*$/.test(described) ? described.split(' ').slice(1) : []
  const pairs = items.map((item) => item.split('=') as [string, string])
  return new Map(pairs.filter(([value]) => value !== '0').map(([value, name]) => [name, Number(value)]))
}

/**
 * Returns the settings of a library's own algorithms that serve a call, its default first.
 *
 * @param segments bytes; 0 for whole data
 */
export function librarySettings(
  kind: LibraryKind,
  algorithms: LibraryAlgorithms,
  call: TuningCall,
  { elementType, segments }: { readonly elementType: ElementType; readonly segments: readonly number[] },
): TuningSetting[] {
  const { collective, bytes } = call
  const { conditions, parameters } = libraries[kind]
  const setting = (algorithm: string, values: Readonly<Record<string, number>>) => ({
    ...{ collective, algorithm, parameters: values },
  })
  const named = [...algorithms.keys()].flatMap((algorithm) => {
    const known = parameters(collective, algorithm)
    const isCut = known.some(({ word }) => word === 'segment')
    const others = known.filter(({ word }) => word !== 'segment')
    const cuts = isCut ? segments.filter((length) => length < bytes) : [0]
    return cuts
      .filter(
        (segment) => conditions[collective]?.[algorithm]?.(sizesOfCall(call, elementType, segment)) ?? true,
      )
      .flatMap((segment) => {
        const cut = segment === 0 ? {} : { segment }
        const initial = Object.fromEntries(others.map((one) => [one.word, one.default]))
        const tried = others.flatMap((one) =>
          one.tried
            .filter((value) => value < callProcesses(call))
            .map((value) => setting(algorithm, { ...initial, [one.word]: value, ...cut })),
        )
        return [setting(algorithm, { ...initial, ...cut }), ...tried]
      })
  })
  return [setting(defaultAlgorithm, {}), ...named]
}

/** Returns the control variables that make a setting; none for the default. */
export function settingVariables(
  kind: LibraryKind,
  algorithms: LibraryAlgorithms,
  { collective, algorithm, parameters }: TuningSetting,
): Readonly<Record<string, number>> {
  const library = libraries[kind]
  const number = algorithms.get(algorithm)
  if (number === undefined) return {}
  const values = library
    .parameters(collective, algorithm)
    .map((one) => [one.variable, parameters[one.word] ?? one.default] as const)
  return {
    [library.variable(collective)]: number,
    ...Object.fromEntries(values),
    ...library.more(collective),
  }
}
