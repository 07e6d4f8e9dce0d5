import { rangeAt } from '../../base/search.js'
/**
 * The places where the slices of a distributed table begin: slice i holds positions `start(i)` to `start(i + 1) - 1`.
 */
export interface SliceBounds {
  readonly slices: number
  readonly rows: number
  start(slice: number): number
  /** Returns the slice that holds a position below `rows`. */
  sliceOf(position: number): number
  /** Returns every slice divided into `parts` that differ by at most one row; even bounds stay even. */
  subdivided(parts: number): SliceBounds
  readonly sizeBytes: number
}

/**
 * Returns bounds at which slice i begins at floor(i N / P'): sizes differ by 1 at most, and nothing is stored
 * (docs/split-algorithms.md#look-ups-and-lifetime).
 */
export function evenBounds(rows: number, slices: number): SliceBounds {
  return {
    slices,
    rows,
    sizeBytes: 0,
    start: (slice) => Math.floor((slice * rows) / slices),
    subdivided: (parts) => evenBounds(rows, slices * parts),
    sliceOf: (position) => Math.floor(((position + 1) * slices - 1) / rows),
  }
}

/** Returns the bounds of inexact splitters, ascending, `slices + 1` of them. */
export function givenBounds(starts: Float64Array): SliceBounds {
  const slices = starts.length - 1
  return {
    slices,
    rows: starts[slices],
    sizeBytes: starts.byteLength,
    start: (slice) => starts[slice],
    subdivided: (parts) =>
      givenBounds(
        Float64Array.from({ length: slices * parts + 1 }, (_, i) => {
          const slice = Math.floor(i / parts)
          const start = starts[slice]
          const rows = (starts[slice + 1] ?? start) - start
          return start + Math.floor(((i % parts) * rows) / parts)
        }),
      ),
    sliceOf: (position) => rangeAt(starts, position),
  }
}
