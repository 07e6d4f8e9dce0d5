import { hashIntegers } from '../comm/calls/signature.js'
import { formatMachine, type Machine } from '../machine/machine.js'
import type { ProcessTopology } from '../topology/process-topology.js'
import { topologyHash } from '../topology/topology-hash.js'
import type { Strategy } from './plan/strategy.js'
import { formatStrategy } from './plan/strategy-text.js'

/** A word that differs, almost surely, when ranks pass different strategies, machines or other things. */
export function agreementOf(
  strategy: Strategy,
  machine: Machine | undefined,
  others: readonly (string | number)[],
): number {
  const said = [
    formatStrategy(strategy),
    machine === undefined ? 'nodes of the world' : formatMachine(machine),
    ...others,
  ].join(' ')
  return hashText(said)
}

const fingerprints = new WeakMap<ProcessTopology, string>()

/** All of a topology: neighbors, weights, shape. Found once per object, however many ranks pass it. */
export function fingerprint(topology: ProcessTopology): string {
  let found = fingerprints.get(topology)
  if (found === undefined) {
    const { cart, inWeight, outWeight } = topology
    const shape = cart === null ? '' : `${cart.dims.join('x')}:${cart.periods.join()}`
    found = [topologyHash(topology), shape, weightHash(inWeight), weightHash(outWeight)].join(' ')
    fingerprints.set(topology, found)
  }
  return found
}

function weightHash(weights: Float64Array | null): number {
  if (weights === null) return 0
  return hashIntegers(new Int32Array(weights.slice().buffer))
}

/** Every rank comes by here, so no array is made of the text. */
function hashText(text: string): number {
  let hash = 0x811c9dc5
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193)
  return hash
}
