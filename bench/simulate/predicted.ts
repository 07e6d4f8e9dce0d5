import { simulate } from '../../src/cost/simulate/simulate.js'
import { parseMachine } from '../../src/machine/machine-text.js'
import { parseProfile } from '../../src/machine/profile-file.js'
import { plan } from '../../src/neighborhood/plan/plan.js'
import type { Strategy } from '../../src/neighborhood/strategies/strategies.js'
import { buildTopology } from '../../src/topology/files/topology-from-spec.js'
import { type BenchOptions, type Figure, median } from '../bench.js'
import { BuiltPrograms } from '../build-programs.js'
import type { ExchangeCase } from '../programs/exchanges.js'

const [ranks, processes] = [64, 2]
const blockBytes = 4096
const limitSeconds = 120
const runs = 9

const direct: Strategy = { kind: 'direct' }
const combining = (k: number): Strategy => ({ kind: 'common-neighbor', k, mode: 'agnostic' })
const exchanges = [
  { name: 'moore:8x8:r=1 direct', topology: 'moore:8x8:r=1', strategy: direct },
  { name: 'moore:8x8:r=2 direct', topology: 'moore:8x8:r=2', strategy: direct },
  { name: 'moore:8x8:r=2 common-neighbor k=2', topology: 'moore:8x8:r=2', strategy: combining(2) },
  { name: 'moore:8x8:r=3 direct', topology: 'moore:8x8:r=3', strategy: direct },
  { name: 'er:64:d=0.2 direct', topology: 'er:64:d=0.2:seed=1', strategy: direct },
  { name: 'er:64:d=0.5 common-neighbor k=4', topology: 'er:64:d=0.5:seed=1', strategy: combining(4) },
]

/**
 * Neighbor allgathers of 64 ranks on two threads, measured, and simulated on this machine as `calibrate`
 * describes it.
 */
export async function* predictedAndMeasured({ quick = false }: BenchOptions): AsyncIterable<Figure> {
  const built = new BuiltPrograms([])
  try {
    const calibrated = (await built.command(
      ['calibrate', '--fabric', 'threads', '--processes', String(processes), '--json'],
      limitSeconds,
    )) as unknown as { readonly profile: object }
    const profile = parseProfile(
      JSON.stringify({ format: 'rankweave-profile', version: 1, ...calibrated.profile }),
    )
    const machine = parseMachine(`cluster:nodes=1,cores=${processes},profile=${profile.name}`, {
      profiles: [profile],
    })
    const placement = Int32Array.from({ length: ranks }, (_, rank) => Math.floor((rank * processes) / ranks))
    const predicted = exchanges.map(
      ({ topology, strategy }) =>
        simulate(plan(buildTopology(topology), strategy).schedule, machine, { bytes: blockBytes, placement })
          .timeUs,
    )
    const samples: number[][] = exchanges.map(() => [])
    for (let run = 0; run < (quick ? 3 : runs); run++) {
      const args: ExchangeCase[] = exchanges.map(({ name, topology, strategy }) => ({
        ...{ key: name, topology, strategy, bytes: blockBytes },
        ...{ warmUp: 1000, iterations: 100, batches: 21 },
      }))
      const world = { program: 'exchanges', ranks, processes, args }
      const figures = await built.onThreads('exchanges', world, limitSeconds).run()
      for (const [i, { name }] of exchanges.entries()) samples[i].push(figures[name])
    }
    const measured = samples.map(median)
    yield* figuresOf(predicted, measured, samples)
  } finally {
    built.close()
  }
}

function* figuresOf(
  predicted: readonly number[],
  measured: readonly number[],
  samples: readonly (readonly number[])[],
): Iterable<Figure> {
  for (const [i, { name }] of exchanges.entries()) {
    yield {
      case: `${name}, 64 ranks on 2 threads, 4 KiB: predicted, baseline measured`,
      unit: 'us',
      ours: predicted[i],
      peer: measured[i],
      ratio: predicted[i] / measured[i],
      target: null,
      met: null,
      runs: samples[i].length,
      peerBest: Math.min(...samples[i]),
    }
  }
  const errors = predicted.map((time, i) => Math.abs(time / measured[i] - 1) * 100)
  yield summary(
    'predicted times on threads: mean error',
    '%',
    errors.reduce((a, b) => a + b, 0) / errors.length,
    null,
  )
  const swapped: string[] = []
  for (const i of exchanges.keys()) {
    for (const j of exchanges.keys()) {
      // Closer medians differ from run to run.
      if (measured[j] > 1.1 * measured[i] && predicted[i] >= predicted[j])
        swapped.push(`${exchanges[i].name} < ${exchanges[j].name}`)
    }
  }
  const order = summary('measured pairs > 10% apart, predicted in another order', 'pairs', swapped.length, 0)
  yield swapped.length === 0 ? order : { ...order, shown: swapped.join('; ') }
}

function summary(name: string, unit: string, ours: number, target: number | null): Figure {
  const met = target === null ? null : ours <= target
  return { case: name, unit, ours, peer: null, ratio: null, target, met, runs: 1 }
}
