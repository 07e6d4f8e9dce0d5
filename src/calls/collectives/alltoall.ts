import { copyBytes } from '../../base/bytes.js'
import { concatenate } from '../../base/packing.js'
import { whenThere } from '../../base/turn.js'
import { elementSizeBytes, typeCode } from '../../messages/datatype/elements.js'
import type { CommContext } from '../../messages/process/comm-context.js'
import type { Exchange } from '../exchange/exchange.js'
import { type CollectiveCall, RankFailure } from '../matching/collective-call.js'
import type { CollectiveContext, CollectivePlan } from '../plan/collective-plan.js'
import type { Method } from '../plan/method.js'
import { planOf, requireMethod } from '../plan/resolve.js'
import {
  blockFor,
  blocksFor,
  deliverAll,
  deliverBlocks,
  type Layout,
  landingOf,
  placeOf,
  roomForBlocks,
  type SendBlocks,
} from '../values/deliver.js'
import { byRank, everyNth, ranksByProcess, ranksPerProcess } from '../values/placement.js'
import {
  type BlockList,
  type BlockMemory,
  isLong,
  type ListPlans,
  moveLists,
  movePieces,
  moveShort,
  ownList,
  type PlacesOf,
  planLists,
  relayPlaces,
  segmentLengths,
} from './move-blocks.js'

export interface AlltoallContribution {
  readonly sendBlocks: SendBlocks
  readonly layout: Layout
}

type Contributions = readonly AlltoallContribution[]

/**
 * Returns an alltoall. The short blocks from the ranks of one process for those of another are one block of the
 * schedule. Long blocks travel one by one, each from its sender's array straight into its receiver's.
 *
 * @throws ERR_ALGORITHM when the method does not take this number of processes
 */
export function alltoallCall(
  state: CollectiveContext,
  name: 'alltoall' | 'alltoallv',
  sendBlocks: SendBlocks,
  method: Method | undefined,
): CollectiveCall<AlltoallContribution, unknown> {
  const { type } = sendBlocks
  const isEqual = name === 'alltoall' && type !== typeCode.value
  const sizeBytes = sendBlocks.sizes[0]
  requireMethod(state, method, { isSized: isEqual })
  return {
    signature: {
      name,
      type,
      ...(isEqual ? { count: sendBlocks.bytes.byteLength / elementSizeBytes(type) } : {}),
      ...(method === undefined ? {} : { method: method.name }),
    },
    run(all, exchange) {
      if (exchange.count === 1) {
        return all.map(({ layout }, localIndex) => {
          const blocks = all.map((from) => blockFor(from.sendBlocks, state.localRanks[localIndex]))
          return name === 'alltoallv'
            ? deliverBlocks(state, type, blocks, layout)
            : deliverAll(state, type, isEqual ? concatenate(blocks) : null, blocks, layout.into)
        })
      }
      if (!isEqual) {
        return whenThere(planLists(state, 'alltoall', method, 0), (plans) =>
          alltoallLists(state, plans, name === 'alltoallv' ? type : null, all, exchange),
        )
      }
      const alltoall = isLong(exchange, sizeBytes) ? alltoallLong : alltoallShort
      return whenThere(planOf(state, { collective: 'alltoall', method, sizeBytes }, exchange), (plan) =>
        alltoall(state, plan, type, all, sizeBytes, exchange),
      )
    },
  }
}

