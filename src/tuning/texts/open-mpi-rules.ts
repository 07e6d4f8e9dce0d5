import { RankweaveError } from '../../errors.js'
import type { Collective } from '../../schedule/specification.js'
import type { DecisionTree } from '../models/decision-tree.js'
import { type TuningFile, treeOfDecisions } from '../models/tuning-file.js'
import { defaultAlgorithm, settingLine, type TuningSetting } from '../settings/setting.js'
import {
  type LayoutSteps,
  layoutSteps,
  type MeasuredLayout,
  type RuleAssumption,
  stepsByRanks,
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
 * The functions of Open MPI 4.1 and 5.0. Every rank of a gather and a scatter computes the size from its own arguments, some of
 * which MPI leaves open. In rules of several sizes, ranks could take different ones and deadlock.
 */
const functions: Partial<Record<Collective, readonly RuledFunction[]>> = {
  allgather: [
    ruled('allgather', 0, 'linear bruck recursive_doubling ring neighbor two_proc sparbit', {
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

/** The algorithms of Open MPI 5.0 that earlier versions lack. */
const laterAlgorithms: readonly string[] = ['sparbit']

/**
 * Returns the names of the algorithms of a collective in a version of Open MPI up to 5.0; null for a collective without
 * rules.
 *
 * @param library such as `Open MPI 4.1.4`
 */
export function openMpiAlgorithms(collective: Collective, library: string): readonly string[] | null {
  const isEarly = /^Open MPI [1-4]\./.test(library)
  const names = functions[collective]?.flatMap(({ algorithms }) => algorithms) ?? null
  return names && [...new Set(names)].filter((name) => !isEarly || !laterAlgorithms.includes(name))
}

/** The children of a node of `chain`, unless a setting names their number. */
const defaultFanout = 4

/**
 * The fan-out of `bruck`, which 4.1 and 5.0 do not read. Open MPI 6 takes it as the radix, and a radix of 0 never ends.
 */
const fanoutOfBruck = 2

/** The library's own choice in place of a setting; `unless` names the statement by the user that the setting needs. */
interface LeftRule {
  readonly why: string
  readonly unless?: RuleAssumption
}

/** A setting for calls of so many bytes and more, as rules state it. */
interface Rule {
  /** The least size, which is the bytes of a call or those of all ranks, as the function has it. */
  readonly fromSize: number
  readonly setting: TuningSetting
  /** The numbers of the setting, or those of the library's own choice. */
  readonly numbers: RuleNumbers
  readonly left: LeftRule | null
}

interface RuleNumbers {
  readonly algorithm: number
  readonly fanout: number
  readonly segmentBytes: number
  readonly requests: number
}

const ownChoice: RuleNumbers = { algorithm: 0, fanout: 0, segmentBytes: 0, requests: 0 }

/** The rules of a function for some numbers of ranks. */
interface RankRules extends Pick<LayoutSteps, 'leastRanks' | 'greatestRanks'> {
  readonly rules: readonly Rule[]
}

/**
 * Returns the decisions of a tuning file as rules of Open MPI 4.1 and 5.0: the file that
 * `coll_tuned_dynamic_rules_filename` names, with `coll_tuned_use_dynamic_rules` 1. Rules know ranks and bytes, but no nodes, so they are written for
 * layouts.
 *
 * A rule has the number 0, the library's own choice, for the setting `default` and where a setting cannot serve. So it
 * has where a setting would break correct programs: with wrong results, a deadlock, or an error.
 *
 * @param assumed what holds for all programs that use the file; it permits further settings
 * @throws ERR_TUNING for a file of another source; for what rules cannot express: tests of an operation or its order,
 *   sizes of gather and scatter, a radix other than 4, a number of requests; for algorithms that the source does not
 *   have
 * @see Open MPI 4.1, ompi/mca/coll/tuned/coll_tuned_dynamic_file.c, coll_tuned_decision_dynamic.c
 */
export function openMpiRules(
  file: TuningFile,
  layout: WrittenLayout,
  assumed: readonly RuleAssumption[] = [],
): WrittenRules {
  const { source } = file
  if (source.kind !== 'mpi' || !/^Open MPI (4\.1|5\.0)\./.test(source.name))
    throw refusal(`source.name: expected Open MPI 4.1 or 5.0, got ${source.name} (${source.kind})`)
  const blocks = ruledTrees(file).map(({ one, tree, where }) => ({
    one,
    sizes: functionRules(one, tree, layoutSteps(tree, layout, where), assumed),
  }))
  for (const { sizes } of blocks)
    for (const { numbers, setting } of sizes.flatMap(({ rules }) => rules))
      if (numbers.requests !== 0)
        throw refusal(
          `decisions.${setting.collective}: rules cannot say requests=${numbers.requests} of ${setting.algorithm}`,
        )
  const head = [
    `# ${source.name} on ${source.machine}`,
    `# nodes: ${layout.nodes.join(', ')}; processes of each: ${layout.processesPerNode}`,
    ...(assumed.length === 0 ? [] : [`# assumed of all programs: ${assumed.join(', ')}`]),
    `${blocks.length} # collectives`,
  ]
  const lines = blocks.flatMap(({ one, sizes }) => [
    `${one.number} # ${one.name}`,
    `${sizes.length} # numbers of ranks`,
    ...sizes.flatMap(({ leastRanks, rules }) => [
      `${leastRanks} # from this number of ranks on`,
      `${rules.length} # sizes`,
      ...rules.map(ruleLine),
    ]),
  ])
  return {
    text: `${[...head, ...lines].join('\n')}\n`,
    left: countLeft(blocks.flatMap(({ sizes }) => sizes)),
  }
}

function ruleLine({ fromSize, numbers, setting, left }: Rule): string {
  const { algorithm, fanout, segmentBytes } = numbers
  const note = left === null ? '' : `, left to the library: ${left.why}`
  return `${fromSize} ${algorithm} ${fanout} ${segmentBytes} # ${settingLine(setting)}${note}`
}

function countLeft(sizes: readonly RankRules[]): WrittenRules['left'] {
  const rules = sizes.flatMap((each) => each.rules)
  const leftFor = (name: RuleAssumption) => rules.filter(({ left }) => left?.unless === name).length
  return { commutative: leftFor('commutative'), 'equal-arguments': leftFor('equal-arguments') }
}

/**
 * Returns the decisions of a tuning file as the JSON form of rules, which Open MPI reads from 6.0 on; 5.0 and 4.1 do not
 * have it. These rules also know communicators on a single node and those with one rank a node. Layouts of both kinds
 * decide for these; the layouts with more nodes and `processesPerNode` decide for all others. Where no such layout was
 * measured, the library chooses. `MPI_COMM_WORLD` never counts as one with one rank a node, because Open MPI finds that
 * out for later communicators only.
 *
 * @param assumed as in {@link openMpiRules}
 * @throws ERR_TUNING as openMpiRules does, but requests can be said, and sources are Open MPI 4.1, 5 and 6
 * @see Open MPI 6.0, ompi/mca/coll/tuned/coll_tuned_dynamic_file.c. The file docs/tuning-apps/
 *   tuned_dynamic_file_schema.json lacks `seg_size`, and has names for reduce_scatter that the reader does not know.
 */
export function openMpiJsonRules(
  file: TuningFile,
  layouts: readonly MeasuredLayout[],
  processesPerNode: number,
  assumed: readonly RuleAssumption[] = [],
): WrittenRules {
  const { source } = file
  if (source.kind !== 'mpi' || !/^Open MPI (4\.1|5|6)\./.test(source.name))
    throw refusal(`source.name: expected Open MPI 4.1, 5 or 6, got ${source.name} (${source.kind})`)
  const distributions = {
    'single-node': layouts.filter(({ nodes }) => nodes === 1),
    'one-per-node': layouts.filter(
      (one) => one.nodes > 1 && one.processesPerNode === 1 && processesPerNode !== 1,
    ),
    any: layouts.filter((one) => one.nodes > 1 && one.processesPerNode === processesPerNode),
  }
  const written = ruledTrees(file).map(({ one, tree, where }) => ({
    name: one.name,
    sizes: Object.entries(distributions).flatMap(([distribution, some]) => {
      if (some.length === 0) return []
      const ascending = some.toSorted((a, b) => ranksOf(a) - ranksOf(b))
      const rules = functionRules(one, tree, stepsByRanks(tree, ascending, where), assumed)
      return rules.map((each) => ({ ...each, distribution }))
    }),
  }))
  const collectives = Object.fromEntries(
    written.map(({ name, sizes }) => [
      name,
      sizes.map(({ leastRanks, greatestRanks, distribution, rules }) => ({
        comm_size_min: leastRanks,
        ...(greatestRanks === null ? {} : { comm_size_max: greatestRanks }),
        comm_rank_distribution: distribution,
        rules: rules.map(jsonRule),
      })),
    ]),
  )
  const rules = { rule_file_version: 3, module: 'tuned', collectives }
  return {
    text: `${JSON.stringify(rules, null, 1)}\n`,
    left: countLeft(written.flatMap(({ sizes }) => sizes)),
  }
}

function ranksOf({ nodes, processesPerNode }: MeasuredLayout): number {
  return nodes * processesPerNode
}

/**
 * Returns a rule of the JSON form. The first rule that holds is taken, so each one also has its greatest size. Zeros are
 * defaults, so they are left out.
 */
function jsonRule({ fromSize, numbers }: Rule, i: number, rules: readonly Rule[]): object {
  const { algorithm, fanout, segmentBytes, requests } = numbers
  return {
    msg_size_min: fromSize,
    ...(i + 1 < rules.length ? { msg_size_max: rules[i + 1].fromSize - 1 } : {}),
    alg: algorithm,
    ...(fanout > 0 ? { faninout: fanout } : {}),
    ...(segmentBytes > 0 ? { seg_size: segmentBytes } : {}),
    ...(requests > 0 ? { reqs: requests } : {}),
  }
}

/** Returns the functions of decisions, each with its tree and its place for messages. */
function ruledTrees({ source, decisions }: TuningFile) {
  return Object.entries(decisions).flatMap(([collective, learned]) => {
    const tree = treeOfDecisions(learned)
    const known = functions[collective as Collective]
    if (known === undefined) throw refusal(`decisions.${collective}: rules cannot say ${collective}`)
    checkAlgorithms(collective, tree, openMpiAlgorithms(collective as Collective, source.name)!)
    return known.map((one) => ({ one, tree, where: `decisions.${collective}` }))
  })
}

function ruled(name: string, number: number, algorithms: string, traits: FunctionTraits): RuledFunction {
  return { name, number, algorithms: algorithms.split(' '), ...traits }
}

function functionRules(
  one: RuledFunction,
  tree: DecisionTree,
  steps: readonly LayoutSteps[],
  assumed: readonly RuleAssumption[],
): readonly RankRules[] {
  const where = `decisions.${tree.settings[0].collective}`
  return withTwoOnly(steps, tree).map(({ leastRanks, greatestRanks, ranks, steps }) => {
    if (one.size === 'none' && steps.length > 1 && one.name !== 'barrier')
      throw refusal(`${where}: expected one setting for ${ranks} ranks: rules of ${one.name} know no bytes`)
    const used = one.size === 'none' ? steps.slice(0, 1) : steps
    const rules = used.map(({ fromBytes, setting: index }): Rule => {
      const setting = tree.settings[index]
      const numbers = numbersOf(one, setting, where)
      const reason = reasonToLeave(one, setting, ranks, used.length > 1)
      const left = reason?.unless !== undefined && assumed.includes(reason.unless) ? null : reason
      return {
        fromSize: one.size === 'total' ? fromBytes * ranks : fromBytes,
        setting,
        numbers: left === null ? numbers : ownChoice,
        left,
      }
    })
    return { leastRanks, greatestRanks, rules }
  })
}

/** Returns the steps of all rules. The last one holds for all numbers of ranks above, so `two_proc` cannot serve it. */
function withTwoOnly(sizes: readonly LayoutSteps[], tree: DecisionTree): readonly LayoutSteps[] {
  const last = sizes[sizes.length - 1]
  const isForTwo = last.steps.some(({ setting }) => tree.settings[setting].algorithm === 'two_proc')
  if (last.ranks !== 2 || !isForTwo) return sizes
  return [...sizes.slice(0, -1), { ...last, greatestRanks: 2 }, { ...last, leastRanks: 3, ranks: 3 }]
}

function numbersOf(one: RuledFunction, { algorithm, parameters }: TuningSetting, where: string): RuleNumbers {
  const number = one.algorithms.indexOf(algorithm) + 1
  if (number === 0) return ownChoice
  for (const [name, value] of Object.entries(parameters)) {
    const isSaid = ['segment', 'fanout', 'requests'].includes(name) || (name === 'radix' && value === 4)
    if (!isSaid && value !== 0) throw refusal(`${where}: rules cannot say ${name}=${value} of ${algorithm}`)
  }
  const isBruck = one.name === 'allgather' && algorithm === 'bruck'
  return {
    algorithm: number,
    fanout: isBruck ? fanoutOfBruck : (parameters['fanout'] ?? (algorithm === 'chain' ? defaultFanout : 0)),
    segmentBytes: parameters['segment'] ?? 0,
    requests: parameters['requests'] ?? 0,
  }
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
function checkAlgorithms(collective: string, { settings }: DecisionTree, known: readonly string[]): void {
  const names = [defaultAlgorithm, ...known]
  const other = settings.findIndex(({ algorithm }) => !names.includes(algorithm))
  if (other < 0) return
  const where = `decisions.${collective}.settings[${other}].algorithm`
  throw refusal(
    `${where}: expected an algorithm of Open MPI's rules, ${names.join(', ')}, got ${settings[other].algorithm}`,
  )
}

function refusal(message: string): RankweaveError {
  return new RankweaveError('ERR_TUNING', message)
}
