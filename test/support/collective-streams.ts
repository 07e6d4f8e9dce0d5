import type { OperationFields } from '../../src/messages/matching-queues/matching-trace.js'
import type { Collective } from '../../src/schedule/specification.js'

/**
 * How the messages of a collective reach a process:
 * - `ring`: n - 1 times from the rank before it;
 * - `binomial`: down the tree in which a root serves the rank half of its ranks further, and both parts likewise;
 * - `binomial-in`: up the same tree, from the smallest part to the largest;
 * - `fan-in`: the root receives from all others, the others nothing;
 * - `fan-out`: all others receive from the root.
 */
export const collectivePatterns = ['ring', 'binomial', 'binomial-in', 'fan-in', 'fan-out'] as const
export type CollectivePattern = (typeof collectivePatterns)[number]

/** The ranks from which a rank receives in one call with root 0, in the order in which it receives. */
export function sourcesOfCall(pattern: CollectivePattern, processes: number, rank: number): number[] {
  const others = Math.max(0, processes - 1)
  switch (pattern) {
    case 'ring':
      return new Array<number>(others).fill((rank + others) % processes)
    case 'fan-in':
      return rank === 0 ? Array.from({ length: others }, (_, i) => i + 1) : []
    case 'fan-out':
      return rank === 0 ? [] : [0]
    case 'binomial':
      return rank === 0 ? [] : [binomialTree(processes, rank).parent]
    case 'binomial-in':
      return binomialTree(processes, rank).children
  }
}

/** A call of a collective at one process. */
export interface StreamedCall {
  readonly collective: Collective
  readonly pattern: CollectivePattern
  readonly processes: number
  readonly rank: number
  readonly context: number
  readonly bytes: number
  /** Counted from 0. */
  readonly call: number
}

/** The messages that a process receives in a call. All have tag 0: their order tells them apart. */
export function messagesOfCall(call: StreamedCall): OperationFields[] {
  const { collective, context, bytes, call: number } = call
  const sources = sourcesOfCall(call.pattern, call.processes, call.rank)
  return sources.map((source) => ({ context, source, tag: 0, bytes, collective, call: number }))
}

/** The root of ranks `first` to `end - 1` is `first`; it serves the first rank of the upper half. */
function binomialTree(processes: number, rank: number): { parent: number; children: number[] } {
  let [first, end, parent] = [0, processes, 0]
  const children: number[] = []
  while (end - first > 1) {
    const upper = first + Math.ceil((end - first) / 2)
    if (rank >= upper) {
      parent = first
      first = upper
    } else {
      if (rank === first) children.push(upper)
      end = upper
    }
  }
  return { parent, children: children.reverse() }
}
