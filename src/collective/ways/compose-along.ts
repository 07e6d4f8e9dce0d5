import { partialResult } from '../../schedule/ir.js'
import type { RankOperations } from '../patterns/rank-operations.js'
import { piecesScattered, scatterPieces } from '../patterns/scattered-pieces.js'
import { ceilLog2 } from '../patterns/values.js'
import { eachOf } from './gather-along.js'
import { reduceAlong } from './reduce-along.js'
import { exchangesOf, stagesOf, type Way, waitBefore } from './way.js'

/** A collective of one vector: in a part for each rank, way and further segment. */
export interface ComposedAlong {
  readonly ways: readonly Way[]
  /** A multiple of the number of ways. */
  readonly segments: number
  /** Default 0. */
  readonly root?: number
}

/**
 * Parts in the order of the ways' results, so that every message carries runs of the vector: nothing is shuffled, for no
 * rank cares which part it has in between.
 */
function partsAlong(ways: readonly Way[], segments: number) {
  const width = segments / ways.length
  const ranks = ways[0].originAt.length
  return { width, partOf: (way: number, offset: number): number => (way * ranks + offset) * width }
}

/** The operations of a rank in an allreduce: a reduce-scatter along the ways and back, without a shuffle. */
export function allreduceAlong(
  operations: RankOperations,
  rank: number,
  { ways, segments }: ComposedAlong,
): void {
  const parts = partsAlong(ways, segments)
  if (copiedAlone(operations, rank, ways, segments)) return
  const placeOf = (part: number): number => operations.slot(rank, part)
  reduceAlong(operations, rank, ways, { ...parts, placeOf })
  const start = stagesOf(ways)
  for (const { stage, peer, isSent, runs } of exchangesOf(ways, rank)) {
    if (isSent) operations.send(rank, start + stage, peer)
    else operations.receive(rank, start + stage, peer)
    operations.after(waitBefore(ways, stage, start + stage))
    eachOf(runs, (way, offset) => {
      const first = parts.partOf(way, offset)
      for (let part = first; part < first + parts.width; part++)
        operations.add(partialResult(part), placeOf(part))
    })
  }
}

/**
 * The operations of a rank in a broadcast: the root scatters the parts down a binomial tree over the first way's result,
 * everyone's own; then they are gathered along the ways, but for what a rank forwarded in the tree and so has.
 */
export function bcastAlong(
  operations: RankOperations,
  rank: number,
  { ways, segments, root = 0 }: ComposedAlong,
): void {
  const tree = treeAlong(ways, root)
  const { ranks } = tree
  const parts = partsAlong(ways, segments)
  const addSection = (way: number, offset: number): void => {
    const first = parts.partOf(way, offset)
    for (let part = first; part < first + parts.width; part++)
      operations.add(part, rank === root ? part : operations.slot(rank, part))
  }
  const addOwn = (first: number, count: number): void => {
    for (const [way, { offsetOf }] of ways.entries())
      for (let vrank = first; vrank < first + count; vrank++) addSection(way, offsetOf[tree.rankAt(vrank)])
  }
  const vrank = tree.vrankOf(rank)
  scatterPieces(operations, { ranks, rank, vrank, phase: 0 }, tree.rankAt, addOwn)
  const start = ceilLog2(ranks)
  for (const { stage, peer, isSent, runs } of exchangesOf(ways, rank)) {
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
    operations.after(waitBefore(ways, stage, start + stage))
    for (const [way, offset] of news) addSection(way, offset)
  }
}

/** The operations of a rank in a reduction: a reduce-scatter along the ways, then a gather up the tree of a broadcast. */
export function reduceToRootAlong(
  operations: RankOperations,
  rank: number,
  { ways, segments, root = 0 }: ComposedAlong,
): void {
  const tree = treeAlong(ways, root)
  const { ranks } = tree
  const parts = partsAlong(ways, segments)
  if (ranks === 1) {
    copiedAlone(operations, rank, ways, segments)
    return
  }
  const slotOf = (part: number): number | undefined =>
    rank === root ? operations.slot(rank, part) : undefined
  const held = new Map(reduceAlong(operations, rank, ways, { ...parts, placeOf: slotOf }))
  const eachPart = (first: number, count: number, visit: (part: number) => void): void => {
    for (const [way, { offsetOf }] of ways.entries())
      for (let vrank = first; vrank < first + count; vrank++) {
        const from = parts.partOf(way, offsetOf[tree.rankAt(vrank)])
        for (let part = from; part < from + parts.width; part++) visit(part)
      }
  }
  const start = stagesOf(ways)
  const vrank = tree.vrankOf(rank)
  for (let size = 1; size < ranks; size *= 2) {
    const phase = start + Math.log2(size)
    if (vrank % (2 * size) === size) {
      operations.send(rank, phase, tree.rankAt(vrank - size))
      const count = piecesScattered(ranks, vrank)
      eachPart(vrank, count, (part) => operations.add(partialResult(part), held.get(part)!))
      return
    }
    const child = vrank + size
    if (child >= ranks) continue
    operations.receive(rank, phase, tree.rankAt(child))
    eachPart(child, piecesScattered(ranks, child), (part) => {
      const place = slotOf(part) ?? operations.stage(rank)
      held.set(part, place)
      operations.add(partialResult(part), place)
    })
  }
}

/** Copies the data of a single rank. @returns whether it is the only one */
function copiedAlone(
  operations: RankOperations,
  rank: number,
  ways: readonly Way[],
  segments: number,
): boolean {
  if (ways[0].originAt.length > 1) return false
  operations.copy(rank, 0)
  for (let part = 0; part < segments; part++) operations.add(part, part, operations.slot(rank, part))
  return true
}

/** The ranks of a tree in the order of the first way's result, the root first. */
function treeAlong([{ originAt, offsetOf }]: readonly Way[], root: number) {
  const ranks = originAt.length
  return {
    ranks,
    vrankOf: (rank: number): number => (offsetOf[rank] - offsetOf[root] + ranks) % ranks,
    rankAt: (vrank: number): number => originAt[(vrank + offsetOf[root]) % ranks],
  }
}
