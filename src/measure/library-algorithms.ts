import type { Collective } from '../schedule/specification.js'
import type { ElementType } from '../tuning/measured/measurement.js'
import { defaultAlgorithm, type TuningSetting } from '../tuning/settings/setting.js'
import { callProcesses, isReduction, type TuningCall } from '../tuning/settings/tuning-call.js'
import { elementBytes } from './grid.js'

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

export type LibraryKind = 'Open MPI' | 'MPICH'

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
export type LibraryAlgorithms = ReadonlyMap<string, number>

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
