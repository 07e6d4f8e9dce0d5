import { RankweaveError } from '../errors.js'
import type { Collective } from '../schedule/specification.js'
import { layoutSteps, type WrittenLayout } from './decision-steps.js'
import type { DecisionTree } from './decision-tree.js'
import { settingLine, type TuningSetting } from './setting.js'
import type { TuningFile } from './tuning-file.js'

/** What a function of Open MPI has in a file of rules. */
interface RuledFunction {
  readonly name: string
  /** Its number in the enumeration of collectives. */
  readonly number: number
  /** From 1 on. */
  readonly algorithms: readonly string[]
  /** What the size in a rule is: the bytes of a call, or those of all ranks; of no data there is one rule. */
  readonly size: 'bytes' | 'total' | 'none'
}

/**
 * The functions of Open MPI 4.1. Every rank of a gather and a scatter computes the size from its own arguments, of
 * which MPI lets some be anything: in rules of several sizes ranks could take different ones and deadlock.
 */
const functions: Partial<Record<Collective, readonly RuledFunction[]>> = {
  allgather: [ruled('allgather', 0, 'linear bruck recursive_doubling ring neighbor two_proc', 'total')],
  allreduce: [
    ruled('allreduce', 2, 'basic_linear nonoverlapping recursive_doubling ring segmented_ring rabenseifner'),
  ],
  alltoall: [ruled('alltoall', 3, 'linear pairwise modified_bruck linear_sync two_proc', 'total')],
  barrier: [ruled('barrier', 6, 'linear double_ring recursive_doubling bruck two_proc tree', 'none')],
  bcast: [
    ruled(
      'bcast',
      7,
      'basic_linear chain pipeline split_binary_tree binary_tree binomial knomial scatter_allgather ' +
        'scatter_allgather_ring',
    ),
  ],
  gather: [ruled('gather', 9, 'basic_linear binomial linear_sync', 'none')],
  reduce: [ruled('reduce', 11, 'linear chain pipeline binary binomial in-order_binary rabenseifner')],
  'reduce-scatter': [
    ruled('reduce_scatter', 12, 'non-overlapping recursive_halving ring butterfly', 'total'),
    ruled('reduce_scatter_block', 13, 'basic_linear recursive_doubling recursive_halving butterfly', 'total'),
  ],
  scatter: [ruled('scatter', 15, 'basic_linear binomial linear_nb', 'none')],
}

function ruled(
  name: string,
  number: number,
  algorithms: string,
  size: RuledFunction['size'] = 'bytes',
): RuledFunction {
  return { name, number, algorithms: algorithms.split(' '), size }
}

/** Children of a node of `chain`, unless a setting names their number. */
const defaultFanout = 4

/**
 * The decisions of a tuning file as rules of Open MPI 4.1: the file that `coll_tuned_dynamic_rules_filename` names,
 * with `coll_tuned_use_dynamic_rules` 1. Rules know ranks and bytes, but no nodes, so they are written for layouts.
 *
 * A rule has the number 0, the library's own choice, for the setting `default` and where a setting cannot serve.
 *
 * @throws ERR_TUNING for a file of another source; for what rules cannot say: tests of an operation or its order, sizes
 *   of gather and scatter, a radix other than 4, a number of requests; for algorithms that Open MPI 4.1 does not have
 * @see Open MPI 4.1, ompi/mca/coll/tuned/coll_tuned_dynamic_file.c
 */
export function openMpiRules({ source, decisions }: TuningFile, layout: WrittenLayout): string {
  if (source.kind !== 'mpi' || !/^Open MPI 4\.1\./.test(source.name))
    throw refusal(`source.name: expected Open MPI 4.1, got ${source.name} (${source.kind})`)
  const blocks = Object.entries(decisions).flatMap(([collective, tree]) => {
    const known = functions[collective as Collective]
    if (known === undefined) throw refusal(`decisions.${collective}: rules cannot say ${collective}`)
    checkAlgorithms(collective, tree, known)
    return known.map((one) => functionRules(one, tree, layout))
  })
  const head = [
    `# ${source.name} on ${source.machine}`,
    `# for ${layout.nodes.join(', ')} nodes of ${layout.processesPerNode} processes`,
    `${blocks.length} # collectives`,
  ]
  return `${[...head, ...blocks.flat()].join('\n')}\n`
}

function functionRules(one: RuledFunction, tree: DecisionTree, layout: WrittenLayout): readonly string[] {
  const where = `decisions.${tree.settings[0].collective}`
  const sizes = layoutSteps(tree, layout, where)
  const lines = [`${one.number} # ${one.name}`, `${sizes.length} # numbers of ranks`]
  for (const { leastRanks, ranks, steps } of sizes) {
    if (one.size === 'none' && steps.length > 1 && one.name !== 'barrier')
      throw refusal(`${where}: expected one setting for ${ranks} ranks: rules of ${one.name} know no bytes`)
    const used = one.size === 'none' ? steps.slice(0, 1) : steps
    lines.push(`${leastRanks} # from this number of ranks on`, `${used.length} # sizes`)
    for (const { fromBytes, setting } of used) {
      const size = one.size === 'total' ? fromBytes * ranks : fromBytes
      const named = tree.settings[setting]
      lines.push(`${[size, ...ruleOf(one, named, ranks, where)].join(' ')} # ${settingLine(named)}`)
    }
  }
  return lines
}

/** Algorithm, fan-out and bytes of a segment. */
function ruleOf(
  one: RuledFunction,
  setting: TuningSetting,
  ranks: number,
  where: string,
): readonly [number, number, number] {
  const { algorithm, parameters } = setting
  const number = one.algorithms.indexOf(algorithm) + 1
  if (number === 0 || (algorithm === 'two_proc' && ranks !== 2)) return [0, 0, 0]
  for (const [name, value] of Object.entries(parameters)) {
    const isSaid = name === 'segment' || name === 'fanout' || (name === 'radix' && value === 4)
    if (!isSaid && value !== 0) throw refusal(`${where}: rules cannot say ${name}=${value} of ${algorithm}`)
  }
  const fanout = parameters['fanout'] ?? (algorithm === 'chain' ? defaultFanout : 0)
  return [number, fanout, parameters['segment'] ?? 0]
}

/** Every algorithm is of one of the functions; one function of two may lack it. */
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
