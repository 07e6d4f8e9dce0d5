import { algorithmOf } from '../../src/collective/algorithms.js'
import { scheduleOf } from '../../src/collective/patterns/schedule-of.js'
import { simulate } from '../../src/cost/simulate/simulate.js'
import { parseMachine } from '../../src/machine/machine-text.js'
import { plan } from '../../src/neighborhood/plan/plan.js'
import type { Schedule } from '../../src/schedule/ir.js'
import { lower } from '../../src/schedule/lower/lower.js'
import { upTo } from '../../src/schedule/specification.js'
import { buildTopology } from '../../src/topology/files/topology-from-spec.js'
import { type Bench, type BenchOptions, type Figure, ownFigure } from '../bench.js'
import { compareAlongDimensions, compareWithSimgrid } from '../simgrid/compare.js'
import { predictedAndMeasured } from './predicted.js'
import { printedRows } from './printed-rows.js'

const runs = 9

/** Simulated times compared with SimGrid's, and how long a simulation takes. */
export const simulateBench: Bench = {
  name: 'simulate',
  question: 'How close are simulated times to those of another simulator, and what does a simulation cost?',
  async *measure(options = {}) {
    for (const [name, measure] of Object.entries(suites)) {
      if (name.startsWith(options.only ?? '')) yield* measure(options)
    }
  },
}

const suites: Readonly<Record<string, (options: BenchOptions) => Iterable<Figure> | AsyncIterable<Figure>>> =
  {
    speed,
    printed: printedRows,
    predicted: predictedAndMeasured,
    simgrid: compareWithSimgrid,
    dimensions: compareAlongDimensions,
  }

/** 4,096 ranks with 80 messages each. */
function* speed({ quick = false }: BenchOptions): Iterable<Figure> {
  const moore = (): Schedule => plan(buildTopology('moore:64x64:r=4'), { kind: 'direct' }).schedule
  const pipeline = (): Schedule => scheduleOf(algorithmOf('allreduce-tree'), { ranks: 4096, segments: 40 })
  const cases = [
    { name: 'moore:64x64:r=4 direct', make: moore, on: 'cluster:nodes=256,cores=16', target: 500 },
    { name: 'moore:64x64:r=4 direct', make: moore, on: 'torus:dims=8x8x4,cores=16', target: null },
    { name: 'allreduce-tree segments=40', make: pipeline, on: 'cluster:nodes=256,cores=16', target: null },
  ] as const
  for (const { name, make, on, target } of cases) {
    const machine = parseMachine(`${on},profile=simgrid-fast`)
    const schedule = make()
    const placement = upTo(schedule.specification.ranks)
    const lowered = lower(schedule, placement)
    const options = { bytes: 4096 }
    const times: { readonly lowering: number[]; readonly simulating: number[] } = {
      lowering: [],
      simulating: [],
    }
    simulate(lowered, machine, options)
    for (let run = 0; run < (quick ? 3 : runs); run++) {
      const begin = performance.now()
      lower(schedule, placement)
      const middle = performance.now()
      simulate(lowered, machine, options)
      times.lowering.push(middle - begin)
      times.simulating.push(performance.now() - middle)
    }
    const messages = lowered.programs.reduce((sum, { send }) => sum + send.peer.length, 0)
    yield ownFigure(`${name}, ${on}: simulation`, 'ms', times.simulating, target, { messages })
    yield ownFigure(`${name}, ${on}: lowering`, 'ms', times.lowering, null, { messages })
  }
}