function alltoallShort(
  state: CollectiveContext,
  plan: CollectivePlan,
  type: number,
  all: Contributions,
  sizeBytes: number,
  exchange: Exchange,
): undefined {
  const { processes, size, localRanks } = state
  const here = all.length
  const totalBytes = size * sizeBytes
  const { count } = exchange
  const runs = runsElsewhere(state, here)
  let ranks: Int32Array | undefined
  // The blocks between ranks of this process do not pass through the plan.
  const lengths = segmentLengths((pair) => {
    ranks ??= ranksPerProcess(processes)
    const [from, to] = [Math.floor(pair / count), pair % count]
    return from === to ? 0 : ranks[from] * ranks[to] * sizeBytes
  }, plan.segments)
  const fill = (own: Uint8Array) => {
    for (let i = 0; i < here; i++) spreadPairs(runs, all[i].sendBlocks.bytes, own, i, sizeBytes)
  }
  moveShort(plan, sizeBytes, lengths, here * (size - here) * sizeBytes, fill, exchange, (slots) => {
    const results: unknown[] = new Array(here)
    for (let i = 0; i < here; i++) {
      const landing = landingOf(type, totalBytes, all[i].layout.into)
      results[i] = landing
      if (landing instanceof RankFailure) continue
      gatherPairs(runs, slots, landing.bytes, i, here, sizeBytes)
      for (let source = 0; source < here; source++) {
        const block = blockFor(all[source].sendBlocks, localRanks[i])
        copyBytes(landing.bytes, localRanks[source] * sizeBytes, block)
      }
      state.runtime.processCounters.bytesCopied += totalBytes
      results[i] = landing.finish()
    }
    exchange.finish(results)
  })
}

function alltoallLong(
  state: CollectiveContext,
  plan: CollectivePlan,
  type: number,
  all: Contributions,
  sizeBytes: number,
  exchange: Exchange,
): undefined {
  const { me, count } = exchange
  const { localRanks } = state
  const ranks = ranksByProcess(state)
  const landings = all.map(({ layout }) => landingOf(type, state.size * sizeBytes, layout.into))
  const place = (localIndex: number, source: number) => {
    const landing = landings[localIndex]
    if (landing instanceof RankFailure) return null
    return landing.bytes.subarray(source * sizeBytes, (source + 1) * sizeBytes)
  }
  all.forEach(({ sendBlocks }, source) => {
    for (let localIndex = 0; localIndex < all.length; localIndex++) {
      const block = blockFor(sendBlocks, localRanks[localIndex])
      place(localIndex, localRanks[source])?.set(block)
    }
  })
  const own = (pair: number) => blocksFor(all, ranks[pair % count])
  const placesOf = (pair: number) => {
    const [from, to] = [Math.floor(pair / count), pair % count]
    if (to === me)
      return ranks[from].flatMap((source) => all.map((_, localIndex) => place(localIndex, source)))
    const blocks = ranks[from].length * ranks[to].length
    return Array.from({ length: blocks }, () => new Uint8Array(sizeBytes))
  }
  movePieces(plan, own, exchange, placesOf, () =>
    exchange.finish(landings.map((landing) => (landing instanceof RankFailure ? landing : landing.finish()))),
  )
}

/**
 * A run of consecutive ranks elsewhere, and the places of the blocks between it and the ranks here. The blocks that
 * leave and those that arrive lie side by side: by process, then by the rank that sends, then by the one that receives.
 */
interface RunElsewhere {
  readonly from: number
  readonly to: number
  /** The place of the first block from the first rank here to the run, and the distance to that of the next rank here. */
  readonly sent: number
  readonly sentStep: number
  /** The place of the block from the first rank of the run to the first rank here. */
  readonly received: number
}

function runsElsewhere({ processes, processIndex }: CommContext, here: number): readonly RunElsewhere[] {
  const { runStart, runProcess } = processes
  const counts = ranksPerProcess(processes)
  const first = new Int32Array(counts.length)
  for (let process = 1; process < counts.length; process++)
    first[process] = first[process - 1] + (process - 1 === processIndex ? 0 : counts[process - 1])
  // The number of ranks elsewhere, by process, before the next run of each process.
  const before = first.slice()
  const runs: RunElsewhere[] = []
  for (let run = 0; run < runProcess.length; run++) {
    const process = runProcess[run]
    if (process === processIndex) continue
    const [from, to] = [runStart[run], runStart[run + 1]]
    const sent = (here - 1) * first[process] + before[process]
    runs.push({ from, to, sent, sentStep: counts[process], received: here * before[process] })
    before[process] += to - from
  }
  return runs
}

/** Writes the blocks that the i-th rank here has for all ranks elsewhere. */
function spreadPairs(
  runs: readonly RunElsewhere[],
  sent: Uint8Array,
  pairs: Uint8Array,
  i: number,
  sizeBytes: number,
): void {
  for (const { from, to, sent: first, sentStep } of runs)
    pairs.set(sent.subarray(from * sizeBytes, to * sizeBytes), (first + i * sentStep) * sizeBytes)
}

