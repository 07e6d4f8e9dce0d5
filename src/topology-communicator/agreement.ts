import { hashText } from '../base/hash.js'
import { formatMachine, machineFacts } from '../machine/format-machine.js'
import type { Machine } from '../machine/machine.js'
import { type AutoStrategy, formatAuto, isAuto } from '../neighborhood/choose/auto.js'
import { formatStrategy, type Strategy } from '../neighborhood/strategies/strategies.js'

/**
 * Returns what ranks agree on besides the name of the call: the strategy as text, which errors show, and a hash. The
 * hash differs almost surely when ranks pass different machines or other arguments.
 *
 * @param machine of the options; undefined stands for the machine of the world, which all processes have, or for its
 *   nodes
 */
export function agreementOf(
  strategy: Strategy | AutoStrategy,
  machine: Machine | undefined,
  others: readonly (string | number)[],
): { readonly op: string; readonly extra: number } {
  const text = [
    machine === undefined ? 'of the world' : formatMachine(machine),
    // The costs of the machine decide what `auto` chooses.
    isAuto(strategy) && machine !== undefined ? machineFacts(machine) : '',
    ...others,
  ].join(' ')
  return { op: isAuto(strategy) ? formatAuto(strategy) : formatStrategy(strategy), extra: hashText(text) }
}
