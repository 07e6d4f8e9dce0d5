import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { mulberry32 } from '../src/base/random.js'
import { buildTopology } from '../src/topology/files/topology-from-spec.js'
import { type GroupingEngine, groupingSettings } from '../src/topology/friends/grouping-options.js'
import { exactRound, preparedSolver, prepareEngine } from '../src/topology/grouping/exact-round.js'
import { groupFriends } from '../src/topology/grouping/group-friends.js'
import { ActiveNeighbors } from '../src/topology/grouping/grouping-rounds.js'
import { distinctOut } from '../src/topology/neighbors.js'
import type { ProcessTopology } from '../src/topology/process-topology.js'
import type { Figure } from './bench.js'

/** The folder of the matrices; `RANKWEAVE_MATRICES` names another. */
const matrices =
  process.env['RANKWEAVE_MATRICES'] ?? fileURLToPath(new URL('../test/matrices', import.meta.url))
const matrixNames = ['494_bus', 'ash292', 'bcspwr10', 'bp_1600', 'can_1072', 'dwt_193', 'dwt_2680']

type Draw = (from: number, to: number) => number

/** Families of small topologies, 12 to 24 ranks. */
const families: readonly { readonly name: string; spec(draw: Draw): string }[] = [
  {
    name: 'Moore',
    spec: (draw) => {
      const rows = draw(3, 5)
      return `moore:${rows}x${draw(4, Math.floor(24 / rows))}:r=${draw(1, 2)}`
    },
  },
  { name: 'random sparse', spec: (draw) => `er:${draw(12, 24)}:d=0.${draw(25, 40)}:seed=${draw(1, 1e6)}` },
  { name: 'random dense', spec: (draw) => `er:${draw(12, 20)}:d=0.${draw(60, 80)}:seed=${draw(1, 1e6)}` },
  {
    name: 'matrices',
    spec: (draw) =>
      `mtx:${matrices}/${matrixNames[draw(0, matrixNames.length - 1)]}.mtx:ranks=${draw(12, 24)}`,
  },
]

/** Weight of the first round of greedy and of local search, relative to the maximum weight, theta = k. */
export async function* qualityFigures(instances: number): AsyncIterable<Figure> {
  await prepareEngine('exact')
  for (const { name, spec } of families) {
    if (name === 'matrices' && !existsSync(matrices)) {
      yield figure(name, 0, { failed: `no matrices in ${matrices}: set RANKWEAVE_MATRICES` })
      continue
    }
    for (const k of [2, 3, 4]) {
      const random = mulberry32(k)
      const draw: Draw = (from, to) => from + (random() % (to - from + 1))
      const greedy: number[] = []
      const improved: number[] = []
      // Instances without any group are skipped.
      for (let tried = 0; greedy.length < instances && tried < 20 * instances; tried++) {
        const topology = buildTopology(spec(draw))
        const exact = firstRound(topology, k, 'exact')
        if (exact === 0) continue
        greedy.push(firstRound(topology, k, 'greedy') / exact)
        improved.push(firstRound(topology, k, 'improved') / exact)
      }
      yield figure(`${name} k=${k}`, mean(improved), {
        instances: greedy.length,
        greedy: mean(greedy),
        greedyWorst: Math.min(...greedy),
        improvedWorst: Math.min(...improved),
      })
    }
  }
}

/** Weight of the first round. */
function firstRound(topology: ProcessTopology, k: number, engine: GroupingEngine): number {
  const options = { k, mode: 'aware', nodeOf: new Int32Array(topology.ranks), engine } as const
  if (engine === 'exact') {
    const active = new ActiveNeighbors(distinctOut(topology))
    const groups = exactRound(preparedSolver(), active, groupingSettings(topology.ranks, options))
    return groups.reduce((sum, { common }) => sum + common.length, 0)
  }
  const { step, commonStart } = groupFriends(topology, options)
  const end = step.findIndex((s) => s > 0)
  return commonStart[end < 0 ? step.length : end]
}

function figure(what: string, ours: number, details: Readonly<Record<string, string | number>>): Figure {
  return {
    case: `improved / exact weight, ${what}`,
    unit: 'x',
    ours,
    peer: null,
    ratio: null,
    target: 0.95,
    targetIs: 'at least',
    met: ours >= 0.95,
    runs: 1,
    ...details,
  }
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length
}
