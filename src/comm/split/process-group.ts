import { packWords, unpackWords } from '../../base/packing.js'
import type { Exchange } from '../../calls/exchange/exchange.js'

/**
 * Returns the exchange restricted to `members`, which include this process; a process is numbered by its index there.
 */
export function subgroup(exchange: Exchange, members: Int32Array): Exchange {
  return {
    me: members.indexOf(exchange.me),
    count: members.length,
    seq: exchange.seq,
    eagerLimitBytes: exchange.eagerLimitBytes,
    send: (peer, step, payload) => exchange.send(members[peer], step, payload),
    receive: (peer, step) => exchange.receive(members[peer], step),
    take: (peer, step, take) => exchange.take(members[peer], step, take),
    takeInto: (peer, step, room, landed) => exchange.takeInto(members[peer], step, room, landed),
    watch: (look, awaited, done) => exchange.watch(look, () => awaited().map((peer) => members[peer]), done),
    get hasFailed() {
      return exchange.hasFailed
    },
    get isSent() {
      return exchange.isSent
    },
    whenSent: (done) => exchange.whenSent(done),
    finish: (results) => exchange.finish(results),
  }
}

/** Returns the exchange restricted to processes `first` to `first + count - 1`, which include this one. */
export function subrange(exchange: Exchange, first: number, count: number): Exchange {
  return {
    me: exchange.me - first,
    count,
    seq: exchange.seq,
    eagerLimitBytes: exchange.eagerLimitBytes,
    send: (peer, step, payload) => exchange.send(first + peer, step, payload),
    receive: (peer, step) => exchange.receive(first + peer, step),
    take: (peer, step, take) => exchange.take(first + peer, step, take),
    takeInto: (peer, step, room, landed) => exchange.takeInto(first + peer, step, room, landed),
    watch: (look, awaited, done) => exchange.watch(look, () => awaited().map((peer) => first + peer), done),
    get hasFailed() {
      return exchange.hasFailed
    },
    get isSent() {
      return exchange.isSent
    },
    whenSent: (done) => exchange.whenSent(done),
    finish: (results) => exchange.finish(results),
  }
}

/**
 * Exchanges small blocks all-to-all in ceil(lg count) messages per process (Bruck et al. 1997). In round r, all blocks
 * whose remaining distance has bit r set move by that distance. Each block is sent up to lg count times. Uses steps
 * `step` to `step + 31`.
 */
export async function alltoallWords(
  exchange: Exchange,
  blocks: readonly Int32Array[],
  step: number,
): Promise<Int32Array[]> {
  const { me, count } = exchange
  // held[d] is the block to be moved by the distance d in total.
  const held = blocks.map((_, d) => blocks[(me + d) % count])
  for (let distance = 1, round = 0; distance < count; distance *= 2, round++) {
    const moving: number[] = []
    for (let d = distance; d < count; d++) if ((d & distance) !== 0) moving.push(d)
    exchange.send((me + distance) % count, step + round, packWords(moving.map((d) => held[d])))
    const arrived = unpackWords(await exchange.receive((me - distance + count) % count, step + round))
    moving.forEach((d, i) => {
      held[d] = arrived[i]
    })
  }
  return blocks.map((_, peer) => held[(me - peer + count) % count])
}

/** The first step number of every exchange of a split; patterns use up to 64 steps from there. */
export const exchangeSteps = {
  collect: 2_000,
  agree: 2_100,
  exchange: 2_200,
  ends: 2_300,
  items: 2_400,
  reslice: 2_500,
  replicate: 2_600,
  shadow: 2_700,
  samples: 2_800,
  quicksort: 5_000_000,
  /** Every round of the splitter search takes 128 steps. */
  splitters: 10_000,
} as const
