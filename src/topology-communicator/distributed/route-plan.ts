import { bytesOf, wordsOf } from '../../base/bytes.js'
import { GrowingInt32Array } from '../../base/growing-array.js'
import { getOrAdd } from '../../base/maps.js'
import { indexIn } from '../../base/search.js'
import type { Exchange } from '../../calls/exchange/exchange.js'
import { isRankweaveError, RankweaveError } from '../../errors.js'
import type { PlanOfRanks } from '../../neighborhood/plan/plan-of-ranks.js'
import { deliveryTrees, type Moves } from '../../neighborhood/strategies/delivery-trees.js'
import { type RouteHeader, scheduleOfMoves } from '../../neighborhood/strategies/route-schedule.js'
import type { Route } from '../../neighborhood/strategies/strategy-kind.js'
import type { RankHosts } from './hosted-lists.js'
import { distinctBut, type HostedLists, namedRanks, numberedTopology } from './hosted-lists.js'

/** The step of the exchange; a relay takes up to 31. */
const movesStep = 600

/** The number of words of a move that a process sends another: the move, and the place of its other end. */
const moveWords = 5

/**
 * Plans a route for the ranks of this process. It finds the trees of their blocks, and processes send each other the
 * moves from and to their ranks. Each process thus learns what passes its ranks, by lg(processes) messages.
 *
 * @param routeOf returns the same route on all processes, or throws
 * @param hosts learns the ranks that blocks of this process pass, and those of the plan
 * @returns the plan, or why this process has none
 */
export async function planOfRoute(
  exchange: Exchange,
  lists: HostedLists,
  routeOf: () => Route,
  header: RouteHeader,
  { ranks, hosts }: { readonly ranks: number; readonly hosts: RankHosts },
): Promise<PlanOfRanks | RankweaveError> {
  let failure: RankweaveError | null = null
  const moves = new MovesHere(lists.localRanks, ranks, hosts)
  let parcels: readonly Parcel[] = []
  let lastPhase = -1
  let hops = 0
  try {
    const route = routeOf()
    hops = route.hops
    if (hasCopies(lists)) lastPhase = Math.max(0, hops - 1)
    const own = ownTrees(route, lists, ranks)
    await hosts.learn(distinctEnds(own))
    parcels = tell(exchange.me, own, hosts, moves)
    for (const hop of own.hop) lastPhase = Math.max(lastPhase, hop)
  } catch (error) {
    if (!isRankweaveError(error)) throw error
    failure = error
  }
  const relayed = await relay(exchange, parcels, lastPhase, movesStep)
  try {
    for (const parcel of relayed.parcels) moves.addParcel(parcel)
    return failure ?? moves.plan(lists, hops, { ...header, phases: relayed.greatest + 1 })
  } catch (error) {
    if (isRankweaveError(error)) return error
    throw error
  }
}

/** Whether a copy fills some slot in the last phase, because of a self loop or a source that is listed again. */
function hasCopies({ localRanks, hosted }: HostedLists): boolean {
  return hosted.some(({ sources }, i) => distinctBut(localRanks[i], sources).length < sources.length)
}

function distinctEnds({ from, to }: OwnMoves): Int32Array {
  return Int32Array.from(new Set([...from, ...to]))
}

/** Adds the moves from and to ranks here, and packs the others for the processes at their ends. */
function tell(me: number, { block, hop, from, to }: OwnMoves, hosts: RankHosts, here: MovesHere): Parcel[] {
  const outside = new Map<number, GrowingInt32Array>()
  for (let m = 0; m < block.length; m++) {
    const sender = hosts.find(from[m])!
    const receiver = hosts.find(to[m])!
    if (sender === me || receiver === me) here.add(block[m], hop[m], from[m], to[m])
    for (const end of sender === receiver ? [sender] : [sender, receiver]) {
      if (end === me) continue
      const words = getOrAdd(outside, end, () => new GrowingInt32Array())
      words.push(block[m])
      words.push(hop[m])
      words.push(from[m])
      words.push(to[m])
      words.push(end === sender ? receiver : sender)
    }
  }
  return Array.from(outside, ([end, words]) => ({ from: me, to: end, words: words.toArray() }))
}

