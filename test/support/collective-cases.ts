import type { Collective } from '../../src/schedule/specification.js'

/**
 * What a reduction combines: 32-bit integers that wrap, added; 2x2 matrices of them, multiplied, which does
 * not commute; doubles of random magnitudes, added in the order of the tree; or doubles that are whole numbers,
 * added in any order.
 */
export type Content = 'integers' | 'matrices' | 'doubles' | 'wholes'

/** Units of every block: none, five, none to three by source and destination, or one. */
export type Lengths = 'none' | 'equal' | 'varying' | 'one'

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

export const lengthsInOrder: readonly Lengths[] = ['none', 'equal', 'varying', 'one']
export const contentsInOrder: readonly Content[] = ['integers', 'matrices', 'doubles', 'wholes']

export function allRootsOf(collective: Collective, ranks: number): readonly number[] {
  return rooted.has(collective) ? [...Array(ranks).keys()] : [0]
}

/** All roots of a rooted collective up to 9 ranks, three beyond. */
export function rootsOf(collective: Collective, ranks: number): readonly number[] {
  const all = allRootsOf(collective, ranks)
  return all.length <= 9 ? all : [0, Math.floor(ranks / 2) + 1, ranks - 1]
}

/** Every case on so many ranks with this root. */
export function allCasesOf(collective: Collective, ranks: number, root: number): readonly CollectiveCase[] {
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

/** Of all cases those that mpi-collectives.c knows, and sums of doubles. */
export function casesOf(collective: Collective, ranks: number, root: number): readonly CollectiveCase[] {
  return allCasesOf(collective, ranks, root).filter(
    ({ lengths, content }) => lengths !== 'one' && (content !== 'wholes' || lengths === 'varying'),
  )
}

/** Whether mpi-collectives.c has the case, and gets the same: MPI's sums of doubles have no one order. */
export const isComparable = ({ collective, content, lengths }: CollectiveCase): boolean =>
  collective !== 'barrier' && lengths !== 'one' && (content === 'integers' || content === 'matrices')

/** Those that MPI's own collectives are called for, in order. */
export function casesOfMpi(mostRanks: number): readonly CollectiveCase[] {
  const found: CollectiveCase[] = []
  for (let ranks = 1; ranks <= mostRanks; ranks++) {
    for (const collective of collectives) {
      for (const root of rootsOf(collective, ranks)) {
        for (const given of casesOf(collective, ranks, root)) {
          if (isComparable(given)) found.push(given)
        }
      }
    }
  }
  return found
}

/** Names a case; equal cases have equal names. */
export const nameOf = ({ collective, ranks, root, lengths, content }: CollectiveCase): string =>
  `${collective} of ${content} over ${ranks} ranks, root ${root}, ${lengths} lengths`
