import { smallestOf } from '../../src/base/search.js'
import { TunedCalls, tunedSegments } from '../../src/calls/plan/tuned-calls.js'
import { modeledAlgorithmOf } from '../../src/cost/models/modeled-algorithms.js'
import { predictUs } from '../../src/cost/models/predict.js'
import type { CostModel } from '../../src/cost/models/terms.js'
import type { CommContext } from '../../src/messages/process/comm-context.js'
import { decisionMap } from '../../src/tuning/learning/decision-map.js'
import { learnTree } from '../../src/tuning/learning/learn-tree.js'
import { learnLeastPenaltyTree } from '../../src/tuning/learning/least-penalty-tree.js'
import { decideByQuadtree, decisionTreeOf, learnQuadtree } from '../../src/tuning/learning/quadtree.js'
import { bestCases, tolerantCases } from '../../src/tuning/learning/training-cases.js'
import type { MeasuredData } from '../../src/tuning/measured/measured-data.js'
import { heldOutPenalty, penaltyOf } from '../../src/tuning/measured/penalty.js'
import { treeLeaves, treeSelector } from '../../src/tuning/models/decision-tree.js'
import { formatTuningFile, readTuningFile } from '../../src/tuning/models/read-tuning-file.js'
import { type Attribute, callProcesses, type TuningCall } from '../../src/tuning/settings/tuning-call.js'
import { cDecisions, cQuadtree } from '../../src/tuning/texts/decision-code.js'
import { type Bench, type Figure, median, ownFigure } from '../bench.js'
import { comparedRegressors } from './boosting.js'
import { compiledTimes } from './compiled.js'
import { j48Tree, missingWeka, withoutCounts } from './j48.js'
import { treeText } from './tree-text.js'
import { formulaMap, grigHockney, grigLogGP } from './tuning-maps.js'

/**
 * Do learned decisions hold? Suites: `j48` compares trees with those of Weka's C4.5, line by line; `held-out` learns
 * from times by formula with 5% noise; `look-up` times decisions, compared with
 * generated C, and all that a call does to find its setting in a tuning file; `models` has what decisions by formulas lose on the same times, and how long they take;
 * `boosting` compares regressors of online tuning with those of XGBoost.
 */
export const tuningBench: Bench = {
  name: 'tuning',
  question:
    'Are decision trees those of J48, what do they lose on held-out points, how long is a decision, and are regressors those of XGBoost?',
  async *measure({ quick = false, only = '' } = {}) {
    const maps = (['allgather', 'bcast'] as const).map((name) => ({ name, data: formulaMap(name, 0.05) }))
    for (const { name, data } of maps) {
      if ('j48'.startsWith(only)) yield* comparedTrees(name, data, quick)
      if ('held-out'.startsWith(only)) yield* heldOut(name, data)
      if ('look-up'.startsWith(only)) yield* lookUps(name, data)
      if ('look-up'.startsWith(only)) yield* callLookUps(name, data)
      if ('models'.startsWith(only)) yield* byModels(name, data)
    }
    if ('boosting'.startsWith(only))
      for (const name of ['allreduce', 'bcast'] as const) yield* comparedRegressors(name, quick)
  },
}

const attributes: readonly Attribute[] = [
  ...(['processes', 'bytes', 'totalBytes', 'evenProcesses', 'powerOfTwoProcesses'] as const),
]

