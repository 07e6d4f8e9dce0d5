import { concatenate, joinBlocks, splitBlocks } from '../../../base/packing.js'
import { elementSizeBytes, typeCode } from '../../datatype/elements.js'
import type { CommContext } from '../../table/comm-context.js'
import type { CollectiveCall } from '../collective-call.js'
import type { Exchange } from '../exchange.js'
import { alltoallBytes } from '../exchange-patterns.js'
import { deliverAll, deliverBlocks, type Layout } from './blocks.js'
import { byProcess, byRank } from './placement.js'
import { blockFor, type SendBlocks } from './send-blocks.js'

export interface AlltoallContribution {
  readonly sendBlocks: SendBlocks
  readonly layout: Layout
}

/** One message per pair of processes, with the blocks of every rank here for every rank there. */
export function alltoallCall(
  state: CommContext,
  name: 'alltoall' | 'alltoallv',
  sendBlocks: SendBlocks,
): CollectiveCall<AlltoallContribution, unknown> {
  const { type } = sendBlocks
  const isEqual = name === 'alltoall' && type !== typeCode.value
  const sizeBytes = isEqual ? sendBlocks.sizes[0]! : null
  const finish = (
    all: readonly AlltoallContribution[],
    blocksOf: (localIndex: number) => readonly Uint8Array[],
  ) =>
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
    },
    run(all, exchange) {
      if (exchange.count === 1) {
        return finish(all, (localIndex) =>
          all.map((from) => blockFor(from.sendBlocks, state.localRanks[localIndex]!)),
        )
      }
      return exchangeBlocks(state, all, sizeBytes, exchange).then((blocksOf) => finish(all, blocksOf))
    },
  }
}

/** Exchanges the blocks; the result gives those for a rank here, in rank order of their senders. */
async function exchangeBlocks(
  state: CommContext,
  all: readonly AlltoallContribution[],
  sizeBytes: number | null,
  exchange: Exchange,
): Promise<(localIndex: number) => Uint8Array[]> {
  const { processes, localRanks } = state
  const ranks = byProcess(
    processes,
    Array.from({ length: state.size }, (_, rank) => rank),
  )
  const messages = ranks.map((there, process) => {
    // Ranks here take their blocks from each other's data.
    if (process === exchange.me) return new Uint8Array(0)
    return joinBlocks(
      all.flatMap(({ sendBlocks }) => there.map((rank) => blockFor(sendBlocks, rank))),
      sizeBytes,
    )
  })
  const received = await alltoallBytes(exchange, messages)
  const here = localRanks.length
  // By process: for each of its ranks, one block per rank here.
  const perProcess = received.map((message, process) =>
    process === exchange.me
      ? all.flatMap(({ sendBlocks }) => Array.from(localRanks, (rank) => blockFor(sendBlocks, rank)))
      : splitBlocks(message, ranks[process]!.length * here, sizeBytes),
  )
  return (localIndex) =>
    byRank(
      processes,
      perProcess.map((blocks) => everyNth(blocks, localIndex, here)),
    )
}

function everyNth<T>(items: readonly T[], first: number, step: number): T[] {
  const picked: T[] = []
  for (let i = first; i < items.length; i += step) picked.push(items[i]!)
  return picked
}
