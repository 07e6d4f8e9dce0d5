import type { GatherWay } from './way.js'

/** The data of a way's section: a segment of some participant's unit. */
export interface Sections {
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

export interface SectionPlace {
  readonly way: number
  readonly offset: number
  readonly participant: number
}
