import { fileURLToPath } from 'node:url'
import { hopsBetween } from '../../src/machine/network.js'
import { torus } from '../../src/machine/torus.js'
import { openSourceFile } from '../../src/text/source-file.js'
import { buildTopology } from '../../src/topology/files/topology-from-spec.js'
import { communityStart } from '../../src/topology/mapping/communities.js'
import { type Mapping, mapTopology } from '../../src/topology/mapping/map-topology.js'
import { uniformDistance } from '../../src/topology/mapping/placed-graph.js'
import { type PlacementCosts, placementCosts } from '../../src/topology/mapping/placement-costs.js'
import type { MappingObjective } from '../../src/topology/mapping/problem.js'
import { distinctIn, distinctOut } from '../../src/topology/neighbors.js'
import type { ProcessTopology } from '../../src/topology/process-topology.js'
import { topologyFromEdges } from '../../src/topology/topology-builders.js'
import { type Bench, type Figure, median, ownFigure } from '../bench.js'
import { metis, missingPartitioner, repaired, scotch, type Target } from './partitioners.js'
import { mappedInSimgrid, mappedOnNodes } from './shuffled.js'

/**
 * What leaves nodes by our mapping, and by those of METIS and Scotch with capacities repaired? Suites: `even` and `uneven`
 * nodes by pairs, `torus` by hop-bytes, `large` the time and memory of large graphs. Every mapping is counted alike.
 *
 * And what does a mapping gain? `simgrid`: in another simulator; `nodes`: between processes on four nodes.
 */
export const mappingBench: Bench = {
  name: 'mapping',
  question: 'What leaves the nodes by our mapping, and by those of partitioners of graphs?',
  async *measure(options = {}) {
    const { only = '', quick = false } = options
    for (const suite of suites) if (suite.name.startsWith(only)) yield* compared(suite, quick)
    if ('large'.startsWith(only)) yield* large(quick)
    if ('simgrid'.startsWith(only)) yield* mappedInSimgrid()
    if ('nodes'.startsWith(only)) yield* mappedOnNodes(options)
  },
}

const matrices = fileURLToPath(new URL('../../test/matrices/', import.meta.url))

/** Made symmetric: an edge either way counts as both. */
const graphs: readonly string[] = [
  'moore:64x64:r=2',
  'moore:16x16x16:r=1',
  'cart:64x64:periodic',
  'ws:4096:k=8:p=0.1:seed=2',
  'ws:4096:k=12:p=0.3:seed=9',
  'powerlaw:4096:d=8:gamma=2.3:seed=1',
  'er:4096:d=0.003:seed=5',
  'rgg:4096:r=0.03:seed=3',
  'rmat:4096:d=8:seed=1',
  'mtx:can_1072.mtx:ranks=1072',
  'mtx:dwt_2680.mtx:ranks=2680',
  'mtx:bcspwr10.mtx:ranks=4096',
]

interface Suite {
  readonly name: string
  readonly where: string
  readonly objective: MappingObjective
  /** How many slots each node has. Without a torus the last ones stay free; on a torus every node has its share. */
  readonly slots: readonly number[]
  readonly torus?: readonly number[]
}

const evenSlots = new Array<number>(256).fill(16)
const suites: readonly Suite[] = [
  { name: 'even', where: '256 nodes of 16', objective: 'pairs', slots: evenSlots },
  {
    name: 'uneven',
    where: 'nodes of 8, 16 and 24 in turn',
    objective: 'pairs',
    slots: Array.from({ length: 256 }, (_, node) => [16, 8, 24, 16][node % 4]),
  },
  {
    name: 'torus',
    where: 'a torus of 8 x 8 x 4 nodes of 16',
    objective: 'hop-bytes',
    slots: evenSlots,
    torus: [8, 8, 4],
  },
]

const keys: Readonly<Record<MappingObjective, keyof PlacementCosts>> = {
  ...{ pairs: 'pairs', edges: 'edges', 'hop-bytes': 'hopBytes', 'busiest-node': 'busiestNode' },
}

