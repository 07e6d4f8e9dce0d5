import type { Collective, NeighborCollective } from '../../schedule/specification.js'

/** What the algorithms of a collective carry out: the same calls by each of them. */
export interface ServedCalls {
  /** Methods of a communicator; each has a form that starts it, and a persistent one. */
  readonly calls: readonly string[]
  /** Of these, those whose blocks may differ in length. */
  readonly uneven: readonly string[]
  /** Whether a result may lie where the data are, as with MPI_IN_PLACE. */
  readonly inPlace: boolean
}

/** Of every collective that has algorithms. */
export const servedCalls: Readonly<Record<Exclude<Collective, NeighborCollective>, ServedCalls>> = {
  barrier: { calls: ['barrier'], uneven: [], inPlace: false },
  bcast: { calls: ['bcast'], uneven: [], inPlace: true },
  scatter: { calls: ['scatter', 'scatterv'], uneven: ['scatterv'], inPlace: true },
  gather: { calls: ['gather', 'gatherv'], uneven: ['gatherv'], inPlace: true },
  allgather: { calls: ['allgather', 'allgatherv'], uneven: ['allgatherv'], inPlace: true },
  alltoall: { calls: ['alltoall', 'alltoallv'], uneven: ['alltoallv'], inPlace: true },
  reduce: { calls: ['reduce'], uneven: [], inPlace: true },
  allreduce: { calls: ['allreduce'], uneven: [], inPlace: true },
  'reduce-scatter': { calls: ['reduceScatter'], uneven: ['reduceScatter'], inPlace: true },
  scan: { calls: ['scan'], uneven: [], inPlace: true },
  exscan: { calls: ['exscan'], uneven: [], inPlace: true },
}
