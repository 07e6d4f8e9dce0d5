import { RankweaveError } from '../../errors.js'
import type { Collective } from '../../schedule/specification.js'
import type { DecisionTree } from '../models/decision-tree.js'
import { type TuningFile, treeOfDecisions } from '../models/tuning-file.js'
import { defaultAlgorithm, settingLine, type TuningSetting } from '../settings/setting.js'
import {
  type LayoutSteps,
  layoutSteps,
  type RuleAssumption,
  type WrittenLayout,
  type WrittenRules,
} from './decision-steps.js'

/** A function of Open MPI in a file of rules. */
interface RuledFunction extends FunctionTraits {
  readonly name: string
  /** The number in the enumeration of collectives. */
  readonly number: number
  /** The algorithms; the first has number 1. */
  readonly algorithms: readonly string[]
}

interface FunctionTraits {
  /** The size in a rule: the bytes of a call, or those of all ranks. A call without data has one rule. */
  readonly size: 'bytes' | 'total' | 'none'
  /** The algorithms that take operands in another order than that of the ranks, whatever the operation. */
  readonly reorders: readonly string[]
  /**
   * The algorithms that always cut data by elements of the rank's own datatype, as segments do. Ranks may describe
   * equal data by different datatypes. Null: segments are alike on all ranks.
   */
  readonly cuts: readonly string[] | null
  /** Whether ranks compute the size from arguments that MPI ignores in place, where settings are not alike. */
  readonly isSizeIgnored: boolean
}

const bytesOnly: FunctionTraits = { size: 'bytes', reorders: [], cuts: null, isSizeIgnored: false }
const totals: FunctionTraits = { ...bytesOnly, size: 'total' }
const noSizes: FunctionTraits = { ...bytesOnly, size: 'none' }

/**
 * The functions of Open MPI 4.1. Every rank of a gather and a scatter computes the size from its own arguments, some of
 * which MPI leaves open. In rules of several sizes, ranks could take different ones and deadlock.
 */
const functions: Partial<Record<Collective, readonly RuledFunction[]>> = {
  allgather: [
    ruled('allgather', 0, 'linear bruck recursive_doubling ring neighbor two_proc', {
      ...totals,
      isSizeIgnored: true,
    }),
  ],
  allreduce: [
    ruled('allreduce', 2, 'basic_linear nonoverlapping recursive_doubling ring segmented_ring rabenseifner', {
      ...bytesOnly,
      reorders: ['ring', 'segmented_ring'],
    }),
  ],
  // In place, all algorithms are the same one.
  alltoall: [ruled('alltoall', 3, 'linear pairwise modified_bruck linear_sync two_proc', totals)],
  barrier: [ruled('barrier', 6, 'linear double_ring recursive_doubling bruck two_proc tree', noSizes)],
  bcast: [
    ruled(
      'bcast',
      7,
      'basic_linear chain pipeline split_binary_tree binary_tree binomial knomial scatter_allgather ' +
        'scatter_allgather_ring',
      { ...bytesOnly, cuts: ['split_binary_tree', 'scatter_allgather', 'scatter_allgather_ring'] },
    ),
  ],
  gather: [ruled('gather', 9, 'basic_linear binomial linear_sync', { ...noSizes, cuts: [] })],
  reduce: [
    ruled('reduce', 11, 'linear chain pipeline binary binomial in-order_binary rabenseifner', {
      ...bytesOnly,
      reorders: ['chain', 'pipeline', 'binary', 'binomial'],
    }),
  ],
  'reduce-scatter': [
    ruled('reduce_scatter', 12, 'non-overlapping recursive_halving ring butterfly', {
      ...totals,
      reorders: ['recursive_halving', 'ring'],
    }),
    ruled('reduce_scatter_block', 13, 'basic_linear recursive_doubling recursive_halving butterfly', totals),
  ],
  scatter: [ruled('scatter', 15, 'basic_linear binomial linear_nb', noSizes)],
}

/** The children of a node of `chain`, unless a setting names their number. */
const defaultFanout = 4

/** The library's own choice in place of a setting; `unless` names the statement by the user that the setting needs. */
interface LeftRule {
  readonly why: string
  readonly unless?: RuleAssumption
}

interface RuleLine {
  readonly line: string
  readonly left: LeftRule | null
}

/**
 * Returns the decisions of a tuning file as rules of Open MPI 4.1: the file that `coll_tuned_dynamic_rules_filename`
 * names, with `coll_tuned_use_dynamic_rules` 1. Rules know ranks and bytes, but no nodes, so they are written for
 * layouts.
 *
 * A rule has the number 0, the library's own choice, for the setting `default` and where a setting cannot serve. So it
 * has where a setting would break correct programs: with wrong results, a deadlock, or an error.
 *
 * @param assumed what holds for all programs that use the file; it permits further settings
 * @throws ERR_TUNING for a file of another source; for what rules cannot express: tests of an operation or its order,
 *   sizes of gather and scatter, a radix other than 4, a number of requests; for algorithms that Open MPI 4.1 does not
 *   have
 * @see Open MPI 4.1, ompi/mca/coll/tuned/coll_tuned_dynamic_file.c, coll_tuned_decision_dynamic.c
 */
