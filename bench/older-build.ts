import type { BuiltPrograms } from './build-programs.js'
import type { Case, Implementation, Suite } from './comparison.js'
import { bytesText } from './message-plans.js'
import type { MpiName } from './mpi-library.js'
import type { CallCase, CallName } from './programs/calls.js'

const rounds = 15
const limitSeconds = 300
/** A ratio of times whose whole 95% interval is above this is a loss. */
const intervalLimit = 1.03

const calls: readonly CallName[] = [
  ...(['barrier', 'bcast', 'scatter', 'gather', 'allgather', 'alltoall'] as const),
  ...(['reduce', 'allreduce', 'reduceScatter', 'scan', 'exscan'] as const),
]
type Fabric = 'local' | 'threads' | MpiName

/** All collectives of this library and of an older build, in turns, on every fabric. */
export function olderBuildSuites(
  ours: BuiltPrograms,
  older: BuiltPrograms,
  commit: string,
  mpis: readonly MpiName[],
): Suite[] {
  const effort = { warmUp: 2000, iterations: 100, batches: 31 }
  return [
    everyCall(ours, older, commit, 'local', 64, [8, 4096], effort),
    everyCall(ours, older, commit, 'threads', 64, [8, 4096], effort),
    ...mpis.flatMap((mpi) => [
      everyCall(ours, older, commit, mpi, 4, [8, 2 ** 16], { ...effort, warmUpMs: 600 }),
      ...[2 ** 20, 2 ** 24].map((sizeBytes) => longArrays(ours, older, commit, mpi, sizeBytes)),
    ]),
  ]
}

/** Two builds run the same program. */
function turns(
  ours: BuiltPrograms,
  older: BuiltPrograms,
  start: (built: BuiltPrograms, name: string) => Implementation,
): readonly Implementation[] {
  return [start(ours, 'ours'), start(older, 'older')]
}

const compared = (key: string, title: string, commit: string): Case => ({
  case: `${title}, vs ${commit}`,
  unit: 'us',
  ours: 'ours',
  key,
  baselines: ['older'],
  intervalLimit,
  details: { older: commit },
})

function everyCall(
  ours: BuiltPrograms,
  older: BuiltPrograms,
  commit: string,
  fabric: Fabric,
  ranks: number,
  sizes: readonly number[],
  effort: Omit<CallCase, 'key' | 'call' | 'bytes'>,
): Suite {
  const args = calls.flatMap((call) =>
    (call === 'barrier' ? [0] : sizes).map(
      (bytes): CallCase => ({ key: `${call} ${bytes}`, call, bytes, ...effort }),
    ),
  )
  const start = (built: BuiltPrograms, name: string): Implementation => {
    const world = { program: 'calls', ranks, args }
    if (fabric === 'local') return built.onLocal(name, world, limitSeconds)
    if (fabric === 'threads') return built.onThreads(name, world, limitSeconds)
    return built.onMpi(name, fabric, world, limitSeconds)
  }
  const where = {
    local: `${ranks} ranks in 1 process`,
    threads: `${ranks} ranks on 2 threads`,
    'Open MPI': `${ranks} processes of Open MPI`,
    MPICH: `${ranks} processes of MPICH`,
  }[fabric]
  return {
    name: `calls-${nameOf(fabric)}`,
    runs: rounds,
    implementations: turns(ours, older, start),
    cases: args.map(({ key, call, bytes }) =>
      compared(key, `${call}${call === 'barrier' ? '' : ` of ${bytesText(bytes)}`}, ${where}`, commit),
    ),
  }
}

function longArrays(
  ours: BuiltPrograms,
  older: BuiltPrograms,
  commit: string,
  mpi: MpiName,
  sizeBytes: number,
): Suite {
  const processes = 4
  const operations = ['bcast', 'allgather']
  const args = { sizeBytes, repeats: sizeBytes > 2 ** 22 ? 9 : 41, operations }
  const world = { program: 'large', ranks: processes, processes, args }
  return {
    name: `long-${nameOf(mpi)}-${bytesText(sizeBytes).replace(' ', '')}`,
    runs: rounds,
    implementations: turns(ours, older, (built, name) => built.onMpi(name, mpi, world, limitSeconds)),
    cases: operations.map((key) =>
      compared(key, `${key} of ${bytesText(sizeBytes)}, ${processes} processes of ${mpi}`, commit),
    ),
  }
}

const nameOf = (fabric: Fabric): string => fabric.replace(' ', '').toLowerCase()
