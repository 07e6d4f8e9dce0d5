import type { BuiltPrograms } from '../build-programs.js'
import { ratioAtMost, type Suite, timesFaster } from '../comparison.js'
import type { MpiName } from '../mpi-library.js'

/** Whole splits and their frees, compared with MPI_Comm_split. */
export function splitSuites(built: BuiltPrograms, libraries: readonly MpiName[]): Suite[] {
  return [
    onThreads(built),
    ...[2, 16].flatMap((processes) => libraries.map((library) => onMpi(built, library, processes))),
  ]
}

/** Code that is compiled while it runs needs a second or two to warm up. */
const effort = { warmUp: 2000, iterations: 50, batches: 801 }

/** 8 processes per core compile one after the other. */
const crowdedEffort = { warmUp: 8000, warmUpMs: 15_000, iterations: 50, batches: 101 }

function onThreads(built: BuiltPrograms): Suite {
  const ranks = 64
  return {
    name: 'threads64',
    implementations: [
      built.onThreads('ours', { program: 'split', ranks, args: effort }, 120),
      built.inC('comm_split', 'Open MPI', 'comm_split', ranks, [3, 11], 120),
    ],
    cases: [
      {
        case: `split and free of ${ranks} ranks on 2 threads, vs ${ranks} oversubscribed processes`,
        unit: 'us',
        ours: 'ours',
        key: 'split',
        baselines: ['comm_split'],
        target: timesFaster(20),
      },
    ],
  }
}

/** One rank per process on both sides. */
function onMpi(built: BuiltPrograms, library: MpiName, processes: number): Suite {
  const few = processes > 2
  // A garbage-collected heap shows the size of small objects only with very many of them. MPICH has about 2,000
  // communicators in all, and takes a quarter of a second for each where processes share cores.
  const args = few ? { ...crowdedEffort, weigh: 200 } : { ...effort, weigh: 2000 }
  const words = few ? [3, 11, library === 'MPICH' ? 50 : 200] : [50, 101, 200]
  const details = { mpi: library }
  return {
    name: `mpi${processes}-${library === 'Open MPI' ? 'openmpi' : 'mpich'}`,
    implementations: [
      built.onMpi('ours', library, { program: 'split', ranks: processes, args }, 120),
      built.inC('comm_split', library, 'comm_split', processes, words, 120),
    ],
    cases: [
      {
        case: `split and free on ${processes} processes of ${library}`,
        unit: 'us',
        ours: 'ours',
        key: 'split',
        baselines: ['comm_split'],
        target: ratioAtMost(5),
        details,
      },
      {
        case: `a retained communicator of a split, ${processes} processes of ${library}`,
        unit: 'bytes per process',
        ours: 'ours',
        key: 'bytes',
        baselines: ['comm_split'],
        details,
      },
    ],
  }
}
