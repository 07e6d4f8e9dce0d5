import { bitsInOrder } from '../../src/collective/ways/bit-order.js'
import { boxExtents } from '../../src/collective/ways/box.js'
import { closNetwork, congestedCost, torusNetwork } from '../../src/cost/models/congested-cost.js'
import { predictUs } from '../../src/cost/models/predict.js'
import type { Hockney } from '../../src/cost/models/terms.js'
import { simgridFast } from '../../src/machine/built-in-profiles.js'
import { clos } from '../../src/machine/clos.js'
import type { Machine } from '../../src/machine/machine.js'
import { networkOf } from '../../src/machine/network.js'
import { torus } from '../../src/machine/torus.js'
import { closShuffleBytes, doublingStages, torusShuffleBytes } from '../../test/support/published-stages.js'
import type { Figure } from '../bench.js'

/** Figures of papers from our formulas and routes. */
export function* printedRows(): Iterable<Figure> {
  yield* grig()
  yield* congestion()
}

/** Pjesivac-Grbovic 2007, tables 4.2 and 4.12: alpha and beta of Grig on Myrinet MX. */
const grigMx: Hockney = { model: 'hockney', latencyNs: 5640, nsPerByte: 4.2 }

function* grig(): Iterable<Figure> {
  const call = { ranks: 64, bytes: 2 ** 20, segmentBytes: 8192 }
  const printed = {
    'bcast-linear': 322_934,
    'bcast-binary': 10_652,
    'bcast-binomial': 30_756,
    'bcast-split-binary': 7734,
    'bcast-chain': 7609,
  }
  for (const [id, us] of Object.entries(printed))
    yield reproduced(
      `Hockney, Grig MX, 64 ranks, 1 MiB in 8 KiB: ${id}`,
      'us',
      predictUs(id, grigMx, call),
      us,
    )
}

/**
 * Sack 2011, chapter 3: the bytes that pass the busiest link, in blocks of one rank; by formula, and by our
 * routes.
 */
function* congestion(): Iterable<Figure> {
  const dims = [8, 8, 8]
  const order = bitsInOrder('network', boxExtents({ dims, wraps: [true, true, true] }, 512))
  const optimal = congestedCost(torusNetwork(dims), doublingStages(order, 1))
  const shuffle = torusShuffleBytes(dims, 1)
  const bandwidth = (375 * 511) / (optimal.bytes + shuffle)
  yield reproduced('torus 8x8x8, optimal allgather: messages', 'alpha', optimal.messages + 1, 10)
  yield reproduced('torus 8x8x8, optimal allgather: busiest link', 'n delta', optimal.bytes + shuffle, 576)
  yield reproduced('torus 8x8x8, optimal allgather at 375 MB/s per link', 'MB/s', bandwidth, 332.7)
  const cube = torus({ dims, profile: simgridFast })
  yield reproduced('the same by the routes of the machine', 'n delta', busiest(cube, order) + shuffle, 576)

  const network = closNetwork({ nodes: 1024, nodesPerSwitch: 32, taper: 1 / 4 })
  const tree = clos({ radix: 40, levels: 2, nodesPerLeaf: 32, nodes: 1024, profile: simgridFast })
  const doubling = Array.from({ length: 10 }, (_, bit) => bit)
  for (const [name, bits, last, printed] of [
    ['doubling', doubling, 0, 3999],
    ['halving', doubling.toReversed(), closShuffleBytes(1 / 4, 1), 1120],
  ] as const) {
    const { bytes } = congestedCost(network, doublingStages(bits, 1))
    yield reproduced(`Clos, P = 1024, T = 32, mu = 1/4: ${name}`, 'n delta', bytes + last, printed)
    yield reproduced('the same by the routes of the machine', 'n delta', busiest(tree, bits) + last, printed)
  }
}

/** An allgather in which stage s exchanges 2^s blocks with the rank that differs in bit `bits[s]`. */
function busiest(machine: Machine, bits: readonly number[]): number {
  const network = networkOf(machine)
  const into = new Int32Array(network.longestRoute)
  return bits.reduce((sum, bit, stage) => {
    const load = new Int32Array(network.latencyNs.length)
    for (let node = 0; node < network.nodes; node++) {
      const links = network.route(node, node ^ (1 << bit), into)
      for (let i = 0; i < links; i++) load[into[i]]++
    }
    return sum + 2 ** stage * load.reduce((most, count) => Math.max(most, count))
  }, 0)
}

/** Met where both agree to the digits printed. */
function reproduced(name: string, unit: string, ours: number, printed: number): Figure {
  const digits = Number.isInteger(printed) ? 0 : 1
  return {
    case: name,
    unit,
    ours,
    peer: printed,
    ratio: ours / printed,
    target: printed,
    targetIs: 'to the printed digits',
    met: ours.toFixed(digits) === printed.toFixed(digits),
    runs: 1,
  }
}
