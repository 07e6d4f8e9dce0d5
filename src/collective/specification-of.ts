import { noReductions, type Specification, upTo } from '../schedule/specification.js'
import type { Algorithm, Shape } from './algorithm.js'

/**
 * What an algorithm's collective demands for a shape (MPI-4.1 chapter 6). The unit of data is what MPI's count describes: cut
 * into the algorithm's number of parts, or else into segments.
 *
 * | collective | contributes | slots |
 * |---|---|---|
 * | bcast | the root its parts | of every other rank: the parts |
 * | scatter | the root for every rank its segments | of every rank: its segments |
 * | gather, allgather | every rank its segments | of the root, of every rank: all, by rank |
 * | alltoall | every rank for every rank its segments | of every rank: what is for it, by rank |
 * | reduce, allreduce | every rank its parts | of the root, of every rank: the parts combined over all ranks |
 * | reduce-scatter | every rank for every rank its segments | of every rank: its segments combined over all ranks |
 * | scan, exscan | every rank its parts | of every rank: the parts combined up to it, or before it (rank 0: none) |
 * | barrier | every rank one empty block | of every rank: all combined, each at least once |
 *
 * @param ranks whose rows are filled. Default: all.
 */
export function specificationOf(
  { collective, parts }: Algorithm,
  shape: Shape,
  rows: Iterable<number> = Array(shape.ranks).keys(),
): Specification {
  const { ranks, root = 0, segments = 1 } = shape
  const cut = parts?.(shape) ?? segments
  switch (collective) {
    case 'bcast': {
      const partStart = startsOf(ranks, (rank) => (rank === root ? cut : 0))
      return rowsOf(collective, ranks, partStart, rows, {
        own: (rank) => (rank === root ? upTo(cut) : none),
        slots: (rank) => (rank === root ? none : upTo(cut)),
      })
    }
    default:
      throw new Error(`not written: ${collective}`)
  }
}

const none = new Int32Array(0)

interface Rows {
  own(rank: number): Int32Array
  slots(rank: number): Int32Array
}

function rowsOf(
  collective: Specification['collective'],
  ranks: number,
  partStart: Int32Array,
  rows: Iterable<number>,
  { own, slots }: Rows,
): Specification {
  const ownRows: Int32Array[] = new Array(ranks).fill(none)
  const slotRows: Int32Array[] = new Array(ranks).fill(none)
  for (const rank of rows) {
    ownRows[rank] = own(rank)
    slotRows[rank] = slots(rank)
  }
  return {
    collective,
    ranks,
    partStart,
    ownStart: startsOf(ranks, (rank) => ownRows[rank].length),
    ownBlock: joined(ownRows),
    slotStart: startsOf(ranks, (rank) => slotRows[rank].length),
    slotTerm: joined(slotRows),
    reductions: noReductions,
  }
}

function startsOf(ranks: number, lengthOf: (rank: number) => number): Int32Array {
  const starts = new Int32Array(ranks + 1)
  for (let rank = 0; rank < ranks; rank++) starts[rank + 1] = starts[rank] + lengthOf(rank)
  return starts
}

function joined(rows: readonly Int32Array[]): Int32Array {
  const all = new Int32Array(rows.reduce((sum, row) => sum + row.length, 0))
  let at = 0
  for (const row of rows) {
    all.set(row, at)
    at += row.length
  }
  return all
}