export function openMpiRules(
  { source, decisions }: TuningFile,
  layout: WrittenLayout,
  assumed: readonly RuleAssumption[] = [],
): WrittenRules {
  if (source.kind !== 'mpi' || !/^Open MPI 4\.1\./.test(source.name))
    throw refusal(`source.name: expected Open MPI 4.1, got ${source.name} (${source.kind})`)
  const blocks = Object.entries(decisions).flatMap(([collective, learned]) => {
    const tree = treeOfDecisions(learned)
    const known = functions[collective as Collective]
    if (known === undefined) throw refusal(`decisions.${collective}: rules cannot say ${collective}`)
    checkAlgorithms(collective, tree, known)
    return known.map((one) => functionLines(one, tree, layout, assumed))
  })
  const head = [
    `# ${source.name} on ${source.machine}`,
    `# nodes: ${layout.nodes.join(', ')}; processes of each: ${layout.processesPerNode}`,
    ...(assumed.length === 0 ? [] : [`# assumed of all programs: ${assumed.join(', ')}`]),
    `${blocks.length} # collectives`,
  ]
  const lines = blocks.flat()
  const leftFor = (name: RuleAssumption) => lines.filter(({ left }) => left?.unless === name).length
  return {
    text: `${[...head, ...lines.map(({ line }) => line)].join('\n')}\n`,
    left: { commutative: leftFor('commutative'), 'equal-arguments': leftFor('equal-arguments') },
  }
}

function ruled(name: string, number: number, algorithms: string, traits: FunctionTraits): RuledFunction {
  return { name, number, algorithms: algorithms.split(' '), ...traits }
}

function functionLines(
  one: RuledFunction,
  tree: DecisionTree,
  layout: WrittenLayout,
  assumed: readonly RuleAssumption[],
): readonly RuleLine[] {
  const where = `decisions.${tree.settings[0].collective}`
  const sizes = ruledSteps(tree, layout, where)
  const plain = (line: string): RuleLine => ({ line, left: null })
  const lines = [plain(`${one.number} # ${one.name}`), plain(`${sizes.length} # numbers of ranks`)]
  for (const { leastRanks, ranks, steps } of sizes) {
    if (one.size === 'none' && steps.length > 1 && one.name !== 'barrier')
      throw refusal(`${where}: expected one setting for ${ranks} ranks: rules of ${one.name} know no bytes`)
    const used = one.size === 'none' ? steps.slice(0, 1) : steps
    lines.push(plain(`${leastRanks} # from this number of ranks on`), plain(`${used.length} # sizes`))
    for (const { fromBytes, setting } of used) {
      const size = one.size === 'total' ? fromBytes * ranks : fromBytes
      const named = tree.settings[setting]
      const numbers = ruleOf(one, named, where)
      const reason = reasonToLeave(one, named, ranks, used.length > 1)
      const left = reason?.unless !== undefined && assumed.includes(reason.unless) ? null : reason
      const rule = left === null ? numbers : [0, 0, 0]
      const note = left === null ? '' : `, left to the library: ${left.why}`
      lines.push({ line: `${[size, ...rule].join(' ')} # ${settingLine(named)}${note}`, left })
    }
  }
  return lines
}

/** Returns the steps of all rules. The last one holds for all numbers of ranks above, so `two_proc` cannot serve it. */
function ruledSteps(tree: DecisionTree, layout: WrittenLayout, where: string): readonly LayoutSteps[] {
  const sizes = layoutSteps(tree, layout, where)
  const last = sizes[sizes.length - 1]
  const isForTwo = last.steps.some(({ setting }) => tree.settings[setting].algorithm === 'two_proc')
  return last.ranks === 2 && isForTwo ? [...sizes, { ...last, leastRanks: 3, ranks: 3 }] : sizes
}

/** Returns the algorithm, the fan-out and the bytes of a segment. */
function ruleOf(
  one: RuledFunction,
  { algorithm, parameters }: TuningSetting,
  where: string,
): readonly [number, number, number] {
  const number = one.algorithms.indexOf(algorithm) + 1
  if (number === 0) return [0, 0, 0]
  for (const [name, value] of Object.entries(parameters)) {
    const isSaid = name === 'segment' || name === 'fanout' || (name === 'radix' && value === 4)
    if (!isSaid && value !== 0) throw refusal(`${where}: rules cannot say ${name}=${value} of ${algorithm}`)
  }
  const fanout = parameters['fanout'] ?? (algorithm === 'chain' ? defaultFanout : 0)
  return [number, fanout, parameters['segment'] ?? 0]
}

/** Returns why a setting could break a correct program, or null. */
function reasonToLeave(
  { name, algorithms, reorders, cuts, isSizeIgnored }: RuledFunction,
  { algorithm, parameters }: TuningSetting,
  ranks: number,
  isBySize: boolean,
): LeftRule | null {
  if (algorithm === defaultAlgorithm) return null
  if (!algorithms.includes(algorithm)) return { why: `${name} does not have it` }
  if (algorithm === 'two_proc' && ranks !== 2) return { why: 'it is for 2 ranks' }
  if (reorders.includes(algorithm)) return { why: 'it reorders operands', unless: 'commutative' }
  const isCut = (parameters['segment'] ?? 0) > 0 || cuts?.includes(algorithm) === true
  if (cuts !== null && isCut)
    return { why: 'it cuts by the datatype of each rank', unless: 'equal-arguments' }
  if (isSizeIgnored && isBySize)
    return { why: 'ignored arguments in place would choose', unless: 'equal-arguments' }
  return null
}

/** Checks that every algorithm is in one of the functions; one function of two may lack it. */
function checkAlgorithms(
  collective: string,
  { settings }: DecisionTree,
  known: readonly RuledFunction[],
): void {
  const names = ['default', ...known.flatMap(({ algorithms }) => algorithms)]
  const other = settings.findIndex(({ algorithm }) => !names.includes(algorithm))
  if (other < 0) return
  const where = `decisions.${collective}.settings[${other}].algorithm`
  throw refusal(
    `${where}: expected one of Open MPI 4.1: ${names.join(', ')}, got ${settings[other].algorithm}`,
  )
}

function refusal(message: string): RankweaveError {
  return new RankweaveError('ERR_TUNING', message)
}
