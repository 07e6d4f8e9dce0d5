import { parseMachine } from '../src/machine/machine-text.js'
import { plan } from '../src/neighborhood/plan/plan.js'
import { formatStrategy, type Strategy } from '../src/neighborhood/strategies/strategies.js'
import { verify } from '../src/schedule/verify/verify.js'
import { buildTopology } from '../src/topology/files/topology-from-spec.js'
import { type Bench, ownFigure } from './bench.js'

interface Case {
  readonly topology: string
  readonly machine?: string
  readonly strategy: Strategy
  /** Target milliseconds for the construction; null for none. */
  readonly target: number | null
  /** Samples, if not `usualRuns`. */
  readonly runs?: number
}

const niagara = 'cluster:nodes=103,cores=40'
const graham = 'cluster:nodes=32,cores=32'
const combine = (k: number, mode: 'agnostic' | 'aware'): Strategy => ({ kind: 'common-neighbor', k, mode })

const cases: readonly Case[] = [
  { topology: 'moore:64x64:r=4', strategy: { kind: 'direct' }, target: null },
  { topology: 'moore:64x64:r=4', machine: niagara, strategy: combine(2, 'aware'), target: 1000 },
  { topology: 'moore:64x64:r=4', machine: niagara, strategy: combine(4, 'aware'), target: 1000 },
  { topology: 'moore:64x64:r=4', machine: niagara, strategy: combine(8, 'aware'), target: 1000 },
  { topology: 'moore:64x64:r=4', strategy: combine(4, 'agnostic'), target: null },
  { topology: 'er:1024:d=0.2:seed=1', machine: graham, strategy: combine(2, 'aware'), target: null },
  { topology: 'er:1024:d=0.4:seed=1', machine: graham, strategy: combine(4, 'aware'), target: 5000 },
  // 3.4 GiB, so there is one plan at a time: the one that is verified.
  { topology: 'moore:1024x1024:r=2', strategy: { kind: 'routed' }, target: 20_000, runs: 1 },
]

const usualRuns = 9

/** Planning: grouping and schedule. */
export const planBench: Bench = {
  name: 'plan',
  question: 'How long does it take to plan a neighbor allgather?',
  async *measure() {
    for (const { topology: spec, machine: text, strategy, target, runs = usualRuns } of cases) {
      const topology = buildTopology(spec)
      const options = text === undefined ? {} : { machine: parseMachine(text) }
      const first = plan(topology, strategy, options)
      if (!verify(first.schedule, topology).ok) throw new Error(`${spec}: the plan does not verify`)
      const samples =
        runs === 1
          ? [first.planMs]
          : Array.from({ length: runs }, () => plan(topology, strategy, options).planMs)
      const how =
        strategy.kind === 'common-neighbor' ? `k=${strategy.k} ${strategy.mode}` : formatStrategy(strategy)
      yield ownFigure(`${spec} ${how}`, 'ms', samples, target, {
        ranks: topology.ranks,
        edges: topology.outRank.length,
      })
    }
  },
}
