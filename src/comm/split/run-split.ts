import type { Exchange } from '../collective-engine.js'
import type { CommState } from '../comm-state.js'
import { collectiveWord, type SlotExchange } from '../exchange.js'
import type { SplitAlgorithm, SplitPart, SplitRequest } from './algorithm.js'
import { splitConventionally } from './conventional.js'
import { splitByMerging } from './merging.js'
import { SplitMeter } from './meter.js'
import { splitByParallelSort } from './parallel-sort.js'
import type { SplitAlgorithmName, SplitPlan } from './plan.js'

const algorithms: Readonly<Partial<Record<SplitAlgorithmName, SplitAlgorithm>>> = {
  conventional: splitConventionally,
  merging: splitByMerging,
  'parallel-sort': splitByParallelSort,
}

/** Runs a split as planned, within a collective of the parent. */
export async function runSplit(
  parent: CommState,
  exchange: Exchange,
  request: SplitRequest,
  plan: SplitPlan,
): Promise<readonly SplitPart[]> {
  const meter = new SplitMeter()
  const seq = (exchange as SlotExchange).header[collectiveWord.seq]!
  const parts = await algorithms[plan.algorithm]!({
    parent,
    exchange: meter.counting(exchange),
    seq,
    request,
    plan,
    meter,
  })
  meter.leave()
  return parts
}
