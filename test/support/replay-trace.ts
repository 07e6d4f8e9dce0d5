import type { ProcessFacts } from '../../src/messages/matching-queues/design.js'
import type { NamedDesign } from '../../src/messages/matching-queues/designs.js'
import type { MatchingOperation } from '../../src/messages/matching-queues/matching-trace.js'
import { MatchingReplay } from '../../src/messages/matching-queues/replay.js'

/** Replays the trace of one process with a design for each of its queues. */
export function replayTrace(trace: Iterable<MatchingOperation>, design: NamedDesign, facts: ProcessFacts) {
  const replay = new MatchingReplay(design, facts)
  const matches = Float64Array.from(trace, (operation) => replay.apply(operation))
  const { operations } = replay
  return { operations, matches, posted: replay.report('posted'), unexpected: replay.report('unexpected') }
}
