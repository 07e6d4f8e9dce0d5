import { wrongValue } from '../../errors.js'

/**
 * The places of the participants of a collective: nodes in a grid, each with equally many places for participants. Some
 * places may have no participant.
 */
export interface ParticipantGrid {
  /** The nodes per dimension; the first dimension varies fastest with the number of a node. */
  readonly dims: readonly number[]
  /** Marks the dimensions whose last node is linked to its first. */
  readonly wraps: readonly boolean[]
  /** The places of every node: node n has those from `n * perNode` on. Default 1. */
  readonly perNode?: number
  /** The place of every participant, no two the same. Default: participant i is at place i. */
  readonly place?: Int32Array
}

/** The number of places of a grid is below this. */
export const mostPlaces = 2 ** 24

/** @throws ERR_ARGUMENT unless every participant has its own place in the grid */
export function requireGrid(what: string, grid: ParticipantGrid, ranks: number): void {
  const fail = (expected: string, got: unknown): never => {
    throw wrongValue('ERR_ARGUMENT', `${what}: grid: expected ${expected}`, got)
  }
  if (typeof grid !== 'object' || grid === null) fail('extents and which of them wrap', grid)
  const { dims, wraps, perNode = 1, place } = grid
  if (!Array.isArray(dims) || dims.length === 0 || dims.length > 24) fail('1 to 24 extents', dims)
  for (const extent of [...dims, perNode])
    if (!Number.isInteger(extent) || extent < 1) fail('extents of at least 1', extent)
  if (!Array.isArray(wraps) || wraps.length !== dims.length || wraps.some((is) => typeof is !== 'boolean'))
    fail(`whether each of ${dims.length} dimensions wraps`, wraps)
  const places = placesOfGrid(grid)
  if (places > mostPlaces) fail(`at most ${mostPlaces} places`, places)
  if (place === undefined) {
    if (places < ranks) fail(`at least ${ranks} places`, places)
    return
  }
  if (!(place instanceof Int32Array) || place.length !== ranks)
    fail(`a place of each of ${ranks} participants`, place)
  const isTaken = new Uint8Array(places)
  for (const at of place) {
    if (at < 0 || at >= places) fail(`places from 0 to ${places - 1}`, at)
    if (isTaken[at] === 1) fail('one participant at each place, two at one', at)
    isTaken[at] = 1
  }
}

/** Counts the places, with participants or without. */
export function placesOfGrid({ dims, perNode = 1 }: ParticipantGrid): number {
  return dims.reduce((product, extent) => product * extent, perNode)
}
