import type { RankOperations } from '../patterns/rank-operations.js'
import { exchangesOf, type GatherWay, type Run, waitBefore } from './way.js'

/** An allgather or reduce-scatter of units, each cut into segments. */
export interface AlongWays {
  readonly ways: readonly GatherWay[]
  /** The number of segments, a multiple of the number of ways. */
  readonly segments: number
  /** Whether data are exchanged first, or at the end, so that every message is a run of the result. */
  readonly isShuffled: boolean
}

/**
 * Emits the operations of a rank in an allgather along ways, in as many phases as these have stages, and one more for a
 * shuffle. Each further round follows a phase later. With a shuffle a rank's own sections come back to it like those of
 * others, unless it is their home. So all messages of a stage are equally long runs of the result.
 *
 * @see Sack 2011 §3.4
 */
export function gatherAlong(operations: RankOperations, rank: number, along: AlongWays): void {
  const { ways, segments, isShuffled } = along
  const isCopied = (segment: number): boolean =>
    !isShuffled || shuffledHome(ways, rank, segment % ways.length).participant === rank
  const copied = Array.from({ length: segments }, (_, segment) => segment).filter(isCopied)
  if (copied.length > 0) operations.copy(rank, 0)
  for (const segment of copied) {
    const block = rank * segments + segment
    operations.add(block, segment, operations.slot(rank, block))
  }
  for (let round = 0; round * ways.length < segments; round++) gatherRound(operations, rank, along, round)
}

function gatherRound(
  operations: RankOperations,
  rank: number,
  { ways, segments, isShuffled }: AlongWays,
  round: number,
): void {
  const sections = (isShuffled ? shuffledSections : ownSections)(ways, round)
  const blockOf = (way: number, offset: number): number =>
    sections.unitOf(way, offset) * segments + sections.segmentOf(way, offset)
  if (isShuffled)
    for (const { peer, isSent, sections: moved } of shuffleOf(ways, rank)) {
      if (isSent) operations.send(rank, round, peer)
      else operations.receive(rank, round, peer)
      for (const { way, offset } of moved) {
        const block = blockOf(way, offset)
        operations.add(block, isSent ? block % segments : operations.slot(rank, block))
      }
    }
  const start = round + (isShuffled ? 1 : 0)
  for (const { begin, stage, peer, isSent, runs } of exchangesOf(ways, rank)) {
    if (isSent) operations.send(rank, start + stage, peer)
    else operations.receive(rank, start + stage, peer)
    // A shuffle ends at another time for each rank, so ranks would drift apart even with one way.
    operations.after(isShuffled ? start + begin - 1 : waitBefore(ways, begin, start + begin))
    eachOf(runs, (way, offset) => {
      const block = blockOf(way, offset)
      const isOwn = !isShuffled && sections.unitOf(way, offset) === rank
      operations.add(block, isOwn ? block % segments : operations.slot(rank, block))
    })
  }
}

export function eachOf(runs: readonly Run[], visit: (way: number, offset: number) => void): void {
  for (const { way, first, count } of runs)
    for (let offset = first; offset < first + count; offset++) visit(way, offset)
}

/**
 * The sections that a participant sends another, or gets from it, so that every section is at the home that its way
 * expects.
 */
interface ShuffleMessage {
  readonly peer: number
  readonly isSent: boolean
  /** The sections, in the same order at both ends. */
  readonly sections: readonly { readonly way: number; readonly offset: number }[]
}

/**
 * Returns the messages from units to ways, by number of the section. At the end of a reduce-scatter they go the other
 * way.
 */
export function shuffleOf(ways: readonly GatherWay[], participant: number): ShuffleMessage[] {
  const found = new Map<string, ShuffleMessage & { readonly sections: { way: number; offset: number }[] }>()
  const move = (peer: number, isSent: boolean, way: number, offset: number): void => {
    if (peer === participant) return
    const key = `${isSent} ${peer}`
    const message = found.get(key)
    if (message === undefined) found.set(key, { peer, isSent, sections: [{ way, offset }] })
    else message.sections.push({ way, offset })
  }
  for (let section = 0; section < ways.length; section++) {
    const home = shuffledHome(ways, participant, section)
    move(home.participant, true, home.way, home.offset)
  }
  const { unitOf } = shuffledSections(ways, 0)
  ways.forEach(({ offsetOf }, way) => {
    const offset = offsetOf[participant]
    move(unitOf(way, offset), false, way, offset)
  })
  return [...found.values()]
}

/** The data of a way's section: a segment of some participant's unit. */
interface Sections {
  /** Returns the participant whose unit it is. */
  unitOf(way: number, offset: number): number
  segmentOf(way: number, offset: number): number
}

/**
 * Deals segments to the ways in turn. As many segments as there are ways form a round, which follows the one before a
 * phase later. In round r the section of a participant in way b is the b-th segment of the round of its own unit. So
 * messages carry segments that lie apart in the result.
 */
export function ownSections(ways: readonly GatherWay[], round: number): Sections {
  return {
    unitOf: (way, offset) => ways[way].originAt[offset],
    segmentOf: (way) => round * ways.length + way,
  }
}

/**
 * Numbers the segments of a round through all units in order, and gives each way a run of them in the order of its
 * result. So every message carries a run of the result if there is one round. A participant's section is then part of
 * another one's unit.
 *
 * @see Sack 2011 §3.4.1 and §3.4.2 (shuffle, section mapping)
 */
export function shuffledSections(ways: readonly GatherWay[], round: number): Sections {
  const ranks = ways[0].originAt.length
  return {
    unitOf: (way, offset) => Math.floor((way * ranks + offset) / ways.length),
    segmentOf: (way, offset) => round * ways.length + ((way * ranks + offset) % ways.length),
  }
}

/** Returns the participant that first has a section of a unit after the shuffle. */
export function shuffledHome(ways: readonly GatherWay[], unit: number, section: number): SectionPlace {
  const ranks = ways[0].originAt.length
  const number = ways.length * unit + section
  const way = Math.floor(number / ranks)
  const offset = number % ranks
  return { way, offset, participant: ways[way].originAt[offset] }
}

interface SectionPlace {
  readonly way: number
  readonly offset: number
  readonly participant: number
}
