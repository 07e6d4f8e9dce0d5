import { RankweaveError } from '../../errors.js'
import type { Collective } from '../../schedule/specification.js'
import type { DecisionTree } from '../models/decision-tree.js'
import { type TuningFile, treeOfDecisions } from '../models/tuning-file.js'
import type { TuningSetting } from '../settings/setting.js'
import { type DecisionStep, layoutSteps, type WrittenLayout } from './decision-steps.js'

/** A tree of MPICH's selection: tests by name in their order, or the name of an algorithm. */
export interface MpichSelection {
  readonly [test: string]: MpichSelection
}

/** A function of MPICH in a selection. */
interface SelectedFunction {
  readonly name: string
  /** The prefix of the names of its algorithms. */
  readonly prefix: string
  readonly algorithms: readonly string[]
  /** The test of a size: of the bytes of a call, or of those of all ranks; null: no test of bytes. */
  readonly size: 'avg_msg_size' | 'total_msg_size' | null
  readonly reduces?: true
}

/**
 * The functions of MPICH 4.0. Tests of a size abort a process for functions that have none, and count elements instead
 * of bytes for gather and scatter.
 */
const functions: Partial<Record<Collective, readonly SelectedFunction[]>> = {
  allgather: [selected('Allgather', 'brucks recursive_doubling ring nb', 'total_msg_size')],
  allreduce: [
    selected('Allreduce', 'smp recursive_doubling reduce_scatter_allgather nb', 'avg_msg_size', true),
  ],
  alltoall: [selected('Alltoall', 'brucks pairwise scattered nb', 'avg_msg_size')],
  barrier: [selected('Barrier', 'smp dissemination nb', null)],
  bcast: [
    selected(
      'Bcast',
      'binomial smp scatter_recursive_doubling_allgather scatter_ring_allgather nb',
      'avg_msg_size',
    ),
  ],
  gather: [selected('Gather', 'binomial nb', null)],
  reduce: [selected('Reduce', 'binomial smp reduce_scatter_gather nb', 'avg_msg_size', true)],
  'reduce-scatter': ['Reduce_scatter', 'Reduce_scatter_block'].map((name) =>
    selected(name, 'recursive_doubling recursive_halving pairwise nb', 'total_msg_size', true),
  ),
  scatter: [selected('Scatter', 'binomial nb', null)],
}

const greatest = 2 ** 31 - 1

/** The names by which MPICH 4.0 knows the algorithms of a collective; null for a collective without a selection. */
export function mpichAlgorithms(collective: Collective): readonly string[] | null {
  return functions[collective]?.[0].algorithms ?? null
}

/**
 * Returns the decisions of a tuning file as MPICH's selection: the file that
 * `MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE` names. It replaces MPICH's whole own selection, so it repeats that
 * wherever the tuning file does not decide. These cases are other collectives, the setting `default`, operations that
 * are not commutative, alltoall in place, and calls that the algorithm cannot serve.
 *
 * It tests ranks and bytes, but no nodes, so it is written for layouts. MPICH's device selects first, unless
 * `MPIR_CVAR_DEVICE_COLLECTIVES` is `none`.
 *
 * @param own MPICH's own selection, as `ownMpichSelection` finds it in the installed library
 * @throws ERR_TUNING for a file of another source; for what a selection cannot express: tests of an operation or its
 *   order, bytes of gather and scatter, parameters; for algorithms that MPICH 4.0 does not have
 * @see MPICH 4.0, src/mpi/coll/src/csel.c, maint/tuning/coll/mpir/generic.json
 */
export function mpichSelection(
  { source, decisions }: TuningFile,
  own: MpichSelection,
  layout: WrittenLayout,
): MpichSelection {
  if (source.kind !== 'mpi' || !/^MPICH 4\.0(\.|$)/.test(source.name))
    throw refusal(`source.name: expected MPICH 4.0, got ${source.name} (${source.kind})`)
  const written = Object.entries(decisions).flatMap(([collective, learned]) => {
    const tree = treeOfDecisions(learned)
    const known = functions[collective as Collective]
    if (known === undefined)
      throw refusal(`decisions.${collective}: a selection cannot say ${collective} by ranks and bytes`)
    return known.map((one) => {
      const key = `collective=${one.name}`
      const whole: MpichSelection = own[key] ?? {}
      const intra = whole['comm_type=intra']
      if (intra === undefined)
        throw refusal(`expected MPICH's own selection to have ${key} with comm_type=intra`)
      return [key, { ...whole, 'comm_type=intra': ofFunction(one, tree, intra, layout) }] as const
    })
  })
  return { ...own, ...Object.fromEntries(written) }
}

