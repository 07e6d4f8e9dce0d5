import { hashIntegers } from '../base/hash.js'
import { checkTopology, type ProcessTopology } from '../topology/process-topology.js'
import { topologyHash } from '../topology/topology-hash.js'

/** The fingerprints of the topologies that ranks of this thread passed last. */
const recent: { readonly topology: WeakRef<ProcessTopology>; readonly fingerprint: string }[] = []
const capacity = 16

/**
 * Hashes everything in a topology: neighbors, weights, shape. A topology that many ranks of a process pass is checked
 * and hashed once.
 *
 * @throws ERR_TOPOLOGY for a malformed topology
 */
export function checkedFingerprint(topology: ProcessTopology): string {
  const known = recent.find((entry) => entry.topology.deref() === topology)
  if (known !== undefined) return known.fingerprint
  checkTopology(topology)
  const fingerprint = fingerprintOf(topology)
  if (recent.length === capacity) recent.shift()
  recent.push({ topology: new WeakRef(topology), fingerprint })
  return fingerprint
}

function fingerprintOf(topology: ProcessTopology): string {
  const { cart, inWeight, outWeight } = topology
  const shape = cart === null ? '' : `${cart.dims.join('x')}:${cart.periods.join()}`
  return [topologyHash(topology), shape, weightHash(inWeight), weightHash(outWeight)].join(' ')
}

function weightHash(weights: Float64Array | null): number {
  return weights === null ? 0 : hashIntegers(new Int32Array(weights.slice().buffer))
}
