import type { TunedCollective, TunedSetting } from '../../src/collective/open-mpi-settings.js'

const [kiB, miB, eightMiB] = [2 ** 10, 2 ** 20, 2 ** 23]

/**
 * The settings among which the tuner of Steiner chooses: 8 of allreduce, 22 of bcast, 5 of allgather, 7 of alltoall, in
 * its order.
 *
 * @see Steiner 2023, Online Algorithm Selection of MPI Collective Communication Operations, tables A.1 to A.4; the
 *   numbers of broadcasts in table A.2 are one too small from 5 on
 */
export const tunedSettings: readonly TunedSetting[] = Object.freeze([
  ...named('allreduce', 'basic_linear', 'nonoverlapping', 'recursive_doubling', 'ring'),
  ...segmented('allreduce', 'segmented_ring', kiB, miB, eightMiB),
  ...named('allreduce', 'rabenseifner'),
  ...segmented('bcast', 'basic_linear', kiB),
  ...[kiB, miB, eightMiB].flatMap((segmentBytes) =>
    [1, 4, 16].map((fanout) => ({ collective: 'bcast', algorithm: 'chain', segmentBytes, fanout }) as const),
  ),
  ...segmented('bcast', 'pipeline', kiB, miB, eightMiB),
  ...segmented('bcast', 'split_binary_tree', kiB),
  ...segmented('bcast', 'binomial', miB),
  ...segmented('bcast', 'knomial', eightMiB),
  ...segmented('bcast', 'scatter_allgather', kiB, miB, eightMiB),
  ...segmented('bcast', 'scatter_allgather_ring', kiB, miB, eightMiB),
  ...named('allgather', 'linear', 'bruck', 'recursive_doubling', 'ring', 'neighbor'),
  ...named('alltoall', 'linear', 'pairwise', 'modified_bruck'),
  ...[0, 64, 128, 512].map(
    (requests) => ({ collective: 'alltoall', algorithm: 'linear_sync', requests }) as const,
  ),
])

function named(collective: TunedCollective, ...names: readonly string[]): readonly TunedSetting[] {
  return names.map((algorithm) => ({ collective, algorithm }))
}

function segmented(
  collective: TunedCollective,
  algorithm: string,
  ...sizes: readonly number[]
): readonly TunedSetting[] {
  return sizes.map((segmentBytes) => ({ collective, algorithm, segmentBytes }))
}