function selected(
  prefix: string,
  algorithms: string,
  size: SelectedFunction['size'],
  reduces?: true,
): SelectedFunction {
  return {
    name: prefix.toLowerCase(),
    prefix,
    algorithms: algorithms.split(' '),
    size,
    ...(reduces === true ? { reduces } : {}),
  }
}

function ofFunction(
  one: SelectedFunction,
  tree: DecisionTree,
  own: MpichSelection,
  layout: WrittenLayout,
): MpichSelection {
  const where = `decisions.${tree.settings[0].collective}`
  const sizes = layoutSteps(tree, layout, where).map(({ greatestRanks, ranks, steps }) => {
    if (one.size === null && one.name !== 'barrier' && steps.length > 1)
      throw refusal(`${where}: expected one setting for ${ranks} ranks: tests of ${one.name} know no bytes`)
    const used = one.size === null ? steps.slice(0, 1) : steps
    return [
      greatestRanks === null ? 'comm_size=any' : `comm_size<=${greatestRanks}`,
      bySize(one, used, ranks, (setting) => guarded(one, tree.settings[setting], own, where)),
    ] as const
  })
  const tuned = Object.fromEntries(sizes)
  if (one.name === 'alltoall') return { 'is_sendbuf_inplace=yes': own, 'is_sendbuf_inplace=no': tuned }
  return one.reduces === true ? { 'is_commutative=yes': tuned, 'is_commutative=no': own } : tuned
}

function bySize(
  { size }: SelectedFunction,
  steps: readonly DecisionStep[],
  ranks: number,
  of: (setting: number) => MpichSelection,
): MpichSelection {
  const factor = size === 'total_msg_size' ? ranks : 1
  // Tests beyond the greatest number always hold.
  const reached = steps.filter(({ fromBytes }) => fromBytes === 0 || (fromBytes - 1) * factor < greatest)
  if (reached.length === 1) return of(reached[0].setting)
  return Object.fromEntries(
    reached.map(({ setting }, i) => {
      const next = reached[i + 1]
      const test = next === undefined ? `${size}=any` : `${size}<=${(next.fromBytes - 1) * factor}`
      return [test, of(setting)]
    }),
  )
}

/** Returns the algorithm if it can serve, else MPICH's own choice. MPICH follows a selection without checks. */
function guarded(
  { prefix, algorithms }: SelectedFunction,
  { algorithm, parameters }: TuningSetting,
  own: MpichSelection,
  where: string,
): MpichSelection {
  if (algorithm === 'default') return own
  if (!algorithms.includes(algorithm)) {
    const known = ['default', ...algorithms].join(', ')
    throw refusal(`${where}: expected an algorithm of MPICH's ${prefix} among ${known}, got ${algorithm}`)
  }
  const [parameter] = Object.keys(parameters)
  if (parameter !== undefined)
    throw refusal(`${where}: a selection cannot say ${parameter}=${parameters[parameter]} of ${algorithm}`)
  const chosen = {
    [`algorithm=MPIR_${prefix}_${algorithm === 'nb' ? 'allcomm' : 'intra'}_${algorithm}`]: {},
  }
  switch (algorithm) {
    case 'smp':
      return { 'comm_hierarchy=parent': chosen, 'comm_hierarchy=any': own }
    case 'scatter_recursive_doubling_allgather':
      return { 'comm_size=pow2': chosen, 'comm_size=any': own }
    case 'recursive_doubling':
      return prefix === 'Allgather' ? { 'comm_size=pow2': chosen, 'comm_size=any': own } : chosen
    case 'reduce_scatter_allgather':
    case 'reduce_scatter_gather':
      return {
        'is_op_built_in=yes': { 'count<pow2': own, 'count=any': chosen },
        'is_op_built_in=no': own,
      }
    default:
      return chosen
  }
}

/**
 * Returns MPICH's own selection, which is text in its shared library.
 *
 * @param library the bytes of `libmpich.so`
 * @throws ERR_TUNING if there is none
 */
export function ownMpichSelection(library: Uint8Array): MpichSelection {
  const text = new TextDecoder('latin1').decode(library)
  for (const { index } of text.matchAll(/\{"collective=bcast":/g)) {
    const end = text.slice(index).search(/[^\x20-\x7e]/)
    const selection = parsed(text.slice(index, index + end))
    // The selections of the device have compositions, or name few collectives.
    if (selection !== null && 'collective=ibcast' in selection) return selection
  }
  throw refusal('expected the library of MPICH 4.0 with its own selection')
}

function parsed(text: string): MpichSelection | null {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function refusal(message: string): RankweaveError {
  return new RankweaveError('ERR_TUNING', message)
}
