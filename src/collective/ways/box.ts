import { upTo } from '../../schedule/specification.js'
import { type ParticipantGrid, placesOfGrid } from '../patterns/participant-grid.js'

/**
 * Participants that fill a grid of positions, one at each position. Position 0 has all coordinates 0, and the first
 * dimension varies fastest.
 */
export interface Box {
  /** The extents. None is 1; a single participant has no dimension. */
  readonly dims: readonly number[]
  readonly wraps: readonly boolean[]
  /** Whether the first dimension is that of the places of a node. */
  readonly isFirstInside: boolean
  /** The participant at every position. */
  readonly at: Int32Array
  /** The position of every participant. */
  readonly of: Int32Array
}

/** The extents of a {@link Box}, and their meaning. */
export type BoxExtents = Pick<Box, 'dims' | 'wraps' | 'isFirstInside'>

/** Returns the grid of all participants, if they fill it; else the line along a path through their nodes. */
export function boxOf(grid: ParticipantGrid | undefined, ranks: number): Box {
  if (grid === undefined) return lineOf(upTo(ranks))
  if (placesOfGrid(grid) !== ranks) return pathBox(grid, ranks, 0)
  const { place = upTo(ranks) } = grid
  const at = new Int32Array(ranks)
  place.forEach((position, participant) => {
    at[position] = participant
  })
  return { ...boxExtents(grid, ranks), at, of: place }
}

/** Returns the extents of {@link boxOf}, without its participants. */
export function boxExtents(grid: ParticipantGrid | undefined, ranks: number): BoxExtents {
  if (grid === undefined || placesOfGrid(grid) !== ranks) return lineExtents(ranks)
  const { dims, wraps, perNode = 1 } = grid
  const all = [
    { extent: perNode, wrap: false },
    ...dims.map((extent, d) => ({ extent, wrap: wraps[d] })),
  ].filter(({ extent }) => extent > 1)
  return {
    dims: all.map(({ extent }) => extent),
    wraps: all.map(({ wrap }) => wrap),
    isFirstInside: perNode > 1,
  }
}

export function lineExtents(ranks: number): BoxExtents {
  const dims = ranks === 1 ? [] : [ranks]
  return { dims, wraps: dims.map(() => false), isFirstInside: false }
}

/**
 * Returns the line of participants along a path that passes every node of the grid once, from neighbor to neighbor: to
 * and fro in the first dimension, then in the next. Positions without a participant are left out, so that the distance
 * along the line is at most the distance along the path.
 *
 * @param turn the number of dimensions from the first one to the one that the path takes first
 * @see Sack 2011 chapter 3 (irregular partitions)
 */
export function pathBox(grid: ParticipantGrid | undefined, ranks: number, turn: number): Box {
  if (grid === undefined) return lineOf(upTo(ranks))
  const { dims, perNode = 1, place } = grid
  const turned = dims.map((_, d) => (d + turn) % dims.length)
  const strides = stridesOf(dims)
  const along = (participant: number): number => {
    const at = place?.[participant] ?? participant
    const node = Math.floor(at / perNode)
    let index = 0
    for (let i = turned.length - 1; i >= 0; i--) {
      const extent = dims[turned[i]]
      const coordinate = Math.floor(node / strides[turned[i]]) % extent
      index = index * extent + (index % 2 === 0 ? coordinate : extent - 1 - coordinate)
    }
    return index * perNode + (at % perNode)
  }
  const keys = Float64Array.from({ length: ranks }, (_, participant) => along(participant))
  return lineOf(upTo(ranks).sort((a, b) => keys[a] - keys[b]))
}

/** @param at the participant at every position */
function lineOf(at: Int32Array): Box {
  const of = new Int32Array(at.length)
  at.forEach((participant, position) => {
    of[participant] = position
  })
  return { ...lineExtents(at.length), at, of }
}

/** Returns the distance between positions whose coordinate differs by one, by dimension. */
export function stridesOf(dims: readonly number[]): readonly number[] {
  const strides: number[] = []
  let stride = 1
  for (const extent of dims) {
    strides.push(stride)
    stride *= extent
  }
  return strides
}
