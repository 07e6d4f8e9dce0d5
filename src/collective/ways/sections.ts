import type { Way } from './way.js'

/**
 * Which data a section of a way is, as a unit of some participant and the segments of it. Units are cut into equally
 * many segments for each way.
 */
export interface Sections {
  /** Segments of a section. */
  readonly width: number
  /** Participant whose unit it is. */
  unitOf(way: number, offset: number): number
  /** The first segment of its unit. */
  firstSegmentOf(way: number, offset: number): number
}

/** The section of a participant in way b is the b-th of its own unit. So messages carry what lies apart in the result. */
export function ownSections(ways: readonly Way[], segments: number): Sections {
  const width = segments / ways.length
  return {
    width,
    unitOf: (way, offset) => ways[way].originAt[offset],
    firstSegmentOf: (way) => way * width,
  }
}

/**
 * Sections are numbered through all units in order, and each way has a run of them in the order of its result, so that
 * every message carries a run of the result. A participant's section is then part of another one's unit.
 *
 * @see Sack 2011 §3.4.1 and §3.4.2 (shuffle, section mapping)
 */
export function shuffledSections(ways: readonly Way[], segments: number): Sections {
  const width = segments / ways.length
  const ranks = ways[0].originAt.length
  const numberOf = (way: number, offset: number): number => way * ranks + offset
  return {
    width,
    unitOf: (way, offset) => Math.floor(numberOf(way, offset) / ways.length),
    firstSegmentOf: (way, offset) => (numberOf(way, offset) % ways.length) * width,
  }
}

/** The participant that has a section of a unit at first, where they are shuffled. */
export function shuffledHome(ways: readonly Way[], unit: number, section: number): SectionPlace {
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
