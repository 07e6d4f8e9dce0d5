import { wrongValue } from '../errors.js'
import type { Collective } from '../schedule/specification.js'
import { formatAlgorithm, parseAlgorithm } from './algorithm-text.js'
import { atDefaults } from './patterns/parameterized.js'

/** A setting with which Open MPI's component `tuned` executes a collective. */
export interface TunedSetting {
  readonly collective: TunedCollective
  /** A name that `coll_tuned_COLLECTIVE_algorithm` takes; its numbers differ between versions. */
  readonly algorithm: string
  /** The bytes of `..._algorithm_segmentsize`. Default 0: no segments. */
  readonly segmentBytes?: number
  /** The fan-out of `chain`, `..._algorithm_chain_fanout`. Default 4, as in Open MPI. */
  readonly fanout?: number
  /** The radix of `knomial`, `..._algorithm_knomial_radix`. Default 4. */
  readonly radix?: number
  /** The requests of `linear_sync`, `..._algorithm_max_requests`. Default 0: all at once. */
  readonly requests?: number
}

export type TunedCollective = keyof typeof tunedAlgorithms

/** An algorithm of Open MPI in terms of one of the library. */
interface TunedAlgorithm {
  readonly id: string
  /** Whether it cuts the data; others ignore the size of segments. */
  readonly isSegmented?: true
  /** The parameter that it takes, its name in Open MPI and its default there. */
  readonly parameter?: {
    readonly name: 'fanout' | 'radix' | 'requests'
    readonly tuned: string
    readonly default: number
  }
}

/**
 * The algorithms of Open MPI 4.1, by its names.
 *
 * - `pipeline` is a `chain` of fan-out 1, and `linear` of alltoall is `linear_sync` with 0 requests.
 * - `nonoverlapping` is a reduction and a broadcast, `linear` of allgather a gather and a broadcast. Open MPI chooses
 *   both by size; these go along binomial trees.
 * - `basic_linear`, `scatter_allgather` and `scatter_allgather_ring` cut no segments, whatever their size.
 * - If an algorithm cannot serve a call, Open MPI takes another one; Rankweave refuses the call.
 */
export const tunedAlgorithms = {
  allreduce: {
    basic_linear: { id: 'allreduce-linear' },
    nonoverlapping: { id: 'allreduce-tree' },
    recursive_doubling: { id: 'allreduce-recursive-doubling' },
    ring: { id: 'allreduce-ring' },
    segmented_ring: { id: 'allreduce-ring-segmented', isSegmented: true },
    rabenseifner: { id: 'allreduce-rabenseifner' },
  },
  bcast: {
    basic_linear: { id: 'bcast-linear' },
    chain: {
      id: 'bcast-chain',
      isSegmented: true,
      parameter: { name: 'fanout', tuned: 'chain_fanout', default: 4 },
    },
    pipeline: { id: 'bcast-chain', isSegmented: true },
    split_binary_tree: { id: 'bcast-split-binary', isSegmented: true },
    binary_tree: { id: 'bcast-binary', isSegmented: true },
    binomial: { id: 'bcast-binomial', isSegmented: true },
    knomial: {
      id: 'bcast-knomial',
      isSegmented: true,
      parameter: { name: 'radix', tuned: 'knomial_radix', default: 4 },
    },
    scatter_allgather: { id: 'bcast-scatter-doubling' },
    scatter_allgather_ring: { id: 'bcast-scatter-allgather' },
  },
  allgather: {
    linear: { id: 'allgather-binomial' },
    bruck: { id: 'allgather-bruck' },
    recursive_doubling: { id: 'allgather-recursive-doubling' },
    ring: { id: 'allgather-ring' },
    neighbor: { id: 'allgather-neighbor-exchange' },
    two_proc: { id: 'allgather-two-proc' },
  },
  alltoall: {
    linear: { id: 'alltoall-linear' },
    pairwise: { id: 'alltoall-pairwise' },
    modified_bruck: { id: 'alltoall-bruck' },
    linear_sync: {
      id: 'alltoall-linear',
      parameter: { name: 'requests', tuned: 'max_requests', default: 0 },
    },
    two_proc: { id: 'alltoall-two-proc' },
  },
} as const satisfies Partial<Record<Collective, Readonly<Record<string, TunedAlgorithm>>>>

const byCollective: Readonly<Record<string, Readonly<Record<string, TunedAlgorithm>>>> = tunedAlgorithms

function tunedAlgorithm({ collective, algorithm }: TunedSetting): TunedAlgorithm {
  const known = byCollective[collective]
  if (known !== undefined && Object.hasOwn(known, algorithm)) return known[algorithm]
  const names = Object.keys(known ?? {}).join(', ')
  throw wrongValue(
    'ERR_ARGUMENT',
    `expected an algorithm of Open MPI's ${collective} among ${names}`,
    algorithm,
  )
}

/**
 * Returns the line of text of the algorithm that a setting of Open MPI names. Equivalent settings have one text.
 *
 * @throws ERR_ARGUMENT for another name, and for values that the algorithm does not take
 */
export function textOfTuned(setting: TunedSetting): string {
  const { id, isSegmented, parameter } = tunedAlgorithm(setting)
  const { segmentBytes = 0 } = setting
  const settings = [
    ...(parameter === undefined ? [] : [`${parameter.name}=${setting[parameter.name] ?? parameter.default}`]),
    ...(isSegmented === true && segmentBytes > 0 ? [`segment=${segmentBytes}`] : []),
  ]
  const text = settings.length === 0 ? id : `${id}:${settings.join(',')}`
  return formatAlgorithm(parseAlgorithm(text, setting.collective))
}

/**
 * Returns the setting of Open MPI that is equivalent to a line of text; null if it has none, as for a number of
 * segments.
 *
 * @throws ERR_ARGUMENT for a text that names no algorithm
 */
export function tunedOfText(text: string): TunedSetting | null {
  const { algorithm, segments, segmentBytes } = parseAlgorithm(text)
  const family = atDefaults(algorithm)
  const collective = algorithm.collective as TunedCollective
  const rows = Object.entries(byCollective[collective] ?? {}).filter(([, { id }]) => id === family.id)
  // The name without a parameter stands for the defaults if there are two names.
  const isPlain = algorithm === family && rows.some(([, { parameter }]) => parameter === undefined)
  const row = rows.find(([, { parameter }]) => (parameter === undefined) === isPlain)
  if (row === undefined || segments !== undefined) return null
  const [name, { isSegmented, parameter }] = row
  if (segmentBytes !== undefined && isSegmented !== true) return null
  return {
    collective,
    algorithm: name,
    ...(segmentBytes === undefined ? {} : { segmentBytes }),
    ...(parameter === undefined ? {} : { [parameter.name]: algorithm.values![parameter.name] }),
  }
}

/** Returns the parameters of Open MPI that make a setting: values of `--mca NAME VALUE`, or of `OMPI_MCA_NAME`. */
export function tunedParameters(setting: TunedSetting): Readonly<Record<string, string>> {
  const { isSegmented, parameter } = tunedAlgorithm(setting)
  const name = `coll_tuned_${setting.collective}_algorithm`
  return {
    coll_tuned_use_dynamic_rules: '1',
    [name]: setting.algorithm,
    ...(isSegmented === true ? { [`${name}_segmentsize`]: `${setting.segmentBytes ?? 0}` } : {}),
    ...(parameter === undefined
      ? {}
      : { [`${name}_${parameter.tuned}`]: `${setting[parameter.name] ?? parameter.default}` }),
  }
}
