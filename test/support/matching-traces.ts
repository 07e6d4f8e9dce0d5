import { below, mulberry32 } from '../../src/base/random.js'
import { type MatchingDesign, QueueElement } from '../../src/messages/matching-queues/design.js'
import { type NamedDesign, parsedMatchingDesign } from '../../src/messages/matching-queues/designs.js'
import { ANY_SOURCE, ANY_TAG } from '../../src/messages/matching-queues/entry-list.js'
import type { MatchingOperation, OperationFields } from '../../src/messages/matching-queues/matching-trace.js'

/** Every design, with parameters that make lists overflow, levels appear and blocks break off in short traces. */
export const designTexts = [
  'list',
  'source-lists',
  'bins:bins=7',
  'bins',
  'index',
  'clusters',
  'clusters:check=before',
  'clusters:method=k-means,k=3',
  'partners-static',
  'partners-static:edge=median,population=nonzero',
  'partners-static:edge=upper-fence,alpha=0.5',
  'partners-dynamic:threshold=3',
  'partners-dynamic:threshold=8,slots=1,edge=median,population=nonzero',
  'partners-dynamic:threshold=8,slots=2,edge=upper-fence',
  'collectives:threshold=8',
  'collectives:others=list,factor=4,cap=strict',
  'array-list',
  'array-list:entries=1',
  'array-list:entries=9',
  'vector-list:entries=20,vector=8',
  'vector-list',
] as const

export const allDesigns: readonly NamedDesign[] = designTexts.map(parsedMatchingDesign)

export interface RandomTrace {
  /** Besides those that empty the queues. */
  readonly operations: number
  readonly processes: number
  /** Share of receives and probes with a wildcard. */
  readonly wildcards: number
  readonly seed: number
}

/** Operations of a random trace after which both queues are emptied. */
const sweepAfter = 2500

/**
 * A trace with every kind of operation, in two contexts, whose queues grow and shrink in turn; it has few tags and
 * sources of different weight, and two collectives whose calls are numbered or not. From time to time all receives
 * are cancelled and all messages are taken.
 */
export function* randomTrace({
  operations,
  processes,
  wildcards,
  seed,
}: RandomTrace): Generator<MatchingOperation> {
  const next = mulberry32(seed)
  const drawn = (share: number) => next() / 2 ** 32 < share
  const numbered = drawn(0.5)
  let posts = 0
  let swept = 0
  for (let i = 0; i < operations; i++) {
    if (i % sweepAfter === sweepAfter - 1) {
      for (; swept < posts; swept++) yield { kind: 'cancel', receive: swept }
      yield* takeAll(200)
    }
    // Which queue grows changes every 64 operations or so.
    const posting = 0.5 + 0.35 * Math.sin(i / 40)
    const collective = drawn(0.3) ? (drawn(0.5) ? 'gather' : 'allreduce') : undefined
    const exact: OperationFields = {
      context: below(next, 2),
      source: Math.min(below(next, processes), below(next, processes)),
      tag: below(next, 3) === 0 ? below(next, 4) : 0,
      bytes: 2 ** below(next, 4),
      ...(collective === undefined ? {} : { collective, ...(numbered ? { call: Math.floor(i / 100) } : {}) }),
    }
    const asked: OperationFields = {
      ...exact,
      ...(drawn(wildcards) ? { source: ANY_SOURCE } : {}),
      ...(drawn(wildcards) ? { tag: ANY_TAG } : {}),
    }
    const draw = below(next, 100)
    if (draw < 4) yield { kind: 'probe', ...asked }
    else if (draw < 8) yield { kind: 'mprobe', ...asked }
    else if (draw < 12 && posts > 0)
      yield { kind: 'cancel', receive: Math.max(0, posts - 1 - below(next, 40)) }
    else if (drawn(posting)) {
      posts++
      yield { kind: 'post', ...asked }
    } else yield { kind: 'arrive', ...exact }
  }
}

/** Matched probes for any message, `each` for every context and kind of traffic of a random trace. */
function* takeAll(each: number): Generator<MatchingOperation> {
  for (const context of [0, 1])
    for (const collective of [undefined, 'gather', 'allreduce'] as const)
      for (let i = 0; i < each; i++)
        yield {
          ...{ kind: 'mprobe', context, source: ANY_SOURCE, tag: ANY_TAG },
          ...(collective === undefined ? {} : { collective }),
        }
}

/** The matches of a trace by the definition: arrays of operations, searched from the start. */
export function naiveMatches(trace: Iterable<MatchingOperation>): number[] {
  type Queued = OperationFields & { readonly number: number }
  const posted: Queued[] = []
  const unexpected: Queued[] = []
  let [receives, messages] = [0, 0]
  const accepts = (receive: OperationFields, message: OperationFields) =>
    receive.context === message.context &&
    receive.collective === message.collective &&
    (receive.source === ANY_SOURCE || receive.source === message.source) &&
    (receive.tag === ANY_TAG || receive.tag === message.tag)
  const take = (queue: Queued[], at: number) => (at < 0 ? -1 : queue.splice(at, 1)[0].number)
  const matches: number[] = []
  for (const operation of trace) {
    if (operation.kind === 'cancel') {
      matches.push(
        take(
          posted,
          posted.findIndex(({ number }) => number === operation.receive),
        ),
      )
      continue
    }
    const message = unexpected.findIndex((queued) => accepts(operation, queued))
    if (operation.kind === 'post') {
      const number = receives++
      if (message < 0) posted.push({ ...operation, number })
      matches.push(take(unexpected, message))
    } else if (operation.kind === 'arrive') {
      const number = messages++
      const receive = posted.findIndex((queued) => accepts(queued, operation))
      if (receive < 0) unexpected.push({ ...operation, number })
      matches.push(take(posted, receive))
    } else if (operation.kind === 'mprobe') matches.push(take(unexpected, message))
    else matches.push(unexpected[message]?.number ?? -1)
  }
  return matches
}

/** An element of context 0 whose number is `number`. */
export const elementOf = (source: number, tag = 0, number = 0): QueueElement =>
  new QueueElement(number, { context: 0, source, tag })

/** Entries that the search for an element passes. */
export function passedBy(design: MatchingDesign<QueueElement>, search: () => unknown): number {
  const before = design.counters().traversals
  search()
  return design.counters().traversals - before
}
