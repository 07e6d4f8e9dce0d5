import type { MatchingOperation } from '../../src/messages/matching-queues/matching-trace.js'

// The microbenchmarks of the thesis, as traces of the process that receives: process 0, in context 0. Those of
// chapter 3 are MB1 and MB2 here, those of chapter 6 MB3 and MB4.

const arrive = (source: number, tag: number): MatchingOperation => ({
  kind: 'arrive',
  context: 0,
  source,
  tag,
})
const post = (source: number, tag: number): MatchingOperation => ({ kind: 'post', context: 0, source, tag })

/** Messages of each source, in the order of sources. */
interface Sent {
  readonly source: number
  readonly messages: number
}

/**
 * MB1, reverse search: processes 1 to n - 1 send messages to process 0, which receives the last one first.
 * A list of M messages passes (M + 1) / 2 in the mean.
 *
 * @see Ghazimirsaeed 2019 chapter 3
 */
export function reverseSearch(processes: number, messages: number): Iterable<MatchingOperation> {
  return reversed(Array.from({ length: processes - 1 }, (_, i) => ({ source: i + 1, messages })))
}

/** Messages that a process of each group sends in MB2: few, medium, many and very many. */
export const groupMessages: readonly number[] = [2, 10, 50, 100]

/** The group of a source of {@link groupedSenders}, an index of {@link groupMessages}. */
export function groupOfSender(source: number, sendersPerGroup: number): number {
  return Math.floor((source - 1) / sendersPerGroup)
}

/**
 * MB2, grouping: as {@link reverseSearch}, with four groups of senders, each with its number of messages.
 *
 * @see Ghazimirsaeed 2019 table 3.1
 */
export function groupedSenders(sendersPerGroup: number): Iterable<MatchingOperation> {
  const senders = groupMessages.length * sendersPerGroup
  return reversed(
    Array.from({ length: senders }, (_, i) => {
      const source = i + 1
      return { source, messages: groupMessages[groupOfSender(source, sendersPerGroup)] }
    }),
  )
}

/**
 * MB3, last element: processes 1 to n - 1 send messages to process 0, and process 1 one more with another tag. The
 * receive of that one is the last operation; before another iteration all others are received, in order.
 *
 * @see Ghazimirsaeed 2019 chapter 6
 */
export function* lastElement(
  processes: number,
  messages: number,
  iterations = 1,
): Generator<MatchingOperation> {
  for (let iteration = 0; iteration < iterations; iteration++) {
    if (iteration > 0)
      for (let source = 1; source < processes; source++)
        for (let i = 0; i < messages; i++) yield post(source, 0)
    for (let source = 1; source < processes; source++)
      for (let i = 0; i < messages; i++) yield arrive(source, 0)
    yield arrive(1, 1)
    yield post(1, 1)
  }
}

/** Which of the messages that are left is received next. */
export const receiveOrders = ['forward', 'middle', 'reverse'] as const
export type ReceiveOrder = (typeof receiveOrders)[number]

/**
 * MB4: process 1 sends messages with tags 0, 1, 2 and so on. Process 0 always receives the first, the middle or the
 * last of those that are left. Of r messages the middle one is number floor(r / 2), from 0.
 *
 * @see Ghazimirsaeed 2019 chapter 6
 */
export function* receivesInOrder(messages: number, order: ReceiveOrder): Generator<MatchingOperation> {
  for (let tag = 0; tag < messages; tag++) yield arrive(1, tag)
  const left = Array.from({ length: messages }, (_, tag) => tag)
  for (let taken = 0; taken < messages; taken++) {
    const place = { forward: 0, middle: left.length >>> 1, reverse: left.length - 1 }[order]
    yield post(1, order === 'forward' ? taken : left.splice(place, 1)[0])
  }
}

function* reversed(senders: readonly Sent[]): Generator<MatchingOperation> {
  for (const { source, messages } of senders)
    for (let tag = 0; tag < messages; tag++) yield arrive(source, tag)
  for (const { source, messages } of senders.toReversed())
    for (let tag = messages - 1; tag >= 0; tag--) yield post(source, tag)
}
