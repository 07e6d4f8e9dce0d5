import { rangeAt } from '../base/search.js'
import { RankweaveError } from '../errors.js'
import type { Machine } from './machine.js'
import { requireCores } from './nodes.js'

/** The launchers whose jobs read a file of places. */
export const placesFormats = ['openmpi', 'mpich', 'slurm'] as const
type PlacesFormat = (typeof placesFormats)[number]

interface RankPlaces {
  /** The core of every rank, counted over all nodes. */
  readonly coreOf: ArrayLike<number>
  readonly machine: Machine
  /** The names of nodes. */
  readonly hosts: readonly string[] | null
}

/**
 * Writes a file that places ranks on cores:
 * - `openmpi`: a rankfile, for `mpirun --rankfile FILE`; cores of a node by number
 * - `mpich`: a host file with a line for every rank, for `mpiexec -f FILE`
 * - `slurm`: a list of hosts with a line for every rank, for `SLURM_HOSTFILE=FILE srun --distribution=arbitrary`
 *
 * With `mpich` and `slurm` the ranks of a node take its cores in their order.
 *
 * @throws ERR_MACHINE for ranks without a core, and without names of hosts
 */
export function* rankPlacesText(
  format: PlacesFormat,
  { coreOf, machine, hosts }: RankPlaces,
): Generator<string> {
  const { firstRank, cores } = machine
  requireCores(coreOf.length, firstRank[cores.length])
  if (hosts === null)
    throw new RankweaveError(
      'ERR_MACHINE',
      `${format}: expected a machine with names of hosts, such as hosts:FILE`,
    )
  for (let rank = 0; rank < coreOf.length; rank++) {
    const node = rangeAt(firstRank, coreOf[rank])
    if (format === 'openmpi') yield `rank ${rank}=${hosts[node]} slot=${coreOf[rank] - firstRank[node]}\n`
    else if (format === 'mpich') yield `${hosts[node]}:1\n`
    else yield `${hosts[node]}\n`
  }
}
