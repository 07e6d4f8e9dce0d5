import { requireKnownOptions } from '../base/known-options.js'
import { type OptionTable, uncheckedOptions } from '../base/option.js'
import { givenOptions } from '../base/option-table.js'
import { RankweaveError, shown, wrongValue } from '../errors.js'
import { formatMachine } from '../machine/format-machine.js'
import { isMachine, type Machine } from '../machine/machine.js'
import { type MappingObjective, mappingObjectives, simulatedTime } from '../topology/mapping/objectives.js'

/** Options of renumbering ranks. All ranks pass the same. */
export interface ReorderOptions {
  /**
   * The objective that the mapping minimizes. Default `pairs`: the data that leave a node if those for all ranks of a
   * node are sent once.
   */
  readonly objective?: MappingObjective
  /**
   * Nodes of the ranks, and hops between them. Default: the machine of the topology's options, else that of the world,
   * else the world's nodes.
   */
  readonly machine?: Machine
}

const knownOptions: OptionTable<ReorderOptions> = uncheckedOptions('objective', 'machine')

/**
 * Returns the options of a reordering; null if none is wanted.
 *
 * @throws ERR_ARGUMENT, ERR_MACHINE
 */
export function reorderOptions(
  given: boolean | ReorderOptions | undefined,
  machine: Machine | undefined,
): ReorderOptions | null {
  if (given === undefined || given === false) return null
  const byDefault = machine === undefined ? {} : { machine }
  if (given === true) return byDefault
  requireKnownOptions('reorder', given, knownOptions)
  const { objective, machine: own } = given
  if (objective !== undefined && !mappingObjectives.includes(objective)) {
    // That objective needs a strategy, a block length and many simulations, while all ranks wait.
    const remedy = objective === (simulatedTime as string) ? ' (that one is for rankweave map)' : ''
    const expected = `reorder, objective: expected one of ${mappingObjectives.join(', ')}`
    throw new RankweaveError('ERR_ARGUMENT', `${expected}, got ${shown(objective)}${remedy}`)
  }
  if (own !== undefined && !isMachine(own))
    throw wrongValue('ERR_MACHINE', 'reorder: expected a machine', own)
  return { ...byDefault, ...givenOptions(given) }
}

/** Returns the text on which ranks agree. */
export function reorderText(reorder: ReorderOptions | null): string {
  if (reorder === null) return ''
  const { objective = 'pairs', machine } = reorder
  return `reorder ${objective} ${machine === undefined ? '' : formatMachine(machine)}`
}