function* comparedTrees(name: string, data: MeasuredData, quick: boolean): Generator<Figure> {
  const missing = missingWeka()
  const cases = bestCases(data)
  const options = [2, 6, 20].flatMap((minCases) => [null, 25, 5].map((percent) => ({ minCases, percent })))
  for (const { minCases, percent } of options.slice(0, quick ? 2 : undefined)) {
    const { tree } = learnTree(cases, data.settings, { minCases, confidencePercent: percent, attributes })
    const ours = treeText(tree).split('\n').map(withoutCounts)
    const what = `${name}, ${cases.length} cases, -m ${minCases} ${percent === null ? 'not pruned' : `-c ${percent}`}`
    if (missing !== null) {
      yield { ...ownFigure(what, '% of lines', [0], 100, { failed: missing }), ours: null, met: false }
      continue
    }
    const theirs = j48Tree(cases, data.settings, attributes, minCases, percent).split('\n')
    const common = commonLines(ours, theirs)
    const same = (100 * common) / Math.max(ours.length, theirs.length)
    // J48 prunes by an approximation of the limit that is exact in ours. With it in ours, all lines are equal.
    const target = percent === null ? 100 : null
    const details = { targetIs: 'at least', lines: ours.length, linesOfJ48: theirs.length }
    yield {
      ...ownFigure(`${what}: lines equal to J48's`, '%', [same], target, details),
      met: target === null ? null : same >= target,
    }
  }
}

/** Lines that two trees have in common: the longest common subsequence. */
function commonLines(a: readonly string[], b: readonly string[]): number {
  let row = new Int32Array(b.length + 1)
  for (const line of a) {
    const next = new Int32Array(b.length + 1)
    for (let j = 1; j <= b.length; j++)
      next[j] = line === b[j - 1] ? row[j - 1] + 1 : Math.max(row[j], next[j - 1])
    row = next
  }
  return row[b.length]
}

function* heldOut(name: string, data: MeasuredData): Generator<Figure> {
  const byC45 = [0, 2, 5, 10].map((tolerance) => {
    const learn = (training: MeasuredData) => {
      const cases = tolerance === 0 ? bestCases(training) : tolerantCases(training, tolerance)
      return learnTree(cases, training.settings).tree
    }
    return [`C4.5, tolerance ${tolerance}%`, learn] as const
  })
  const byPenalty = ['least penalty', (training: MeasuredData) => learnLeastPenaltyTree(training)] as const
  for (const [learner, learn] of [byPenalty, ...byC45]) {
    const report = heldOutPenalty(data, (training) => treeSelector(learn(training)))
    const details = {
      trainingPercent: report.training.meanPercent,
      missing: report.heldOut.missing,
      leaves: treeLeaves(learn(data)).length,
    }
    const shown = `training ${details.trainingPercent.toFixed(2)}%, ${details.leaves} leaves, ${details.missing} missing`
    const what = `${name}, ${learner}: mean penalty on held-out points`
    yield ownFigure(what, '%', [report.heldOut.meanPercent], 5, { ...details, shown })
  }
}

function* lookUps(name: string, data: MeasuredData): Generator<Figure> {
  const quadtree = learnQuadtree(decisionMap(data))
  const tree = learnTree(bestCases(data), data.settings).tree
  const tests = decisionTreeOf(quadtree)
  const call = '&(decide_call){.nodes = processes[i], .processes_per_node = 1, .bytes = bytes[i]}'
  const rows = [
    ['tree', treeSelector(tree), 100, cDecisions(tree, 'decide'), `decide(${call})`],
    ['quadtree as tests', treeSelector(tests), 100, cDecisions(tests, 'decide'), `decide(${call})`],
    [
      'quadtree',
      ({ nodes, bytes }: TuningCall) => decideByQuadtree(quadtree, nodes, bytes),
      null,
      cQuadtree(quadtree, 'decide'),
      'decide(processes[i], bytes[i])',
    ],
  ] as const
  const order = Array.from(
    { length: data.calls.length },
    (_, i) => data.calls[(i * 7919) % data.calls.length],
  )
  for (const [kind, decide, target, source, expression] of rows) {
    const own = ownFigure(`${name}, ${kind}: a decision`, 'ns', timesOf(decide, order), target)
    const compiled = compiledTimes(source, expression, order)
    const peer = compiled === null ? null : median(compiled)
    yield {
      ...own,
      peer,
      ratio: peer === null || own.ours === null ? null : own.ours / peer,
      peerIs: 'compiled C',
    }
  }
}

