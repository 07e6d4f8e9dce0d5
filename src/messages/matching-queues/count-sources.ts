import type { ProcessFacts } from './design.js'
import type { MatchingOperation } from './operation.js'
import { MatchingReplay } from './replay.js'
import type { QueueCounts } from './source-counts.js'
import { ANY_SOURCE } from './wildcards.js'

/**
 * Counts, for designs that start from an earlier run, the elements that a trace adds to each queue.
 *
 * @throws ERR_ARGUMENT for a malformed operation
 * @see Ghazimirsaeed 2019 chapter 3 (a row of the profiling matrices of both queues)
 */
export function countSources(trace: Iterable<MatchingOperation>, facts: ProcessFacts): QueueCounts {
  const counts = { posted: new Map<number, Float64Array>(), unexpected: new Map<number, Float64Array>() }
  const replay = new MatchingReplay({ name: 'index' }, facts)
  for (const operation of trace) {
    const wasMatched = replay.apply(operation) >= 0
    if (wasMatched || (operation.kind !== 'post' && operation.kind !== 'arrive')) continue
    const { kind, context, source } = operation
    if (source === ANY_SOURCE) continue
    const rows = counts[kind === 'post' ? 'posted' : 'unexpected']
    const row = rows.get(context) ?? new Float64Array(facts.processes)
    rows.set(context, row)
    row[source]++
  }
  return counts
}
