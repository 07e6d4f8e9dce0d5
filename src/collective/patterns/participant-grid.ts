import { wrongValue } from '../../errors.js'

/**
 * Where the participants of a collective are: nodes in a grid, and places of equally many participants at each node. The
 * grid may have places without a participant.
 */
export interface ParticipantGrid {
  /** Nodes per dimension; the first varies fastest with the number of a node. */
  readonly dims: readonly number[]
  /** Whether a dimension's last node is linked to its first. */
  readonly wraps: readonly boolean[]
  /** Places of every node: node n has those from `n * perNode` on. Default 1. */
  readonly perNode?: number
  /** Place of every participant, each another one. Default: participant i is at place i. */
  readonly place?: Int32Array
}

/** Places of a grid are below this number. */
export const mostPlaces = 2 ** 24

/** @throws ERR_ARGUMENT unless every participant has a place in the grid that no other has */
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

/** Places, with participants or without. */
export function placesOfGrid({ dims, perNode = 1 }: ParticipantGrid): number {
  return dims.reduce((product, extent) => product * extent, perNode)
}
