import type { BuiltPrograms } from '../build-programs.js'
import { ratioAtMost, type Suite, timesFaster } from '../comparison.js'
import type { MpiName } from '../mpi-library.js'

/** Whole splits and their frees, compared with MPI_Comm_split. */
export function splitSuites(built: BuiltPrograms, libraries: readonly MpiName[]): Suite[] {
  return [
    onThreads(built),
    ...[2, 4, 16, 64].flatMap((processes) => libraries.map((library) => onMpi(built, library, processes))),
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

/**
 * 32 processes per core: a split takes tens of milliseconds, and with MPICH, which does not yield, seconds.
 */
const packedEffort = { warmUp: 20, warmUpMs: 15_000, iterations: 1, batches: 21 }

interface Effort {
  readonly args: object
  /** Of baselines/comm_split.c: iterations, batches, communicators to weigh. */
  readonly words: readonly number[]
  readonly limitSeconds: number
  /** Both take part in one of this many rounds. */
  readonly every: number
}

function effortOf(library: MpiName, processes: number): Effort {
  // A garbage-collected heap shows the size of small objects only with very many of them. MPICH has about
  // 2,000 communicators in all, and takes a quarter of a second for each where processes share cores.
  if (processes <= 2)
    return { args: { ...effort, weigh: 2000 }, words: [50, 101, 200], limitSeconds: 120, every: 1 }
  if (processes <= 16) {
    const words = [3, 11, library === 'MPICH' ? 50 : 200]
    return {
      args: { ...crowdedEffort, weigh: 200 },
      words,
      limitSeconds: 120,
      every: library === 'MPICH' ? 3 : 1,
    }
  }
  return { args: packedEffort, words: library === 'MPICH' ? [1, 3] : [3, 11], limitSeconds: 240, every: 3 }
}

/** One rank per process on both sides. */
function onMpi(built: BuiltPrograms, library: MpiName, processes: number): Suite {
  const { args, words, limitSeconds, every } = effortOf(library, processes)
  const details = { mpi: library }
  const title = `${processes} processes of ${library}`
  const retained = {
    case: `a retained communicator of a split, ${title}`,
    unit: 'bytes per process',
    ours: 'ours',
    key: 'bytes',
    baselines: ['comm_split'],
    details,
  }
  return {
    name: `mpi${processes}-${library === 'Open MPI' ? 'openmpi' : 'mpich'}`,
    implementations: [
      { ...built.onMpi('ours', library, { program: 'split', ranks: processes, args }, limitSeconds), every },
      { ...built.inC('comm_split', library, 'comm_split', processes, words, limitSeconds), every },
    ],
    cases: [
      {
        case: `split and free on ${title}`,
        unit: 'us',
        ours: 'ours',
        key: 'split',
        baselines: ['comm_split'],
        // 32 processes per core measure the scheduler.
        ...(processes > 16 ? {} : { target: ratioAtMost(5) }),
        details,
      },
      ...(words.length > 2 ? [retained] : []),
    ],
  }
}