/** The moves from and to the ranks of this process, of any block. */
class MovesHere {
  readonly #localRanks: Int32Array
  readonly #ranks: number
  readonly #hosts: RankHosts
  /** Each move has four words: block, hop, from, to. */
  readonly #words = new GrowingInt32Array()

  constructor(localRanks: Int32Array, ranks: number, hosts: RankHosts) {
    this.#localRanks = localRanks
    this.#ranks = ranks
    this.#hosts = hosts
  }

  add(block: number, hop: number, from: number, to: number): void {
    this.#words.push(block)
    this.#words.push(hop)
    this.#words.push(from)
    this.#words.push(to)
  }

  /** @throws ERR_PLAN_MISMATCH for a move neither from nor to a rank here */
  addParcel({ from: sender, words }: Parcel): void {
    for (let at = 0; at < words.length; at += moveWords) {
      const [block, hop, from, to, otherEnd] = words.subarray(at, at + moveWords)
      const isFrom = indexIn(this.#localRanks, from) >= 0
      const isTo = indexIn(this.#localRanks, to) >= 0
      if ((!isFrom && !isTo) || !(block >= 0 && block < this.#ranks) || otherEnd === undefined) {
        const message = `planning: expected moves from and to ranks of this process, got one of block ${block} from ${from} to ${to} of process ${sender}`
        throw new RankweaveError('ERR_PLAN_MISMATCH', message, { details: { peer: sender } })
      }
      this.add(block, hop, from, to)
      this.#hosts.believe(block, sender)
      if (!isFrom) this.#hosts.believe(from, otherEnd)
      if (!isTo) this.#hosts.believe(to, otherEnd)
    }
  }

  plan(lists: HostedLists, hops: number, header: RouteHeader & { readonly phases: number }): PlanOfRanks {
    const words = this.#words.view()
    const count = words.length / 4
    const column = (at: number) => Int32Array.from({ length: count }, (_, m) => words[4 * m + at])
    const [blocks, hopOf, froms, tos] = [0, 1, 2, 3].map(column)
    const rankOf = namedRanks(lists, [blocks, froms, tos])
    const order = Int32Array.from({ length: count }, (_, m) => m).sort(
      (a, b) => blocks[a] - blocks[b] || hopOf[a] - hopOf[b] || tos[a] - tos[b],
    )
    const sorted = (ofMove: Int32Array) => order.map((m) => ofMove[m])
    const numbers = (ofMove: Int32Array) => order.map((m) => indexIn(rankOf, ofMove[m]))
    const [block, from, to] = [blocks, froms, tos].map(numbers)
    const moves = { block, hop: sorted(hopOf), from, to, before: beforeOf(block, from, to, rankOf.length) }
    const own = lists.localRanks.map((rank) => indexIn(rankOf, rank))
    const schedule = scheduleOfMoves(numberedTopology(rankOf, lists), moves, hops, header, own)
    return { ranks: this.#ranks, rankOf, own, schedule, groups: null, planMs: 0 }
  }
}

/**
 * Finds for each move the one that brought its block to the start of the move; -1 at the source. Moves are ordered by
 * block, then hop.
 */
function beforeOf(block: Int32Array, from: Int32Array, to: Int32Array, numbers: number): Int32Array {
  const moveTo = new Int32Array(numbers)
  const blockOf = new Int32Array(numbers).fill(-1)
  return block.map((b, m) => {
    const before = blockOf[from[m]] === b ? moveTo[from[m]] : -1
    blockOf[to[m]] = b
    moveTo[to[m]] = m
    return before
  })
}

/** The words that one process has for another. */
interface Parcel {
  readonly from: number
  readonly to: number
  readonly words: Int32Array
}

interface Relayed {
  /** The parcels for this process, in the order of their senders. */
  readonly parcels: readonly Parcel[]
  /** The largest of the numbers that the processes gave. */
  readonly greatest: number
}

const headWords = 3

/**
 * Brings parcels to processes that do not expect them. In stage i a process sends one message, to the process 2^i
 * ahead, with the parcels whose distance has that bit. This takes lg `count` messages per process, whatever there is to
 * send. A parcel takes as many stages as its distance has ones, lg(`count`) / 2 on average. Takes a step per stage, up
 * to 31.
 *
 * @param parcels of this process, at most one for each; not to itself
 * @param greatest a number of this process, of which the largest over all processes is returned
 * @see Bruck et al. 1997 (index with radix 2)
 */
async function relay(
  exchange: Exchange,
  parcels: readonly Parcel[],
  greatest: number,
  step: number,
): Promise<Relayed> {
  const { me, count } = exchange
  let held: Parcel[] = [...parcels]
  const kept: Parcel[] = []
  let largest = greatest
  for (let stage = 0, distance = 1; distance < count; stage++, distance *= 2) {
    const goes = ({ to }: Parcel) => (((to - me + count) % count) & distance) !== 0
    exchange.send((me + distance) % count, step + stage, bytesOf(packed(largest, held.filter(goes))))
    held = held.filter((parcel) => !goes(parcel))
    const arrived = wordsOf(await exchange.receive((me - distance + count) % count, step + stage))
    largest = Math.max(largest, arrived[0])
    for (const parcel of unpacked(arrived)) (parcel.to === me ? kept : held).push(parcel)
  }
  return { parcels: kept.sort((a, b) => a.from - b.from), greatest: largest }
}

function packed(first: number, parcels: readonly Parcel[]): Int32Array {
  const length = parcels.reduce((sum, { words }) => sum + headWords + words.length, 1)
  const all = new Int32Array(length)
  all[0] = first
  let at = 1
  for (const { from, to, words } of parcels) {
    all.set([from, to, words.length], at)
    all.set(words, at + headWords)
    at += headWords + words.length
  }
  return all
}

/** Returns views of a message's parcels; of an altered message those that can be read. */
function unpacked(all: Int32Array): Parcel[] {
  const parcels: Parcel[] = []
  for (let at = 1; at + headWords <= all.length; ) {
    const [from, to, length] = all.subarray(at, at + headWords)
    at += headWords
    if (length < 0 || at + length > all.length) break
    parcels.push({ from, to, words: all.subarray(at, at + length) })
    at += length
  }
  return parcels
}

/** The moves of the blocks of a process's ranks, in ranks. */
type OwnMoves = Omit<Moves, 'before'>

/**
 * Builds the trees by which the blocks of a process's ranks reach their destinations. They equal those of the whole
 * topology, because a tree depends only on its source's destinations and the route. Time: destinations times hops times
 * the logarithm of the ranks on a way. Memory: proportional to these ranks and the moves, whatever the number of all
 * ranks.
 *
 * @throws ERR_STRATEGY when the route leaves the ranks or does not end at the destination
 */
function ownTrees(route: Route, { localRanks, hosted }: HostedLists, ranks: number): OwnMoves {
  const passed = new Set<number>(localRanks)
  const start = [0]
  const named = new GrowingInt32Array()
  const sources: number[] = []
  for (const [i, source] of localRanks.entries()) {
    const destinations = distinctBut(source, hosted[i].destinations)
    if (destinations.length === 0) continue
    for (const destination of destinations) {
      let at = source
      for (let h = 0; h < route.hops; h++) {
        at = route.hop(h, source, destination)
        if (!Number.isInteger(at) || at < 0 || at >= ranks) break
        passed.add(at)
      }
      if (at !== destination) throw strayed(source, destination, at)
    }
    sources.push(source)
    named.append(destinations)
    start.push(named.length)
  }
  // These ranks are numbered in their order, so nothing takes memory for all ranks.
  const rankOf = Int32Array.from(passed).sort()
  const starts = new Int32Array(rankOf.length + 1)
  for (const [i, source] of sources.entries()) starts[indexIn(rankOf, source) + 1] = start[i + 1] - start[i]
  for (let number = 0; number < rankOf.length; number++) starts[number + 1] += starts[number]
  const destinations = named.toArray().map((rank) => indexIn(rankOf, rank))
  const { block, hop, from, to } = deliveryTrees(
    {
      hops: route.hops,
      hop: (h, source, destination) => indexIn(rankOf, route.hop(h, rankOf[source], rankOf[destination])),
    },
    { start: starts, rank: destinations },
    rankOf.length,
  )
  const inRanks = (numbers: Int32Array) => numbers.map((number) => rankOf[number])
  return { block: inRanks(block), hop, from: inRanks(from), to: inRanks(to) }
}

function strayed(source: number, destination: number, at: number): RankweaveError {
  const message = `the route of rank ${source} to rank ${destination} ends at ${at}, not at its destination`
  return new RankweaveError('ERR_STRATEGY', message)
}