/** From what a call knows to an algorithm that serves it, and into how many segments it cuts the data. */
function* callLookUps(name: 'allgather' | 'bcast', data: MeasuredData): Generator<Figure> {
  const { tree } = learnTree(bestCases(data), data.settings)
  const file = readTuningFile(formatTuningFile(data.source, { [name]: tree }))
  const counts = [...new Set(data.calls.map(({ nodes }) => nodes))]
  const tuned: TunedCalls[] = []
  for (const count of counts) tuned[count] = new TunedCalls(file, communicatorOf(count), false)
  const lookUp = ({ nodes, bytes }: TuningCall) => {
    const { setting } = tuned[nodes].leafOf(name, bytes)!
    if (setting.reason !== null) return 0
    const parts = setting.algorithm.parts?.({ ranks: nodes, segments: 1 }) ?? 1
    return tunedSegments(setting, bytes, parts)
  }
  // One communicator after the other, each with its sizes in another order.
  const order = counts.flatMap((count) => {
    const calls = data.calls.filter(({ nodes }) => nodes === count)
    return calls.map((_, i) => calls[(i * 17) % calls.length])
  })
  const times = timesOf(lookUp, order)
  const bytes = allocatedBytes(() => timesOf(lookUp, order, 2 ** 18))
  const shown = `${bytes.toFixed(2)} B allocated`
  yield ownFigure(`${name}, tuning file: the look-up in a call`, 'ns', times, 100, {
    allocatedBytes: bytes,
    shown,
  })
}

/** One process on each of so many nodes, as far as look-ups need a communicator. */
function communicatorOf(count: number): CommContext {
  const nodeOfProcess = Int32Array.from({ length: count }, (_, i) => i)
  return {
    processes: { count, processes: nodeOfProcess },
    runtime: { layout: { nodeOfProcess } },
  } as unknown as CommContext
}

/** Bytes of the heap for each of 9 x 2^18 calls; memory that was collected meanwhile is not counted. */
function allocatedBytes(run: () => unknown): number {
  const before = process.memoryUsage().heapUsed
  run()
  return Math.max(0, process.memoryUsage().heapUsed - before) / (9 * 2 ** 18)
}

function* byModels(name: string, data: MeasuredData): Generator<Figure> {
  const [hockney, loggp] = [grigHockney, grigLogGP].map((model) => fastestBy(data, model))
  for (const [model, select] of Object.entries({ hockney, loggp })) {
    const { meanPercent, medianPercent, maxPercent } = penaltyOf(data, select)
    const shown = `median ${medianPercent.toFixed(2)}%, max ${maxPercent.toFixed(2)}%`
    yield ownFigure(`${name}, ${model}: mean penalty`, '%', [meanPercent], null, {
      medianPercent,
      maxPercent,
      shown,
    })
    const times = timesOf(select, data.calls, 2 ** 12)
    yield ownFigure(`${name}, ${model}: a decision`, 'ns', times, null)
  }
}

/** The setting of a call that is fastest by a model. */
function fastestBy({ settings }: MeasuredData, model: CostModel) {
  return (call: TuningCall): number => {
    const times = settings.map(({ algorithm, parameters: { segment } }) => {
      const ranks = callProcesses(call)
      if ((modeledAlgorithmOf(algorithm).refuses?.(ranks) ?? null) !== null) return Number.POSITIVE_INFINITY
      const cut = segment === undefined || segment === 0 ? {} : { segmentBytes: segment }
      return predictUs(algorithm, model, { ranks, bytes: call.bytes, ...cut })
    })
    return times.indexOf(smallestOf(times))
  }
}

/** Nanoseconds a decision over calls, of 9 runs. */
function timesOf(
  decide: (call: TuningCall) => number,
  calls: readonly TuningCall[],
  decisions = 2 ** 20,
): readonly number[] {
  const rounds = Math.ceil(decisions / calls.length)
  return Array.from({ length: 9 }, () => {
    const began = performance.now()
    let sum = 0
    for (let round = 0; round < rounds; round++) for (const call of calls) sum += decide(call)
    const passed = performance.now() - began
    if (sum < 0) throw new Error('a call has no decision')
    return (passed * 1e6) / (rounds * calls.length)
  })
}
