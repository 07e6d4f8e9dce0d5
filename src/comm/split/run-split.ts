import { whileLoading } from '../../base/turn.js'
import type { Exchange } from '../../calls/exchange/exchange.js'
import { splitConventionally } from './conventional.js'
import type {
  AwaitingAlgorithm,
  SplitAlgorithm,
  SplitOrigin,
  SplitParent,
  SplitPart,
  SplitRequest,
} from './split-call.js'
import { SplitMeter } from './split-call.js'
import type { SplitAlgorithmName, SplitPlan } from './split-plan.js'

type Sorting = Exclude<SplitAlgorithmName, 'conventional'>

const sorting: Readonly<Record<Sorting, () => Promise<AwaitingAlgorithm>>> = {
  merging: async () => (await import('./merging.js')).splitByMerging,
  'parallel-sort': async () => (await import('./parallel-sort.js')).splitByParallelSort,
  'sample-sort': async () => (await import('./sample-sort.js')).splitBySampleSort,
  minimal: async () => (await import('./minimal.js')).splitMinimally,
}

const loaded = new Map<Sorting, AwaitingAlgorithm>()

async function load(name: Sorting): Promise<AwaitingAlgorithm> {
  const algorithm = await whileLoading(sorting[name])
  loaded.set(name, algorithm)
  return algorithm
}

/** Loads the algorithm with the first call: inside the call, so that calls keep their order. */
const awaiting =
  (name: Sorting): SplitAlgorithm =>
  async (call, done): Promise<undefined> => {
    const algorithm = loaded.get(name) ?? (await load(name))
    const parts = await algorithm(call)
    if (!call.exchange.hasFailed) done(parts)
    // No communicator will use the table.
    else for (const { table } of parts) if (table.kind === 'distributed') table.slices.settle()
  }

const algorithms: Readonly<Record<SplitAlgorithmName, SplitAlgorithm>> = {
  conventional: splitConventionally,
  merging: awaiting('merging'),
  'parallel-sort': awaiting('parallel-sort'),
  'sample-sort': awaiting('sample-sort'),
  minimal: awaiting('minimal'),
}

export interface SplitOutcome {
  readonly parts: readonly SplitPart[]
  readonly origin: SplitOrigin
}

/**
 * Runs a planned split within a collective of the parent.
 *
 * @param done as with a {@link SplitAlgorithm}
 */
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
