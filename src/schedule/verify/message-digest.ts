import { MultisetDigest } from '../../base/hash.js'
import { opKind, type Schedule } from '../ir.js'
import { operationsOfRank } from '../walk.js'

/**
 * The digest of the messages that ranks send, minus that of those that they receive: zero over all ranks of a
 * consistent schedule.
 */
export interface MessageBalance {
  readonly low: number
  readonly high: number
  readonly sent: number
  readonly received: number
}

/**
 * Computes the balance of the messages of some ranks. A message is its source, destination, tag, place among those of
 * equal tag, phase, and its blocks in order. If the balances of all ranks add up to zero, every receive has its send,
 * up to one chance in 2^64. Both are in the same phase, with the same blocks in the same order.
 *
 * @param ranks whose operations are counted
 * @param rankOf the rank that a number of the schedule stands for, if they differ
 * @param isCounted whether to count messages with a peer, a number of the schedule. Default: all
 */
export function messageBalance(
  schedule: Schedule,
  ranks: Iterable<number>,
  rankOf: Int32Array | null = null,
  isCounted: (peer: number) => boolean = () => true,
): MessageBalance {
  const { opPeer, opPhase, opTag, entryStart, entryBlock, specification } = schedule
  const name = rankOf === null ? (rank: number) => rank : (rank: number) => rankOf[rank]
  const digest = new MultisetDigest()
  let sent = 0
  let received = 0
  for (const rank of ranks) {
    const places = new Map<number, number>()
    const [from, to] = operationsOfRank(schedule, rank)
    for (let op = from; op < to; op++) {
      const kind = schedule.opKind[op]
      const peer = opPeer[op]
      if (kind > opKind.receive || !isCounted(peer)) continue
      const isSend = kind === opKind.send
      const stream = (opTag[op] * specification.ranks + peer) * 2 + kind
      const place = places.get(stream) ?? 0
      places.set(stream, place + 1)
      digest.begin()
      digest.word(name(isSend ? rank : peer))
      digest.word(name(isSend ? peer : rank))
      digest.word(opTag[op])
      digest.word(place)
      digest.word(opPhase[op])
      for (let e = entryStart[op]; e < entryStart[op + 1]; e++)
        digest.word(entryBlock[e] < 0 ? entryBlock[e] : name(entryBlock[e]))
      if (isSend) {
        sent++
        digest.add()
      } else {
        received++
        digest.remove()
      }
    }
  }
  return { low: digest.low, high: digest.high, sent, received }
}
