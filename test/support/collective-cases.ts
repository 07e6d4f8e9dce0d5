import type { Collective } from '../../src/schedule/specification.js'

/**
 * What a reduction combines: 32-bit integers that wrap, added; 2x2 matrices of them, multiplied, which does
 * not commute; or doubles of random magnitudes, added in the order of the tree.
 */
export type Content = 'integers' | 'matrices' | 'doubles'

/** Units of every block: none, as many for each, or none to three by source and destination. */
export type Lengths = 'none' | 'equal' | 'varying'

/** A collective on data that follow from these fields alone. */
export interface CollectiveCase {
  readonly collective: Collective
  readonly ranks: number
  /** 0 where there is none. */
  readonly root: number
  readonly lengths: Lengths
  readonly content: Content
}

/** The order in which `mpi-collectives.c` numbers them. */
export const collectives = [
  'barrier',
  'bcast',
  'scatter',
  'gather',
  'allgather',
  'alltoall',
  'reduce',
  'allreduce',
  'reduce-scatter',
  'scan',
  'exscan',
] as const satisfies readonly Collective[]

const rooted: ReadonlySet<Collective> = new Set<Collective>(['bcast', 'scatter', 'gather', 'reduce'])
const reductions: ReadonlySet<Collective> = new Set<Collective>([
  'reduce',
  'allreduce',
  'reduce-scatter',
  'scan',
  'exscan',
])

export const lengthsInOrder: readonly Lengths[] = ['none', 'equal', 'varying']
export const contentsInOrder: readonly Content[] = ['integers', 'matrices', 'doubles']

/** With all roots of a rooted collective up to 9 ranks, three beyond. */
export function rootsOf(collective: Collective, ranks: number): readonly number[] {
  if (!rooted.has(collective)) return [0]
  return ranks <= 9 ? [...Array(ranks).keys()] : [0, Math.floor(ranks / 2) + 1, ranks - 1]
}

/** Every case on so many ranks with this root. */
export function casesOf(collective: Collective, ranks: number, root: number): readonly CollectiveCase[] {
  if (collective === 'barrier') return [{ collective, ranks, root, lengths: 'none', content: 'integers' }]
  return lengthsInOrder.flatMap((lengths) =>
    (reductions.has(collective) ? contentsInOrder : contentsInOrder.slice(0, 1)).map((content) => ({
      collective,
      ranks,
      root,
      lengths,
      content,
    })),
  )
}

/** Those that MPI's own collectives are called for, in order. Its sums of doubles have no one order. */
export function casesOfMpi(mostRanks: number): readonly CollectiveCase[] {
  const found: CollectiveCase[] = []
  for (let ranks = 1; ranks <= mostRanks; ranks++) {
    for (const collective of collectives) {
      for (const root of rootsOf(collective, ranks)) {
        for (const given of casesOf(collective, ranks, root)) {
          if (collective !== 'barrier' && given.content !== 'doubles') found.push(given)
        }
      }
    }
  }
  return found
}

/** Names a case; equal cases have equal names. */
export const nameOf = ({ collective, ranks, root, lengths, content }: CollectiveCase): string =>
  `${collective} of ${content} over ${ranks} ranks, root ${root}, ${lengths} lengths`