/** Writes the blocks that all ranks elsewhere have for the i-th of `here` ranks, by rank. */
function gatherPairs(
  runs: readonly RunElsewhere[],
  pairs: Uint8Array,
  received: Uint8Array,
  i: number,
  here: number,
  sizeBytes: number,
): void {
  for (const { from, to, received: first } of runs) {
    for (let rank = from; rank < to; rank++) {
      const start = (first + here * (rank - from) + i) * sizeBytes
      const at = rank * sizeBytes
      if (sizeBytes > mostLoopedBytes) received.set(pairs.subarray(start, start + sizeBytes), at)
      else for (let byte = 0; byte < sizeBytes; byte++) received[at + byte] = pairs[start + byte]
    }
  }
}

/** The largest number of bytes for which a loop is faster than a call. */
const mostLoopedBytes = 32

/**
 * Exchanges blocks of lengths that only their senders know, and completes the collective.
 *
 * @param type wire code of the elements; null for values
 */
function alltoallLists(
  state: CommContext,
  plans: ListPlans,
  type: number | null,
  all: Contributions,
  exchange: Exchange,
): undefined {
  const { me, count } = exchange
  const ranks = ranksByProcess(state)
  const blocks = ranks.map((list) => blocksFor(all, list))
  const own = (pair: number) => blocks[pair % count]
  let results: () => readonly unknown[]
  const meet = (arrived: ReadonlyMap<number, BlockList>): PlacesOf => {
    // The lists are by process; for each of its ranks they hold one block per rank here.
    const lists = ranks.map((_, process) =>
      process === me ? ownList(blocks[me]) : arrived.get(process * count + me)!,
    )
    const rooms = all.map(({ layout }, i) => new AlltoallRoom(state, type, lists, layout, i, all.length))
    results = () => rooms.map((room) => room.result())
    return (pair) => {
      const from = Math.floor(pair / count)
      if (pair % count !== me) return relayPlaces(exchange, arrived.get(pair)!)
      const places: (Uint8Array | null)[] = []
      lists[from].short.forEach((block, index) => {
        if (block !== undefined) return
        const source = ranks[from][Math.floor(index / all.length)]
        places.push(rooms[index % all.length].place(source))
      })
      return places
    }
  }
  moveLists(plans, own, 0, exchange, meet, () => exchange.finish(results()))
}

/** The result of one rank once all lengths are known: long blocks travel straight into it. */
class AlltoallRoom {
  readonly #state: CommContext
  readonly #layout: Layout
  readonly #sizes: readonly number[]
  readonly #blocks: (Uint8Array | undefined)[]
  /** The memory for elements. */
  readonly #room: ReturnType<typeof roomForBlocks> | null

  constructor(
    state: CommContext,
    type: number | null,
    lists: readonly BlockList[],
    layout: Layout,
    localIndex: number,
    here: number,
  ) {
    this.#state = state
    this.#layout = layout
    this.#sizes = byRank(
      state.processes,
      lists.map((list) => everyNth(list.sizes, localIndex, here)),
    )
    this.#blocks = byRank(
      state.processes,
      lists.map((list) => everyNth(list.short, localIndex, here)),
    )
    this.#room = type === null ? null : roomForBlocks(type, this.#sizes, layout)
  }

  place(source: number): BlockMemory[number] {
    const sizeBytes = this.#sizes[source]
    if (this.#room instanceof RankFailure) return null
    if (this.#room !== null) return placeOf(this.#room, source, sizeBytes)
    const bytes = new Uint8Array(sizeBytes)
    this.#blocks[source] = bytes
    return bytes
  }

  result(): unknown {
    const room = this.#room
    if (room instanceof RankFailure) return room
    if (room === null) {
      const blocks = this.#blocks as Uint8Array[]
      return deliverAll(this.#state, typeCode.value, null, blocks, this.#layout.into)
    }
    for (const [rank, block] of this.#blocks.entries()) {
      if (block !== undefined) placeOf(room, rank, block.byteLength).set(block)
    }
    return room
  }
}
