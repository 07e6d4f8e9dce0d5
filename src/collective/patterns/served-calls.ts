import type { Collective, NeighborCollective } from '../../schedule/specification.js'

/** The calls that the algorithms of a collective serve, the same for each of them. */
export interface ServedCalls {
  /** The methods of a communicator; each also has a form that starts it and a persistent one. */
  readonly calls: readonly string[]
  /** The calls among these whose blocks may differ in length. */
  readonly uneven: readonly string[]
  /** Whether a result may lie where the data are, as with MPI_IN_PLACE. */
  readonly inPlace: boolean
}

/** The calls of every collective that has algorithms. */
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
