import type { Exchange } from '../collective-engine.js'
import type { CommState } from '../comm-state.js'
import type { SplitReport } from '../describe.js'
import { collectiveWord, type SlotExchange } from '../exchange.js'
import type { SplitAlgorithm, SplitPart, SplitRequest } from './algorithm.js'
import { splitConventionally } from './conventional.js'
import { splitByMerging } from './merging.js'
import { SplitMeter } from './meter.js'
import { splitMinimally } from './minimal.js'
import { splitByParallelSort } from './parallel-sort.js'
import type { SplitAlgorithmName, SplitPlan } from './plan.js'
import { splitBySampleSort } from './sample-sort.js'

const algorithms: Readonly<Record<SplitAlgorithmName, SplitAlgorithm>> = {
  conventional: splitConventionally,
  merging: splitByMerging,
  'parallel-sort': splitByParallelSort,
  'sample-sort': splitBySampleSort,
  minimal: splitMinimally,
}

export interface SplitOutcome {
  readonly parts: readonly SplitPart[]
  readonly report: SplitReport
}

/** Runs a split as planned, within a collective of the parent. */
export async function runSplit(
  parent: CommState,
  exchange: Exchange,
  request: SplitRequest,
  plan: SplitPlan,
): Promise<SplitOutcome> {
  const meter = new SplitMeter()
  const seq = (exchange as SlotExchange).header[collectiveWord.seq]!
  const parts = await algorithms[plan.algorithm]({
    parent,
    exchange: meter.counting(exchange),
    seq,
    request,
    plan,
    meter,
  })
  meter.leave()
  const { algorithm, table, sorters, tableGroup, selfHostRows } = plan
  const report: SplitReport = {
    algorithm,
    table,
    sorters,
    tableGroup,
    selfHostRows,
    phases: meter.costs,
    peakBytes: meter.peakBytes,
  }
  return { parts, report }
}
