import type { TuningFile } from '../../src/tuning/models/tuning-file.js'
import type { Mpi } from './mpi.js'
import { treeBySize } from './mpi-tuning-file.js'

/** Settings that no library would choose, by size. */
export const oddDecisions: Readonly<Record<Mpi['name'], TuningFile['decisions']>> = {
  'Open MPI': {
    barrier: treeBySize('barrier', ['double_ring']),
    bcast: treeBySize(
      'bcast',
      ['basic_linear', 'pipeline:segment=512', 'knomial:radix=3,segment=1024'],
      [8, 2000],
    ),
    scatter: treeBySize('scatter', ['linear_nb', 'binomial'], [100]),
    gather: treeBySize('gather', ['linear_sync:segment=256', 'binomial'], [100]),
    allgather: treeBySize('allgather', ['neighbor', 'ring', 'default'], [100, 2000]),
    reduce: treeBySize(
      'reduce',
      ['in-order_binary', 'chain:fanout=3,segment=256', 'rabenseifner'],
      [8, 2000],
    ),
    allreduce: treeBySize('allreduce', ['basic_linear', 'segmented_ring:segment=512', 'ring'], [8, 2000]),
    'reduce-scatter': treeBySize('reduce-scatter', ['basic_linear', 'ring', 'butterfly'], [8, 2000]),
    alltoall: treeBySize('alltoall', ['linear_sync:requests=2', 'modified_bruck', 'two_proc'], [8, 2000]),
    scan: treeBySize('scan', ['linear', 'recursive_doubling'], [100]),
    exscan: treeBySize('exscan', ['linear']),
  },
  MPICH: {
    barrier: treeBySize('barrier', ['dissemination']),
    bcast: treeBySize('bcast', ['scatter_ring_allgather', 'nb', 'binomial'], [8, 2000]),
    scatter: treeBySize('scatter', ['nb', 'binomial'], [100]),
    gather: treeBySize('gather', ['nb', 'binomial'], [100]),
    allgather: treeBySize('allgather', ['ring', 'brucks', 'default'], [100, 2000]),
    reduce: treeBySize('reduce', ['binomial', 'nb', 'reduce_scatter_gather'], [8, 2000]),
    allreduce: treeBySize('allreduce', ['smp', 'nb', 'reduce_scatter_allgather'], [8, 2000]),
    'reduce-scatter': treeBySize('reduce-scatter', ['pairwise', 'recursive_doubling', 'nb'], [8, 2000]),
    alltoall: treeBySize('alltoall', ['brucks', 'scattered', 'imaginary'], [8, 2000]),
    scan: treeBySize('scan', ['smp', 'recursive_doubling'], [100]),
    exscan: treeBySize('exscan', ['recursive_doubling']),
  },
}
