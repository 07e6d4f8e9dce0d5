import { partialResult } from '../../schedule/ir.js'
import type { RankOperations } from '../patterns/rank-operations.js'
import { ceilLog2 } from '../patterns/rank-operations.js'
import { piecesScattered, scatterPieces } from '../patterns/scattered-pieces.js'
import { eachOf } from './gather-along.js'
import { reduceAlong } from './reduce-along.js'
import { exchangesOf, type GatherWay, stagesOf, waitBefore } from './way.js'

/** A collective of one vector that is cut into a part for each rank, way and further segment. */
interface ComposedAlong {
  readonly ways: readonly GatherWay[]
  /** The number of segments, a multiple of the number of ways. */
  readonly segments: number
  readonly root?: number
}

/**
 * Orders parts by the ways' results, so that every message carries runs of the vector. Nothing is shuffled, because it
 * does not matter which part a rank has in between.
 */
function partsOfRound(ways: readonly GatherWay[], round: number) {
  const ranks = ways[0].originAt.length
  return (way: number, offset: number): number => (round * ways.length + way) * ranks + offset
}

/** Emits the operations of a rank in an allreduce: a reduce-scatter along the ways and back, without a shuffle. */
export function allreduceAlong(
  operations: RankOperations,
  rank: number,
  { ways, segments }: ComposedAlong,
): void {
  if (copiedAlone(operations, rank, ways, segments)) return
  const placeOf = (part: number): number => operations.slot(rank, part)
  for (let round = 0; round * ways.length < segments; round++) {
    const partOf = partsOfRound(ways, round)
    reduceAlong(operations, rank, ways, { start: round, partOf, placeOf })
    const start = round + stagesOf(ways)
    for (const { begin, stage, peer, isSent, runs } of exchangesOf(ways, rank)) {
      if (isSent) operations.send(rank, start + stage, peer)
      else operations.receive(rank, start + stage, peer)
      operations.after(waitBefore(ways, begin, start + begin))
      eachOf(runs, (way, offset) => {
        const part = partOf(way, offset)
        operations.add(partialResult(part), placeOf(part))
      })
    }
  }
}

/**
 * Emits the operations of a rank in a broadcast. The root scatters the parts down a binomial tree over the first way's
 * result, one section to each rank. Then an allgather along the ways brings the rest, except what a rank forwarded in
 * the tree and so has.
 */
export function bcastAlong(
  operations: RankOperations,
  rank: number,
  { ways, segments, root = 0 }: ComposedAlong,
): void {
  const tree = treeAlong(ways, root)
  const { ranks } = tree
  const vrank = tree.vrankOf(rank)
  for (let round = 0; round * ways.length < segments; round++) {
    const partOf = partsOfRound(ways, round)
    const addSection = (way: number, offset: number): void => {
      const part = partOf(way, offset)
      operations.add(part, rank === root ? part : operations.slot(rank, part))
    }
    const addOwn = (first: number, count: number): void => eachSection(ways, tree, first, count, addSection)
    scatterPieces(operations, { ranks, rank, vrank, phase: round }, tree.rankAt, addOwn)
    const start = round + ceilLog2(ranks)
    for (const { begin, stage, peer, isSent, runs } of exchangesOf(ways, rank)) {
      const receiver = tree.vrankOf(isSent ? peer : rank)
      const end = receiver + piecesScattered(ranks, receiver)
      const news: (readonly [number, number])[] = []
      eachOf(runs, (way, offset) => {
        const home = tree.vrankOf(ways[way].originAt[offset])
        if (home < receiver || home >= end) news.push([way, offset])
      })
      if (news.length === 0) continue
      if (isSent) operations.send(rank, start + stage, peer)
      else operations.receive(rank, start + stage, peer)
      operations.after(waitBefore(ways, begin, start + begin))
      for (const [way, offset] of news) addSection(way, offset)
    }
  }
}

/**
 * Emits the operations of a rank in a reduction: a reduce-scatter along the ways, then a gather up the tree of a
 * broadcast.
 */
export function reduceToRootAlong(
  operations: RankOperations,
  rank: number,
  { ways, segments, root = 0 }: ComposedAlong,
): void {
  if (copiedAlone(operations, rank, ways, segments)) return
  const tree = treeAlong(ways, root)
  const slotOf = (part: number): number | undefined =>
    rank === root ? operations.slot(rank, part) : undefined
  for (let round = 0; round * ways.length < segments; round++) {
    const partOf = partsOfRound(ways, round)
    const held = new Map(reduceAlong(operations, rank, ways, { start: round, partOf, placeOf: slotOf }))
    gatherUp(operations, rank, tree, round + stagesOf(ways), (isSent, first, count) =>
      eachSection(ways, tree, first, count, (way, offset) => {
        const part = partOf(way, offset)
        const place = (isSent ? held.get(part) : slotOf(part)) ?? operations.stage(rank)
        held.set(part, place)
        operations.add(partialResult(part), place)
      }),
    )
  }
}

/**
 * Emits a gather up a binomial tree. @param add adds the sections of so many ranks, from a distance from the root on
 */
function gatherUp(
  operations: RankOperations,
  rank: number,
  { ranks, vrankOf, rankAt }: TreeAlong,
  start: number,
  add: (isSent: boolean, first: number, count: number) => void,
): void {
  const vrank = vrankOf(rank)
  for (let size = 1; size < ranks; size *= 2) {
    const phase = start + Math.log2(size)
    if (vrank % (2 * size) === size) {
      operations.send(rank, phase, rankAt(vrank - size))
      add(true, vrank, piecesScattered(ranks, vrank))
      return
    }
    const child = vrank + size
    if (child >= ranks) continue
    operations.receive(rank, phase, rankAt(child))
    add(false, child, piecesScattered(ranks, child))
  }
}

/** Visits the sections of so many ranks in a tree, by way. */
function eachSection(
  ways: readonly GatherWay[],
  { rankAt }: TreeAlong,
  first: number,
  count: number,
  visit: (way: number, offset: number) => void,
): void {
  for (const [way, { offsetOf }] of ways.entries())
    for (let vrank = first; vrank < first + count; vrank++) visit(way, offsetOf[rankAt(vrank)])
}

/** Copies the data of a single rank. @returns whether it is the only one */
function copiedAlone(
  operations: RankOperations,
  rank: number,
  ways: readonly GatherWay[],
  segments: number,
): boolean {
  if (ways[0].originAt.length > 1) return false
  operations.copy(rank, 0)
  for (let part = 0; part < segments; part++) operations.add(part, part, operations.slot(rank, part))
  return true
}

/** The ranks of a tree in the order of the first way's result, by distance from the root. */
interface TreeAlong {
  readonly ranks: number
  vrankOf(rank: number): number
  rankAt(vrank: number): number
}

function treeAlong([{ originAt, offsetOf }]: readonly GatherWay[], root: number): TreeAlong {
  const ranks = originAt.length
  return {
    ranks,
    vrankOf: (rank) => (offsetOf[rank] - offsetOf[root] + ranks) % ranks,
    rankAt: (vrank) => originAt[(vrank + offsetOf[root]) % ranks],
  }
}
