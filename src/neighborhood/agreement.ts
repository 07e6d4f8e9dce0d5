import type { Machine } from '../machine/machine.js'
import { formatMachine } from '../machine/text/format-machine.js'
import { type AutoStrategy, formatAuto, isAuto } from './choose/auto.js'
import { machineFacts } from './choose/machine-facts.js'
import type { Strategy } from './plan/strategy.js'
import { formatStrategy } from './plan/strategy-text.js'

/** A hash that differs, almost surely, when ranks pass different strategies, machines or other arguments. */
export function agreementOf(
  strategy: Strategy | AutoStrategy,
  machine: Machine | undefined,
  others: readonly (string | number)[],
): number {
  const text = [
    isAuto(strategy) ? formatAuto(strategy) : formatStrategy(strategy),
    machine === undefined ? 'nodes of the world' : formatMachine(machine),
    // Costs decide what is chosen.
    isAuto(strategy) ? machineFacts(machine!) : '',
    ...others,
  ].join(' ')
  return hashText(text)
}

/** Every rank computes it, so no array is made of the text. */
function hashText(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return hash
}
