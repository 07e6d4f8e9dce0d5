import { concatenate, joinBlocks, splitBlocks } from '../../../base/packing.js'
import type { Algorithm } from '../../../collective/shape/algorithm.js'
import { RankweaveError } from '../../../errors.js'
import { elementSizeBytes, typeCode } from '../../datatype/elements.js'
import type { CommContext } from '../../table/comm-context.js'
import { type CollectiveCall, RankFailure } from '../collective-call.js'
import { copyOf, type Exchange } from '../exchange.js'
import { alltoallLists } from './alltoall-lists.js'
import { isLong } from './blocks/block-list.js'
import { deliverAll, deliverBlocks, type Layout } from './blocks/deliver.js'
import { byRank, everyNth, ranksByProcess } from './blocks/placement.js'
import { blockFor, blocksFor, type SendBlocks } from './blocks/send-blocks.js'
import { landingOf } from './blocks/shared-landing.js'
import type { CollectiveContext } from './plan/collective-context.js'
import type { Method } from './plan/method.js'
import { chooseMove, requireServed } from './plan/planned-move.js'
import { alltoallEqual, alltoallVarying } from './planned-alltoall.js'

export interface AlltoallContribution {
  readonly sendBlocks: SendBlocks
  readonly layout: Layout
}

type Contributions = readonly AlltoallContribution[]

/**
 * One message per pair of processes, with the short blocks of every rank here for every rank there; long blocks travel one
 * by one, each from its sender's array straight into its receiver's.
 */
export function alltoallCall(
  state: CollectiveContext,
  name: 'alltoall' | 'alltoallv',
  sendBlocks: SendBlocks,
  method: Method | undefined,
): CollectiveCall<AlltoallContribution, unknown> {
  const { type } = sendBlocks
  const isEqual = name === 'alltoall' && type !== typeCode.value
  const sizeBytes = sendBlocks.sizes[0]!
  const isPlanned = isEqual || method?.algorithm !== undefined
  const chosen = isPlanned ? chooseMove(state, 'alltoall', method, sizeBytes) : null
  if (chosen !== null) requireServed(state, chosen.algorithm, chosen.segments)
  if (chosen !== null && !isEqual) requireDirect(chosen.algorithm)
  const finish = (all: Contributions, blocksOf: (localIndex: number) => readonly Uint8Array[]) =>
    all.map(({ layout }, localIndex) => {
      const blocks = blocksOf(localIndex)
      return name === 'alltoallv'
        ? deliverBlocks(state, type, blocks, layout)
        : deliverAll(state, type, isEqual ? concatenate(blocks) : null, blocks, layout.into)
    })
  return {
    signature: {
      name,
      type,
      ...(isEqual ? { count: sendBlocks.bytes.byteLength / elementSizeBytes(type) } : {}),
      ...(method === undefined ? {} : { method: method.name }),
    },
    run(all, exchange) {
      if (exchange.count === 1) {
        return finish(all, (localIndex) =>
          all.map((from) => blockFor(from.sendBlocks, state.localRanks[localIndex]!)),
        )
      }
      if (chosen !== null && isEqual) {
        alltoallEqual(state, chosen, all, sizeBytes, exchange, (blocksOf) =>
          exchange.finish(finish(all, blocksOf)),
        )
      } else if (chosen !== null)
        return alltoallVarying(state, chosen, all, exchange).then((blocksOf) => finish(all, blocksOf))
      else if (!isEqual) alltoallLists(state, name === 'alltoallv' ? type : null, all, exchange)
      else if (isLong(exchange, sizeBytes)) exchangeLong(state, type, all, sizeBytes, exchange)
      else {
        exchangeShort(state, all, sizeBytes, exchange, (blocksOf) => exchange.finish(finish(all, blocksOf)))
      }
      return undefined
    },
  }
}

/** `done` gets the blocks for a rank here, in rank order of their senders. */
function exchangeShort(
  state: CommContext,
  all: Contributions,
  sizeBytes: number,
  exchange: Exchange,
  done: (blocksOf: (localIndex: number) => Uint8Array[]) => void,
): void {
  const { me, count } = exchange
  const ranks = ranksByProcess(state)
  const here = all.length
  // By process: for each of its ranks, one block per rank here.
  const received: Uint8Array[][] = []
  received[me] = blocksFor(all, ranks[me]!)
  let missing = count - 1
  for (let distance = 1; distance < count; distance++) {
    const peer = (me + distance) % count
    exchange.send(peer, 0, joinBlocks(blocksFor(all, ranks[peer]!), sizeBytes))
  }
  for (let peer = 0; peer < count; peer++) {
    if (peer === me) continue
    exchange.take(peer, 0, (bytes, owned) => {
      const message = owned ? bytes : copyOf(bytes)
      received[peer] = splitBlocks(message, ranks[peer]!.length * here, sizeBytes)
      if (--missing > 0) return
      done((localIndex) =>
        byRank(
          state.processes,
          received.map((blocks) => everyNth(blocks, localIndex, here)),
        ),
      )
    })
  }
}

function exchangeLong(
  state: CommContext,
  type: number,
  all: Contributions,
  sizeBytes: number,
  exchange: Exchange,
): void {
  const { me, count } = exchange
  const ranks = ranksByProcess(state)
  for (let distance = 1; distance < count; distance++) {
    const peer = (me + distance) % count
    for (const block of blocksFor(all, ranks[peer]!)) exchange.send(peer, 0, block)
  }
  const landings = all.map(({ layout }) => landingOf(type, state.size * sizeBytes, layout.into))
  const place = (localIndex: number, source: number) => {
    const landing = landings[localIndex]!
    if (landing instanceof RankFailure) return null
    return landing.bytes.subarray(source * sizeBytes, (source + 1) * sizeBytes)
  }
  let missing = (state.size - all.length) * all.length
  all.forEach(({ sendBlocks }, source) => {
    for (let localIndex = 0; localIndex < all.length; localIndex++) {
      const block = blockFor(sendBlocks, state.localRanks[localIndex]!)
      place(localIndex, state.localRanks[source]!)?.set(block)
    }
  })
  for (let distance = 1; distance < count; distance++) {
    const peer = (me - distance + count) % count
    for (const source of ranks[peer]!) {
      for (let localIndex = 0; localIndex < all.length; localIndex++) {
        exchange.takeInto(
          peer,
          0,
          () => place(localIndex, source),
          () => {
            if (--missing > 0) return
            exchange.finish(
              landings.map((landing) => (landing instanceof RankFailure ? landing : landing.finish())),
            )
          },
        )
      }
    }
  }
}

/** @throws ERR_ALGORITHM for one that relays blocks, whose lengths only their two ends know */
function requireDirect({ id }: Algorithm): void {
  if (id !== 'alltoall-bruck') return
  throw new RankweaveError('ERR_ALGORITHM', `${id}: it takes blocks of one length`)
}
