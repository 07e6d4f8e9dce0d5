import { clos } from '../../src/machine/clos.js'
import type { Machine } from '../../src/machine/machine.js'
import { networkOf } from '../../src/machine/network.js'
import { simgridFast } from '../../src/machine/profiles/simgrid-profiles.js'
import { torus } from '../../src/machine/torus.js'
import type { Hockney } from '../../src/models/formulas/parameters.js'
import { predictUs } from '../../src/models/predict.js'
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

/** Sack 2011, chapter 3: the bytes that pass the most loaded link, in units of the block of one rank. */
function* congestion(): Iterable<Figure> {
  const cube = torus({ dims: [8, 8, 8], profile: simgridFast })
  // Bits by the load of their links, the most loaded first; dimension Z before Y before X.
  const optimal = volume(cube, [8, 5, 2, 7, 4, 1, 6, 3, 0])
  // A last exchange puts the blocks in order; it is charged by the bisection: an eighth of the longest dimension is 4 links.
  const shuffle = 8 / 4
  yield reproduced(
    'torus 8x8x8, optimal allgather: bytes on the busiest link / n',
    'blocks',
    optimal + shuffle,
    576,
  )
  const bandwidth = (375 * 511) / (optimal + shuffle)
  yield reproduced('torus 8x8x8, optimal allgather at 375 MB/s per link', 'MB/s', bandwidth, 332.7)
  const tree = clos({ radix: 40, levels: 2, nodesPerLeaf: 32, nodes: 1024, profile: simgridFast })
  const bits = Array.from({ length: 10 }, (_, bit) => bit)
  yield reproduced('Clos, P = 1024, T = 32, mu = 1/4: doubling', 'blocks', volume(tree, bits), 3999)
  // Its last exchange is charged n / mu.
  yield reproduced(
    'Clos, P = 1024, T = 32, mu = 1/4: halving',
    'blocks',
    volume(tree, bits.toReversed()) + 4,
    1120,
  )
}

/** An allgather in which stage s exchanges 2^s blocks with the rank that differs in bit `bits[s]`. */
function volume(machine: Machine, bits: readonly number[]): number {
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
