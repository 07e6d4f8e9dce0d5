import { execFileSync } from 'node:child_process'
import type { TuningCall } from '../../src/tuning/settings/tuning-call.js'

/** Debian's, which finds Debian's package `python3-xgboost`. */
const python = '/usr/bin/python3'

/** What one regressor learns from: observations in microseconds. */
export interface Sample {
  readonly calls: readonly TuningCall[]
  readonly timesUs: readonly number[]
}

/** What XGBoost made of samples. */
export interface XgboostAnswer {
  readonly version: string
  /** Of all samples together. */
  readonly trainMs: number
  readonly predictMs: number
  /** By sample, then by point: microseconds. */
  readonly predictions: readonly (readonly number[])[]
}

/** Why XGBoost cannot be run here, or null. */
export function missingXgboost(): string | null {
  try {
    execFileSync(python, ['-c', 'import numpy, xgboost'], { stdio: 'ignore' })
    return null
  } catch {
    return `no module xgboost of ${python}: install Debian's package python3-xgboost`
  }
}

/**
 * Trains a regressor of XGBoost on each sample, with the objective and the number of trees of ours and in one thread,
 * and asks it for points. Times leave out what goes in and out of Python.
 */
export function askXgboost(samples: readonly Sample[], points: readonly TuningCall[]): XgboostAnswer {
  const input = JSON.stringify({
    samples: samples.map(({ calls, timesUs }) => ({ x: calls.map(featuresOf), y: timesUs })),
    points: points.map(featuresOf),
  })
  const output = execFileSync(python, ['-c', program], { input, encoding: 'utf8', maxBuffer: 2 ** 28 })
  return JSON.parse(output) as XgboostAnswer
}

function featuresOf({ bytes, nodes, processesPerNode }: TuningCall): readonly number[] {
  return [bytes, nodes, processesPerNode]
}

const program = `
import json, sys, time
import numpy, xgboost
given = json.load(sys.stdin)
options = {'objective': 'reg:tweedie', 'tree_method': 'exact', 'nthread': 1, 'verbosity': 0}
points = numpy.array(given['points'], dtype=numpy.float64)
train = predict = 0
predictions = []
for sample in given['samples']:
    x, y = numpy.array(sample['x'], dtype=numpy.float64), numpy.array(sample['y'])
    begin = time.perf_counter()
    model = xgboost.train(options, xgboost.DMatrix(x, label=y), 200)
    middle = time.perf_counter()
    made = model.predict(xgboost.DMatrix(points))
    predict += time.perf_counter() - middle
    train += middle - begin
    predictions.append([float(value) for value in made])
print(json.dumps({'version': xgboost.__version__, 'trainMs': 1000 * train, 'predictMs': 1000 * predict,
                  'predictions': predictions}))
`
