import { partialResult } from '../../schedule/ir.js'
import { ceilLog2, piecesScattered, type RankOperations, scatterPieces } from '../patterns/rank-operations.js'
import { exchangesOf, type GatherWay, type Run, stagesOf, waitBefore } from './way.js'

/** An allgather or reduce-scatter of units, each cut into segments. */
interface AlongWays {
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

function eachOf(runs: readonly Run[], visit: (way: number, offset: number) => void): void {
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
function ownSections(ways: readonly GatherWay[], round: number): Sections {
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
function shuffledSections(ways: readonly GatherWay[], round: number): Sections {
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
function reduceAlong(
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
      let isOpen = false
      eachOf(runs, (way, offset) => {
        const home = tree.vrankOf(ways[way].originAt[offset])
        if (home >= receiver && home < end) return
        if (!isOpen) {
          if (isSent) operations.send(rank, start + stage, peer)
          else operations.receive(rank, start + stage, peer)
          operations.after(waitBefore(ways, begin, start + begin))
          isOpen = true
        }
        addSection(way, offset)
      })
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
  const first = offsetOf[root]
  return {
    ranks,
    vrankOf: (rank) => offsetOf[rank] - first + (offsetOf[rank] < first ? ranks : 0),
    rankAt: (vrank) => originAt[(vrank + offsetOf[root]) % ranks],
  }
}
