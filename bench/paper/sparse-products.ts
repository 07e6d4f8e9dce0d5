import { fastestAllgather } from '../../src/cost/choose/choose-algorithm.js'
import { parseMachine } from '../../src/machine/machine-text.js'
import { makeStudy } from '../../src/study/make-study.js'
import { type SparsePattern, topologyFromMatrix } from '../../src/topology/files/sparse-matrix.js'
import { printedRules, randomSizes } from './chapter.js'

/** A matrix of a sparse product, by the name of its file. */
export interface NamedPattern {
  readonly name: string
  readonly pattern: SparsePattern
}

/** A column of B of a product A x B (Figures 7.14 and 7.15): simulated microseconds of its exchange. */
export interface ProductRow {
  readonly matrix: string
  readonly rows: number
  readonly entries: number
  readonly ranks: number
  /** Of a rank's part of the column: 8 per row. */
  readonly bytes: number
  readonly meanDegree: number
  /** The fastest allgather of the whole column, and its algorithm. */
  readonly allgatherUs: number
  readonly allgather: string
  readonly directUs: number
  /** The fastest of the friend groups that could be planned; null where none could. */
  readonly combined: { readonly strategy: string; readonly timeUs: number } | null
}

const coresPerNode = 32
const mostRanks = 1024

/**
 * Exchanges of a product on Graham. Numbers of processes are not printed: 32 ranks per node, at most 1,024,
 * at most one per row.
 */
export function sparseProducts(
  matrices: readonly NamedPattern[],
  {
    planSeconds,
    now,
    onSetting,
  }: {
    readonly planSeconds: number
    readonly now: () => number
    readonly onSetting?: (name: string) => void
  },
): ProductRow[] {
  return matrices.map(({ name, pattern }) => {
    onSetting?.(name)
    const nodes = Math.max(1, Math.floor(Math.min(mostRanks, pattern.rows) / coresPerNode))
    const machine = parseMachine(`cluster:nodes=${nodes},cores=${coresPerNode},profile=graham`)
    const ranks = Math.min(pattern.rows, nodes * coresPerNode)
    const bytes = 8 * Math.ceil(pattern.cols / ranks)
    const topology = topologyFromMatrix(pattern, { ranks })
    const strategies = randomSizes.map((k) => printedRules(k, 'aware'))
    const allgather = fastestAllgather(ranks, machine, bytes)
    const study = makeStudy(topology, machine, { name, bytes: [bytes], strategies, planSeconds, now })
    const [direct, ...combined] = study.strategies.map(({ strategy, simulated }) => ({
      strategy,
      timeUs: simulated[0].timeUs,
    }))
    const least = combined.reduce<ProductRow['combined']>(
      (best, each) => (best === null || each.timeUs < best.timeUs ? each : best),
      null,
    )
    return {
      matrix: name,
      rows: pattern.rows,
      entries: pattern.colIndex.length,
      ranks,
      bytes,
      meanDegree: study.subject.degree.mean,
      allgatherUs: allgather.simulation.timeUs,
      allgather: allgather.algorithm,
      directUs: direct.timeUs,
      combined: least,
    }
  })
}
