import { partialResult } from '../../schedule/ir.js'
import type { RankOperations } from '../patterns/rank-operations.js'
import { type AlongWays, eachOf, ownSections, shuffledSections, shuffleOf } from './gather-along.js'
import { exchangesOf, type GatherWay, type Run, stagesOf, waitBefore } from './way.js'

/** The parts of the data that are the sections of ways, the places of their totals, and the first phase. */
interface ReducedParts {
  readonly start: number
  partOf(way: number, offset: number): number
  /** Returns the place of a part's total. Default: a temporary place. */
  placeOf(part: number): number | undefined
}

/**
 * Emits the operations of a rank in a reduce-scatter along ways: the messages of the allgather in the other direction,
 * the last first. Every rank gets the totals of its sections. It takes as many phases as the ways have stages.
 *
 * @returns the places of the totals, by part
 * @see Sack 2011 §3.4.4
 */
export function reduceAlong(
  operations: RankOperations,
  rank: number,
  ways: readonly GatherWay[],
  { start, partOf, placeOf }: ReducedParts,
): ReadonlyMap<number, number> {
  const stages = stagesOf(ways)
  const held = new Map<number, number>()
  const exchanges = [...exchangesOf(ways, rank)].reverse().sort((a, b) => b.begin - a.begin)
  // A part is complete when the last message that brings its values has come.
  const missing = new Map<number, number>()
  const eachPart = (runs: readonly Run[], visit: (part: number) => void): void =>
    eachOf(runs, (way, offset) => visit(partOf(way, offset)))
  const own = ways.map(({ offsetOf }, way) => ({ way, first: offsetOf[rank], count: 1 }))
  eachPart(own, (part) => missing.set(part, 0))
  for (const { isSent, runs } of exchanges)
    if (isSent) eachPart(runs, (part) => missing.has(part) && missing.set(part, missing.get(part)! + 1))
  for (const { begin, stage, peer, isSent, runs } of exchanges) {
    const first = stages - 1 - stage
    const phase = start + stages - 1 - begin
    if (!isSent) {
      operations.send(rank, phase, peer)
      operations.after(waitBefore(ways, first, start + first))
      eachPart(runs, (part) => operations.add(partialResult(part), held.get(part) ?? part))
      continue
    }
    const received: { part: number; place: number }[] = []
    operations.receive(rank, phase, peer)
    operations.after(waitBefore(ways, first, start + first))
    eachPart(runs, (part) => {
      const place = operations.stage(rank)
      received.push({ part, place })
      operations.add(partialResult(part), place)
    })
    for (const { part, place } of received) {
      const left = missing.get(part)
      if (left !== undefined) missing.set(part, left - 1)
      const to = (left === 1 ? placeOf(part) : undefined) ?? operations.stage(rank)
      operations.combine(rank, phase, part, held.get(part) ?? part, place, to)
      held.set(part, to)
    }
  }
  return held
}

/** Emits the operations of a rank in a reduce-scatter, in which part `unit * segments + s` is for rank `unit`. */
export function reduceScatterAlong(operations: RankOperations, rank: number, along: AlongWays): void {
  const { ways, segments } = along
  if (ways[0].originAt.length === 1) {
    operations.copy(rank, 0)
    for (let segment = 0; segment < segments; segment++)
      operations.add(segment, segment, operations.slot(rank, segment))
    return
  }
  for (let round = 0; round * ways.length < segments; round++)
    reduceScatterRound(operations, rank, along, round)
}

function reduceScatterRound(
  operations: RankOperations,
  rank: number,
  { ways, segments, isShuffled }: AlongWays,
  round: number,
): void {
  const sections = (isShuffled ? shuffledSections : ownSections)(ways, round)
  const slotOf = (part: number): number | undefined =>
    Math.floor(part / segments) === rank ? operations.slot(rank, part % segments) : undefined
  const partOf = (way: number, offset: number): number =>
    sections.unitOf(way, offset) * segments + sections.segmentOf(way, offset)
  const held = reduceAlong(operations, rank, ways, { start: round, partOf, placeOf: slotOf })
  if (!isShuffled) return
  const phase = round + stagesOf(ways)
  for (const { peer, isSent, sections: moved } of shuffleOf(ways, rank)) {
    if (isSent) operations.receive(rank, phase, peer)
    else operations.send(rank, phase, peer)
    for (const { way, offset } of moved) {
      const part = partOf(way, offset)
      operations.add(partialResult(part), isSent ? slotOf(part)! : held.get(part)!)
    }
  }
}
