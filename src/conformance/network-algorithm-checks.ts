import { algorithms } from '../collective/algorithms.js'
import type { Algorithm } from '../collective/patterns/algorithm.js'
import { ceilLog2 } from '../collective/patterns/rank-operations.js'
import { torus } from '../machine/torus.js'
import { checkOfCollective } from './algorithm-checks.js'
import { type Draw, drawn, ranksOf, shuffled } from './collective-oracles.js'
import type { WorldCase } from './world-case.js'

/**
 * A torus with short extents, so that few processes have several dimensions, and with more cores than a world of a test
 * has ranks.
 */
const smallTorus = torus({ dims: [2, 2, 3, 4, 4, 4], cores: 1 })

const lengths = [0, 1, 5, 40, 3000]

const settingsPerRound = 6

/**
 * The algorithms that follow the network with drawn settings, on the line of the processes and on a torus. The settings
 * are orders of bits, 1 to 6 ports, shuffles and doubling, for all ranks and for some in another order. Settings that a
 * network does not admit are refused on all ranks.
 */
export const networkAlgorithmChecks: readonly WorldCase[] = algorithms
  .filter(({ followsGrid }) => followsGrid === true)
  .map((algorithm, n) => ({
    name: `algorithm ${algorithm.id} with drawn settings`,
    settings: [{}, { machine: smallTorus }],
    async check(world, { seed, rounds, expected }) {
      for (let round = 0; round < rounds; round++) {
        const pick = drawn(seed, 700 + n, round)
        const keys = shuffled(ranksOf(world), pick)
        const most = 1 + pick(world.size)
        const part = await world.split(world.rank < most ? 0 : null, keys[world.rank])
        for (let i = 0; i < settingsPerRound; i++) {
          const comm = i % 2 === 0 ? world : part
          const size = i % 2 === 0 ? world.size : most
          const text = drawnSetting(
            algorithm,
            Math.min(size, expected.processes),
            i < 2 ? 1 : 1 + pick(6),
            pick,
          )
          const given = { slot: (seed % 1000) + i, length: lengths[pick(lengths.length)], root: pick(size) }
          const segments = pick(3) === 0 ? { segments: 1 + pick(8) } : {}
          if (comm !== null)
            await checkOfCollective.get(algorithm.collective)!(comm, { algorithm: text, ...segments }, given)
        }
        await part?.free()
      }
    },
  }))

/** @param processes an upper bound */
function drawnSetting({ id, parameters }: Algorithm, processes: number, ports: number, pick: Draw): string {
  const bits = Math.max(1, ceilLog2(processes) + pick(2))
  const order = [
    'network',
    'doubling',
    'halving',
    'path',
    shuffled(
      Array.from({ length: bits }, (_, bit) => bit),
      pick,
    ).join('.'),
  ]
  const values: Readonly<Record<string, string | number>> = {
    ports,
    order: order[pick(order.length)],
    doubling: pick(2),
    shuffle: pick(2),
  }
  const settings = Object.keys(parameters!).map((name) => `${name}=${values[name]}`)
  return `${id}:${settings.join(',')}`
}
