import { type TunedCollective, tunedAlgorithms } from '../../src/collective/open-mpi-settings.js'

const namesOf = (collective: TunedCollective): readonly string[] => Object.keys(tunedAlgorithms[collective])

/** The names of Open MPI's algorithms, by collective. */
export const tunedNames = {
  allreduce: namesOf('allreduce'),
  bcast: namesOf('bcast'),
  allgather: namesOf('allgather'),
  alltoall: namesOf('alltoall'),
}
