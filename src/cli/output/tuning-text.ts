import type { LearnedDecisions } from '../../tuning/learning/learn-decisions.js'
import {
  decideByQuadtree,
  type Quadtree,
  quadtreeBytes,
  quadtreeStatistics,
} from '../../tuning/learning/quadtree.js'
import type { PenaltyReport } from '../../tuning/measured/penalty.js'
import { callText } from '../../tuning/settings/tuning-call.js'
import { cQuadtree } from '../../tuning/texts/decision-code.js'
import { columns, counted } from './reporter.js'

/** Returns the decisions, and their penalties, as lines of text. */
export function tuningText(learned: readonly LearnedDecisions[]): string {
  const [{ combined } = { combined: null }] = learned
  const texts = learned.map(collectiveText)
  if (combined === null) return texts.join('\n\n')
  const { cases, leavesBeforePruning, leaves, trainingErrors, predictedErrors } = combined
  const shape = `${counted(leavesBeforePruning, 'leaf', 'leaves')} before pruning, ${counted(leaves, 'leaf', 'leaves')} after`
  const errors = `${counted(trainingErrors, 'error', 'errors')} in ${counted(cases, 'case', 'cases')}, ${predictedErrors.toFixed(1)} expected`
  return [`one tree: ${shape}; ${errors}`, ...texts].join('\n\n')
}

function collectiveText({ collective, data, leaves, quadtree, ...penalties }: LearnedDecisions): string {
  const { training, heldOut, default: byDefault } = penalties
  const counts = [
    counted(data.calls.length, 'call', 'calls'),
    counted(data.settings.length, 'setting', 'settings'),
    counted(leaves, 'leaf', 'leaves'),
  ]
  const rows: readonly (readonly [name: string, report: PenaltyReport | null])[] = [
    ['training set', training],
    [
      heldOut === null ? 'held-out points' : `held-out points, ${heldOut.folds.length} folds`,
      heldOut?.heldOut ?? null,
    ],
    ['default', byDefault],
  ]
  const head = ['penalty', 'min', 'mean', 'median', 'max', 'missing']
  const table = columns([head, ...rows.map(([name, report]) => [name, ...penaltyCells(report)])])
  const worst = heldOut?.heldOut.worst ?? training.worst
  const where = worst === null ? '' : `\n  most is lost at ${callText(worst)}`
  const decided = heldOut?.heldOut ?? training
  const isWorse = byDefault !== null && decided.meanPercent > byDefault.meanPercent
  const warning = isWorse ? `\n  the tree loses more than the default: ${remedy}` : ''
  const shape = quadtree === null ? '' : `\n  ${quadtreeText(quadtreeOutcome(quadtree))}`
  return `${collective}: ${counts.join(', ')}\n${table}${where}${warning}${shape}`
}

/**
 * Returns a quadtree by the tables of its source: its shape, its bytes there, its C and the time of a decision here.
 */
function quadtreeOutcome(tree: Quadtree) {
  const statistics = quadtreeStatistics(tree)
  return {
    ...{ side: tree.side, ...statistics },
    memoryBytes: quadtreeBytes(statistics.nodes, tree.side, tree.settings.length),
    codeBytes: cQuadtree(tree, 'decide').length,
    nsPerDecision: nsPerDecision(tree),
  }
}

function quadtreeText(of: ReturnType<typeof quadtreeOutcome>): string {
  const shape = `${counted(of.leaves, 'leaf', 'leaves')}, ${counted(of.nodes, 'node', 'nodes')}, depth ${of.minDepth} to ${of.maxDepth}, mean ${of.meanDepth.toFixed(2)}`
  const bytes = `${counted(of.memoryBytes, 'byte', 'bytes')}, ${counted(of.codeBytes, 'byte', 'bytes')} of C`
  return `quadtree of ${of.side} x ${of.side} cells: ${shape}; ${bytes}; ${of.nsPerDecision.toFixed(1)} ns a decision`
}

/** Returns the least of several rounds of decisions over the values of both axes, in this process. */
function nsPerDecision(tree: Quadtree): number {
  const { processes, bytes } = tree
  let least = Number.POSITIVE_INFINITY
  for (let round = 0; round < 9; round++) {
    let decisions = 0
    const begin = performance.now()
    while (decisions < 10_000)
      for (const P of processes) {
        for (const m of bytes) decideByQuadtree(tree, P, m)
        decisions += bytes.length
      }
    least = Math.min(least, (1e6 * (performance.now() - begin)) / decisions)
  }
  return least
}

/** Advice for noisy times, or few calls. */
const remedy = 'measure more calls, for longer'

function penaltyCells(report: PenaltyReport | null): string[] {
  if (report === null) return ['-', '-', '-', '-', '-']
  const { minPercent, meanPercent, medianPercent, maxPercent, missing } = report
  const percent = (value: number) => (Number.isNaN(value) ? '-' : `${value.toFixed(1)}%`)
  return [...[minPercent, meanPercent, medianPercent, maxPercent].map(percent), String(missing)]
}

/** Returns the decisions as plain data. */
export function tuningOutcome(learned: readonly LearnedDecisions[]) {
  return learned.map(
    ({ collective, data, leaves, quadtree, combined, training, heldOut, default: byDefault }) => ({
      ...{ collective, calls: data.calls.length, settings: data.settings.length, leaves, training },
      heldOut:
        heldOut === null
          ? null
          : { ...heldOut.heldOut, folds: heldOut.folds.map(({ processes }) => processes) },
      default: byDefault,
      ...(quadtree === null ? {} : { quadtree: quadtreeOutcome(quadtree) }),
      ...(combined === null ? {} : { combined: { ...combined, tree: undefined } }),
    }),
  )
}
