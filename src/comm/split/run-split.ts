import type { Exchange } from '../../calls/exchange.js'
import { splitConventionally } from './conventional.js'
import type {
  AwaitingAlgorithm,
  SplitAlgorithm,
  SplitOrigin,
  SplitParent,
  SplitPart,
  SplitRequest,
} from './split-call.js'
import { SplitMeter } from './split-meter.js'
import type { SplitAlgorithmName, SplitPlan } from './split-plan.js'

/** Loaded by the first call that runs it: inside a call, so that calls keep their order. */
const awaiting =
  (load: () => Promise<AwaitingAlgorithm>): SplitAlgorithm =>
  async (call, done): Promise<undefined> => {
    const algorithm = await load()
    const parts = await algorithm(call)
    if (!call.exchange.hasFailed) done(parts)
    // No communicator will use it.
    else for (const { table } of parts) if (table.kind === 'distributed') table.slices.settle()
  }

const algorithms: Readonly<Record<SplitAlgorithmName, SplitAlgorithm>> = {
  conventional: splitConventionally,
  merging: awaiting(async () => (await import('./merging.js')).splitByMerging),
  'parallel-sort': awaiting(async () => (await import('./parallel-sort.js')).splitByParallelSort),
  'sample-sort': awaiting(async () => (await import('./sample-sort.js')).splitBySampleSort),
  minimal: awaiting(async () => (await import('./minimal.js')).splitMinimally),
}

export interface SplitOutcome {
  readonly parts: readonly SplitPart[]
  readonly origin: SplitOrigin
}

/** Runs a planned split within a collective of the parent. @param done as with a {@link SplitAlgorithm} */
export function runSplit(
  parent: SplitParent,
  exchange: Exchange,
  request: SplitRequest,
  plan: SplitPlan,
  done: (outcome: SplitOutcome) => void,
): Promise<undefined> | undefined {
  const meter = new SplitMeter()
  const call = { parent, exchange: meter.counting(exchange), request, plan, meter }
  return algorithms[plan.algorithm](call, (parts) => {
    meter.leave()
    done({ parts, origin: { plan, meter } })
  })
}