function* compared(suite: Suite, quick: boolean): Generator<Figure> {
  const { name, where, objective } = suite
  const ratios: number[] = []
  for (const spec of quick ? graphs.slice(0, 3) : graphs) {
    const topology = symmetric(built(spec))
    const capacities = (suite.torus === undefined ? usedSlots : sharedSlots)(suite.slots, topology.ranks)
    const distance =
      suite.torus === undefined ? uniformDistance : hopsBetween(torus({ dims: suite.torus, cores: 16 }))
    const costOf = (nodeOf: Int32Array) => placementCosts(topology, nodeOf, distance)[keys[objective]]
    const nodeOfSlot = capacities.flatMap((size, node) => new Array<number>(size).fill(node))
    const begin = performance.now()
    const communities = communityStart(topology, nodeOfSlot)
    const starts = communities === null ? [] : [communities]
    const { nodeOf, start } = mapTopology(topology, { nodeOfSlot, objective, distance, starts })
    const seconds = (performance.now() - begin) / 1000
    requireCapacities(nodeOf, capacities)
    const others: Record<string, number> = { blocks: costOf(Int32Array.from(nodeOfSlot)) }
    for (const partitioner of [metis, scotch]) {
      const missing = missingPartitioner(partitioner)
      if (missing !== null) {
        yield {
          ...ownFigure(`${name}: ${spec}`, objective, [0], null, { failed: missing }),
          ours: null,
          met: false,
        }
        return
      }
      const target: Target = { capacities, ...(suite.torus === undefined ? {} : { torus: suite.torus }) }
      const parts = partitioner.parts(topology, target).map((part) => repaired(topology, part, target))
      for (const part of parts) requireCapacities(part, capacities)
      others[partitioner.name] = Math.min(...parts.map(costOf))
    }
    const [best, peer] = Object.entries(others).sort(([, a], [, b]) => a - b)[0]
    const ours = costOf(nodeOf)
    const ratio = ours / peer
    ratios.push(ratio)
    const shown = Object.entries(others)
      .map(([other, cost]) => `${other} ${cost}`)
      .join(', ')
    yield {
      ...{ case: `${objective} of ${spec} on ${where}`, unit: objective, ours, peer, ratio, target: 1.03 },
      ...{ met: ratio <= 1.03, runs: 1, baseline: best, start, seconds, shown },
    }
  }
  const mean = Math.exp(ratios.reduce((sum, ratio) => sum + Math.log(ratio), 0) / ratios.length)
  yield ownFigure(
    `${objective} on ${where}: geometric mean of ${ratios.length} ratios`,
    'ratio',
    [mean],
    0.97,
  )
}

function built(spec: string): ProcessTopology {
  return buildTopology(spec, { open: (path) => openSourceFile(`${matrices}${path}`) })
}

function symmetric(topology: ProcessTopology): ProcessTopology {
  const sides = [distinctOut(topology), distinctIn(topology)]
  const [sources, destinations]: [number[], number[]] = [[], []]
  for (let v = 0; v < topology.ranks; v++) {
    const near = new Set(sides.flatMap(({ start, rank }) => [...rank.subarray(start[v], start[v + 1])]))
    for (const u of [...near].sort((a, b) => a - b)) {
      sources.push(v)
      destinations.push(u)
    }
  }
  return topologyFromEdges(topology.ranks, { sources, destinations })
}

/** Slots in order, as many as there are ranks. */
function usedSlots(slots: readonly number[], ranks: number): number[] {
  const used: number[] = []
  for (let free = ranks; free > 0; free -= used.at(-1)!) used.push(Math.min(slots[used.length], free))
  return used
}

/** As many on every node, or one more on the first: Scotch divides ranks among all nodes of a torus. */
function sharedSlots({ length }: readonly number[], ranks: number): number[] {
  return Array.from({ length }, (_, node) => Math.floor(ranks / length) + (node < ranks % length ? 1 : 0))
}

/** Every result is checked before it is counted. */
function requireCapacities(nodeOf: Int32Array, capacities: readonly number[]): void {
  const free = Int32Array.from(capacities)
  for (const node of nodeOf) free[node]--
  if (free.some((slots) => slots !== 0)) throw new Error('expected as many ranks on each node as slots')
}

const largeGraphs = [
  { spec: 'rgg:100000:r=0.0056:seed=1', seconds: 10 },
  { spec: 'moore:1000x1000:r=1', seconds: 100 },
] as const

function* large(quick: boolean): Generator<Figure> {
  for (const { spec, seconds: target } of quick ? largeGraphs.slice(0, 1) : largeGraphs) {
    const topology = built(spec)
    const nodeOfSlot = Int32Array.from({ length: topology.ranks }, (_, slot) => slot >> 4)
    const times: number[] = []
    let mapping: Mapping | undefined
    for (let run = 0; run < (quick ? 1 : 3); run++) {
      const begin = performance.now()
      mapping = mapTopology(topology, { nodeOfSlot })
      times.push((performance.now() - begin) / 1000)
    }
    const { identityCost, cost, start } = mapping!
    const size = `${topology.ranks} ranks, ${topology.outRank.length} edges`
    const gib = process.memoryUsage().rss / 2 ** 30
    const shown = `pairs ${identityCost} to ${cost}, ${start}; ${gib.toFixed(2)} GiB in use`
    yield ownFigure(`mapping of ${spec}, ${size}`, 's', [median(times)], target, { shown })
  }
}
