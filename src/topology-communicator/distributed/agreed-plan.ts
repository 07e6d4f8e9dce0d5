import { bytesOf, wordsOf } from '../../base/bytes.js'
import { MultisetDigest } from '../../base/hash.js'
import { indexIn } from '../../base/search.js'
import { allgatherBytes, alltoallBytes, bcastBytes, type Exchange } from '../../calls/exchange/exchange.js'
import { isRankweaveError, RankweaveError } from '../../errors.js'
import { decodeError, encodeError } from '../../messages/process/error-record.js'
import type { Plan } from '../../neighborhood/plan/plan.js'
import { planDigest } from '../../neighborhood/plan/plan-store.js'
import { endsDiffer, oneSidedEdge } from '../../topology/process-topology.js'
import type { HostedLists } from './hosted-lists.js'

const nothing = new Uint8Array(0)
const maxErrorBytes = 4_096

/**
 * Returns the failure of the first process that has one, the same on all. All processes call it once they know that
 * some process has failed.
 *
 * @param step an allgather takes up to 32
 */
export async function firstFailure(
  exchange: Exchange,
  own: RankweaveError | null,
  step: number,
): Promise<Error> {
  const encoded = own === null ? nothing : encodeError(own, maxErrorBytes)
  const failures = await allgatherBytes(exchange, encoded, step)
  const first = failures.find(({ byteLength }) => byteLength > 0)
  if (first !== undefined) return decodeError(first)
  return new RankweaveError('ERR_PLAN_MISMATCH', 'planning: a process failed and did not report why')
}

// Steps of the exchange; an allgather takes up to 32.
const compareStep = 700
const failureStep = 710

/** The number of words of a digest that are compared. */
const digestWords = 4

/**
 * Returns the plan of this process after comparing all plans by a reduction of 72 bytes. If they differ, for example
 * because one process stored an older plan, all make it afresh and compare again.
 *
 * @param first the plan at hand
 * @param afresh makes the plan from the topology alone; both are null on a process without ranks
 * @throws ERR_PLAN_MISMATCH when plans that were made afresh differ; the error of the process that could not make one.
 *   The same on all processes
 */
export async function agreedPlan(
  exchange: Exchange,
  first: (() => Promise<Plan>) | null,
  afresh: (() => Promise<Plan>) | null,
): Promise<Plan | null> {
  for (const [round, make] of [first, afresh].entries()) {
    const own = make === null ? null : await attempted(make)
    const { failures, areEqual } = await compare(exchange, own, compareStep + 2 * round)
    if (failures === 0 && areEqual) return own as Plan | null
    if (round === 0) continue
    if (failures > 0) throw await firstFailure(exchange, own instanceof Error ? own : null, failureStep)
  }
  const message = 'processes planned differently from the same topology, strategy and nodes'
  throw new RankweaveError('ERR_PLAN_MISMATCH', message)
}

async function attempted(make: () => Promise<Plan>): Promise<Plan | RankweaveError> {
  try {
    return await make()
  } catch (error) {
    if (isRankweaveError(error)) return error
    throw error
  }
}

async function compare(exchange: Exchange, own: Plan | RankweaveError | null, step: number) {
  const least = new Float64Array(digestWords).fill(Number.POSITIVE_INFINITY)
  const most = new Float64Array(digestWords).fill(Number.NEGATIVE_INFINITY)
  if (own !== null && !(own instanceof Error)) {
    const digest = planDigest(own)
    for (let i = 0; i < digestWords; i++) {
      most[i] = Number.parseInt(digest.slice(8 * i, 8 * i + 8), 16)
      least[i] = most[i]
    }
  }
  const failures = own instanceof Error ? 1 : 0
  const all = await combineAll(exchange, Float64Array.of(failures, ...least, ...most), combined, step)
  const areEqual = least.every((_, i) => !(all[1 + i] < all[1 + digestWords + i]))
  return { failures: all[0], areEqual }
}

/** Returns the sum of failures, and the least and the greatest of every word. */
function combined(a: Float64Array, b: Float64Array): Float64Array {
  return a.map((value, i) => {
    if (i === 0) return value + b[i]
    return i <= digestWords ? Math.min(value, b[i]) : Math.max(value, b[i])
  })
}

/**
 * Combines what all processes contribute, on every process: along a binomial tree to process 0 and back. Takes steps
 * `step` and `step + 1`.
 *
 * @param combine adds the second to the first, or returns another array; associative and commutative
 */
