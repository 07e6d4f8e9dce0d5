import { requireKnownOptions } from '../base/known-options.js'
import { type OptionTable, uncheckedOptions } from '../base/option.js'
import { givenOptions } from '../base/option-table.js'
import { RankweaveError, shown, wrongValue } from '../errors.js'
import { formatMachine } from '../machine/format-machine.js'
import { isMachine, type Machine } from '../machine/machine.js'
import { type MappingObjective, mappingObjectives, simulatedTime } from '../topology/mapping/objectives.js'

/** How ranks are renumbered. All ranks pass the same. */
export interface ReorderOptions {
  /** What becomes small. Default `pairs`: what leaves a node, where ranks of one node are sent data once. */
  readonly objective?: MappingObjective
  /**
   * Nodes of the ranks, and hops between them. Default: the machine of the topology's options, else that of the world,
   * else the world's nodes.
   */
  readonly machine?: Machine
}

const knownOptions: OptionTable<ReorderOptions> = uncheckedOptions('objective', 'machine')

/**
 * The options of a reordering; null where none is wanted.
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
    // It needs a strategy, a block length and many simulations, while all ranks wait.
    const remedy = objective === (simulatedTime as string) ? ' (that one is for rankweave map)' : ''
    const expected = `reorder, objective: expected one of ${mappingObjectives.join(', ')}`
    throw new RankweaveError('ERR_ARGUMENT', `${expected}, got ${shown(objective)}${remedy}`)
  }
  if (own !== undefined && !isMachine(own))
    throw wrongValue('ERR_MACHINE', 'reorder: expected a machine', own)
  return { ...byDefault, ...givenOptions(given) }
}

/** What ranks agree on. */
export function reorderText(reorder: ReorderOptions | null): string {
  if (reorder === null) return ''
  const { objective = 'pairs', machine } = reorder
  return `reorder ${objective} ${machine === undefined ? '' : formatMachine(machine)}`
}
