import type { RankOperations } from '../patterns/rank-operations.js'
import { ownSections, shuffledHome, shuffledSections } from './sections.js'
import { exchangesOf, type GatherWay, type Run, waitBefore } from './way.js'

/** An allgather or reduce-scatter of units, each cut into segments. */
export interface AlongWays {
  readonly ways: readonly GatherWay[]
  /** A multiple of the number of ways. */
  readonly segments: number
  /** Whether data are exchanged first, or at the end, so that every message is a run of the result. */
  readonly isShuffled: boolean
}

/**
 * The operations of a rank in an allgather along ways, in as many phases as these have stages; with a shuffle in a phase
 * for it and two for each stage. Each further round follows a phase later.
 *
 * @see Sack 2011 §3.4
 */
export function gatherAlong(operations: RankOperations, rank: number, along: AlongWays): void {
  const { ways, segments } = along
  operations.copy(rank, 0)
  for (let segment = 0; segment < segments; segment++) {
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
  const add = (way: number, offset: number): void => {
    const unit = sections.unitOf(way, offset)
    const segment = sections.segmentOf(way, offset)
    const block = unit * segments + segment
    operations.add(block, unit === rank ? segment : operations.slot(rank, block))
  }
  if (isShuffled)
    for (const { peer, isSent, sections: moved } of shuffleOf(ways, rank)) {
      if (isSent) operations.send(rank, round, peer)
      else operations.receive(rank, round, peer)
      for (const { way, offset } of moved) add(way, offset)
    }
  const start = round + (isShuffled ? 1 : 0)
  // What a message leaves out divides its run: both parts are messages, the second a phase later. Parts are unequally
  // long, so that ranks would drift apart and meet on links if a part waited for its data alone.
  const phasesPerStage = isShuffled ? 2 : 1
  for (const { begin, stage, peer, isSent, runs } of exchangesOf(ways, rank)) {
    const receiver = isSent ? peer : rank
    const waitedFor = start + phasesPerStage * begin
    const isOwn = (way: number, offset: number): boolean => sections.unitOf(way, offset) === receiver
    withoutOwn(runs, isOwn).forEach((part, index) => {
      const first = start + phasesPerStage * stage
      if (isSent) operations.send(rank, first + index, peer)
      else operations.receive(rank, first + index, peer)
      operations.after(isShuffled ? waitedFor - 1 : waitBefore(ways, begin, waitedFor))
      eachOf(part, add)
    })
  }
}

/** Runs up to what the receiver has, and those after it: no list that is empty. */
function withoutOwn(runs: readonly Run[], isOwn: (way: number, offset: number) => boolean): Run[][] {
  const [before, after]: [Run[], Run[]] = [[], []]
  for (const { way, first, count } of runs) {
    let own = first
    while (own < first + count && !isOwn(way, own)) own++
    if (own > first) before.push({ way, first, count: own - first })
    let next = own
    while (next < first + count && isOwn(way, next)) next++
    if (next < first + count) after.push({ way, first: next, count: first + count - next })
  }
  return [before, after].filter((part) => part.length > 0)
}

export function eachOf(runs: readonly Run[], visit: (way: number, offset: number) => void): void {
  for (const { way, first, count } of runs)
    for (let offset = first; offset < first + count; offset++) visit(way, offset)
}

/** What a participant sends another so that every section is where its way has it at first, or gets from it. */
export interface ShuffleMessage {
  readonly peer: number
  readonly isSent: boolean
  /** Alike at both ends. */
  readonly sections: readonly { readonly way: number; readonly offset: number }[]
}

/** From units to ways; the other way round at the end of a reduce-scatter. By number of the section. */
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
