import { seededRandom } from '../../src/base/random.js'
import { ruleOf } from '../../src/calls/plan/default-rule.js'
import type { Collective } from '../../src/schedule/specification.js'
import { type BoostedTrees, growBoostedTrees, predictedCallUs } from '../../src/tuning/online/learn-grid.js'
import { formulaMachine, simulatedLevels } from '../../src/tuning/online/simulated-application.js'
import { callKey, type TuningCall } from '../../src/tuning/settings/tuning-call.js'
import { type Figure, ownFigure } from '../bench.js'
import { askXgboost, missingXgboost, type Sample } from './xgboost.js'

const noise = 0.1

/** Observations of each call and setting. */
const perPoint = 10

/**
 * Regressors of online tuning and those of XGBoost, from the same noisy times of a machine by formula: what they predict,
 * compared with its true times, and how long they take. Without XGBoost: ours alone, and the reason.
 */
export function* comparedRegressors(collective: Collective, quick: boolean): Generator<Figure> {
  const machine = formulaMachine('two levels', simulatedLevels, [collective], ruleOf)
  const seen = gridOf(collective, [2, 4, 8, 16, 32], [1, 8, 32], quick ? 6 : 3)
  const between = gridOf(collective, [3, 12, 24], [4, 16], 5).map((call) => ({
    ...call,
    bytes: Math.round(1.3 * call.bytes),
  }))
  const draw = seededRandom(2023)
  const kept = machine.settings
    .slice(0, quick ? 4 : undefined)
    .filter((setting) => seen.every((call) => Number.isFinite(machine.timeUs(setting, call))))
  const samples = kept.map((setting): Sample => {
    const calls = seen.flatMap((call) => Array.from({ length: perPoint }, () => call))
    return {
      calls,
      timesUs: calls.map((call) => machine.timeUs(setting, call) * Math.exp(noise * normal(draw))),
    }
  })
  const truth = (points: readonly TuningCall[]) =>
    kept.map((setting) => points.map((call) => machine.timeUs(setting, call)))
  const all = [...seen, ...between]
  const ours = askOurs(samples, all)
  const missing = missingXgboost()
  const theirs = missing === null ? askXgboost(samples, all) : null
  const what = `${collective}, ${kept.length} regressors of ${samples[0].calls.length} times`
  const shown = theirs === null ? `without XGBoost: ${missing}` : `XGBoost ${theirs.version}`
  const parts = [
    ['sizes that were learned', 0, seen],
    ['sizes between them', seen.length, between],
  ] as const
  for (const [name, first, points] of parts) {
    const errorOf = (predictions: readonly (readonly number[])[] | undefined) =>
      predictions === undefined
        ? null
        : meanError(
            predictions.map((ofSetting) => ofSetting.slice(first, first + points.length)),
            truth(points),
          )
    yield compared(
      `${what}: mean error against the truth, ${name}`,
      '%',
      errorOf(ours.predictions)!,
      errorOf(theirs?.predictions),
      shown,
    )
  }
  if (theirs !== null) {
    const difference = meanError(ours.predictions, theirs.predictions)
    yield ownFigure(`${what}: mean difference of both`, '%', [difference], null)
  }
  yield compared(`${what}: training`, 'ms', ours.trainMs, theirs?.trainMs ?? null, shown)
  const asked = `${what}: ${all.length} predictions of each`
  yield compared(asked, 'ms', ours.predictMs, theirs?.predictMs ?? null, shown)
}

function compared(name: string, unit: string, ours: number, peer: number | null, shown: string): Figure {
  const ratio = peer === null ? null : ours / peer
  return { ...ownFigure(name, unit, [ours], null, { shown }), peer, ratio, peerIs: 'XGBoost' }
}

/** As `learnGrid` has them: equal points added up. */
function askOurs(samples: readonly Sample[], points: readonly TuningCall[]) {
  const sums = { trainMs: 0, predictMs: 0 }
  const predictions = samples.map((sample) => {
    const began = performance.now()
    const regressor = regressorOf(sample)
    const grown = performance.now()
    const made = points.map(({ bytes, nodes, processesPerNode }) =>
      predictedCallUs(regressor, bytes, nodes, processesPerNode),
    )
    sums.predictMs += performance.now() - grown
    sums.trainMs += grown - began
    return made
  })
  return { ...sums, predictions }
}

function regressorOf({ calls, timesUs }: Sample): BoostedTrees {
  const points = new Map<string, { call: TuningCall; count: number; sum: number }>()
  for (const [i, call] of calls.entries()) {
    const key = callKey(call)
    const point = points.get(key)
    if (point === undefined) points.set(key, { call, count: 1, sum: timesUs[i] })
    else {
      point.count++
      point.sum += timesUs[i]
    }
  }
  const all = [...points.values()]
  const column = (value: (call: TuningCall) => number) => Float64Array.from(all, ({ call }) => value(call))
  return growBoostedTrees({
    features: [
      column((call) => call.bytes),
      column((call) => call.nodes),
      column((call) => call.processesPerNode),
    ],
    counts: Float64Array.from(all, ({ count }) => count),
    sums: Float64Array.from(all, ({ sum }) => sum),
  })
}

/** Mean distance of the ratio from 1, in percent. */
function meanError(
  predictions: readonly (readonly number[])[],
  expected: readonly (readonly number[])[],
): number {
  const errors = predictions.flatMap((ofSetting, i) =>
    ofSetting.map((value, j) => Math.abs(value / expected[i][j] - 1)),
  )
  return (100 * errors.reduce((sum, error) => sum + error, 0)) / errors.length
}

/** Calls of 8 B to 2 MiB, by so many octaves. */
function gridOf(
  collective: Collective,
  nodes: readonly number[],
  perNode: readonly number[],
  octaves: number,
): TuningCall[] {
  const sizes = Array.from({ length: Math.floor(18 / octaves) + 1 }, (_, i) => 2 ** (3 + octaves * i))
  return nodes.flatMap((count) =>
    perNode.flatMap((processesPerNode) =>
      sizes.map((bytes) => ({ collective, nodes: count, processesPerNode, bytes })),
    ),
  )
}

/** A draw of the normal distribution (Box and Muller). */
function normal(draw: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - draw())) * Math.cos(2 * Math.PI * draw())
}