export async function combineAll(
  exchange: Exchange,
  own: Float64Array,
  combine: (into: Float64Array, from: Float64Array) => Float64Array,
  step: number,
): Promise<Float64Array> {
  const { me, count } = exchange
  let held = own
  let bit = 1
  for (; bit < count && (me & bit) === 0; bit *= 2) {
    if (me + bit < count) held = combine(held, doublesOf(await exchange.receive(me + bit, step)))
  }
  if (me !== 0) exchange.send(me - bit, step, bytesOf(held))
  return doublesOf(await bcastBytes(exchange, 0, bytesOf(held), step + 1))
}

function doublesOf({ buffer, byteOffset, byteLength }: Uint8Array): Float64Array {
  return new Float64Array(buffer, byteOffset, byteLength / 8)
}

// Steps of the exchange; an allgather takes up to 32.
const digestStep = 400
const edgeStep = 410
const verdictStep = 420

/**
 * Compares both ends of every edge without gathering the lists: each process adds digests of the edges that its ranks
 * list as destinations, and subtracts those that they list as sources. A sum of zero over all processes means that the
 * lists agree, up to one chance in 2^64.
 *
 * @throws ERR_TOPOLOGY, on all processes, when a weight on any process is NaN
 */
export async function compareEnds(
  exchange: Exchange,
  { localRanks, hosted }: HostedLists,
): Promise<{ readonly agree: boolean; readonly edges: number }> {
  const digest = new MultisetDigest()
  let edges = 0
  let malformed = 0
  for (const [i, { sources, destinations, sourceWeights, destinationWeights }] of hosted.entries()) {
    const rank = localRanks[i]
    edges += destinations.length
    if (hasNaN(sourceWeights) || hasNaN(destinationWeights)) malformed++
    for (let e = 0; e < destinations.length; e++) {
      digest.begin()
      digest.word(rank)
      digest.word(destinations[e])
      digest.add()
    }
    for (let e = 0; e < sources.length; e++) {
      digest.begin()
      digest.word(sources[e])
      digest.word(rank)
      digest.remove()
    }
  }
  const own = Float64Array.of(digest.low, digest.high, edges, malformed)
  const [low, high, total, allMalformed] = await combineAll(
    exchange,
    own,
    (a, b) => Float64Array.of((a[0] + b[0]) >>> 0, (a[1] + b[1]) >>> 0, a[2] + b[2], a[3] + b[3]),
    digestStep,
  )
  if (allMalformed > 0) throw new RankweaveError('ERR_TOPOLOGY', 'expected numbers as weights, got NaN')
  return { agree: low === 0 && high === 0, edges: total }
}

/**
 * Returns the error that names an edge whose ends differ, the same on all processes; null if there is none after all.
 * Each process sends every other the edges that lead to its ranks.
 */
export async function findOneSidedEdge(
  exchange: Exchange,
  { localRanks, hosted }: HostedLists,
  processOf: (rank: number) => number,
): Promise<RankweaveError | null> {
  const edgesTo: number[][] = Array.from({ length: exchange.count }, () => [])
  for (const [i, p] of localRanks.entries()) {
    for (const q of Array.from(hosted[i].destinations)) edgesTo[processOf(q)].push(p, q)
  }
  const arrived = await alltoallBytes(
    exchange,
    edgesTo.map((edges) => bytesOf(Int32Array.from(edges))),
    edgeStep,
  )
  const named: number[][] = hosted.map(() => [])
  for (const edges of arrived.map(wordsOf)) {
    for (let e = 0; e < edges.length; e += 2) named[indexIn(localRanks, edges[e + 1])].push(edges[e])
  }
  const found: number[] = []
  for (const [i, q] of localRanks.entries()) {
    const edge = oneSidedEdge(Int32Array.from(named[i]).sort(), Int32Array.from(hosted[i].sources).sort())
    if (edge === null) continue
    found.push(edge.source, q, edge.sent, edge.expected)
    break
  }
  const verdicts = await allgatherBytes(exchange, bytesOf(Int32Array.from(found)), verdictStep)
  for (const [source, destination, sent, expected] of verdicts.map(wordsOf)) {
    if (source !== undefined) return endsDiffer({ source, sent, expected }, destination)
  }
  return null
}

function hasNaN(weights: ArrayLike<number> | undefined): boolean {
  for (let i = 0; i < (weights?.length ?? 0); i++) if (Number.isNaN(Number(weights![i]))) return true
  return false
}
