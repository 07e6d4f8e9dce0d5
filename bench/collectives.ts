import type { Bench, BenchOptions, Figure } from './bench.js'
import { BuiltPrograms } from './build-programs.js'
import { type Case, figuresOf, type Suite, timesFaster } from './comparison.js'
import { bandwidthOf, bytesText } from './message-plans.js'
import type { MpiName } from './mpi-library.js'
import { olderBuildSuites } from './older-build.js'
import type { CollectiveCase } from './programs/collectives.js'

/** The last commit whose collectives were written as code, not as schedules. */
const commitBefore = 'd497ac7'
const libraries = ['Open MPI', 'MPICH'] as const

/**
 * Collectives that run as schedules, compared with how they ran before, with the MPI libraries' own, and with
 * a copy in memory. With option `before` all calls, compared with those of that commit.
 */
export const collectivesBench: Bench = {
  name: 'collectives',
  question: `What do collectives gain as schedules, compared with ${commitBefore} and with MPI?`,
  async *measure(options: BenchOptions = {}): AsyncGenerator<Figure> {
    const older = options.before
    const ours = new BuiltPrograms(libraries)
    const before = new BuiltPrograms(libraries, older ?? commitBefore)
    const compared =
      older === undefined ? suites(ours, before) : olderBuildSuites(ours, before, older, libraries)
    try {
      yield* figuresOf(compared, options)
    } finally {
      ours.close()
      before.close()
    }
  },
}

function suites(ours: BuiltPrograms, before: BuiltPrograms): Suite[] {
  const fabrics = ['threads', ...libraries] as const
  return [
    small(ours, before),
    ...fabrics.flatMap((fabric) => [
      arrays(ours, before, fabric, 2 ** 24, ['allreduceSum'], 1.3),
      arrays(ours, before, fabric, 2 ** 20, ['bcast', 'allgather'], 1.5),
    ]),
    crowded(ours, before),
  ]
}

const topology = 'moore:8x8:r=4'

/** What many ranks on few threads call most must not have become slower. */
function small(ours: BuiltPrograms, before: BuiltPrograms): Suite {
  const ranks = 64
  const effort = { warmUp: 2000, iterations: 100, batches: 31 }
  const args: CollectiveCase[] = [
    { key: 'barrier', kind: 'barrier', ...effort },
    { key: 'allreduce', kind: 'allreduce', ...effort },
    { key: 'persistent', kind: 'persistent', topology, ...effort },
  ]
  const titles = ['barrier', 'allreduce of 8 B', `neighbor allgather 4 B, ${topology}, persistent`]
  const world = { program: 'collectives', ranks, args }
  return {
    name: 'small',
    runs: 21,
    implementations: [ours.onThreads('ours', world, 60), before.onThreads('before', world, 60)],
    cases: args.map(({ key }, i) => ({
      case: `${titles[i]}, ${ranks} ranks on 2 threads, vs before`,
      unit: 'us',
      ours: 'ours',
      key,
      baselines: ['before'],
      intervalLimit: 1.05,
    })),
  }
}

/** Large arrays on 4 one-rank processes. */
function arrays(
  ours: BuiltPrograms,
  before: BuiltPrograms,
  fabric: 'threads' | MpiName,
  sizeBytes: number,
  keys: readonly string[],
  times: number,
): Suite {
  const processes = 4
  const repeats = sizeBytes > 2 ** 22 ? 5 : 41
  const operations = ['copy', ...keys]
  const worldOf = (order?: 'any') => ({
    program: 'large',
    ranks: processes,
    processes,
    args: { sizeBytes, repeats, operations, ...(order === undefined ? {} : { order }) },
  })
  const on = (built: BuiltPrograms, name: string, order?: 'any') =>
    fabric === 'threads'
      ? built.onThreads(name, worldOf(order), 120)
      : built.onMpi(name, fabric, worldOf(order), 120)
  const inC =
    fabric === 'threads' ? [] : [ours.inC('C', fabric, 'large', processes, [sizeBytes, repeats], 120)]
  const where = `${bytesText(sizeBytes)}, ${processes} ${fabric === 'threads' ? 'threads' : `processes of ${fabric}`}`
  const figure = { ...bandwidthOf(sizeBytes), ours: 'ours', details: { sizeBytes, fabric } }
  return {
    name: `${bytesText(sizeBytes).replace(' ', '')}-${fabric.replace(' ', '').toLowerCase()}`,
    implementations: [on(ours, 'ours', 'any'), on(before, 'before'), ...inC],
    cases: keys.flatMap((key): Case[] => [
      {
        ...figure,
        case: `${titleOf(key)} of ${where}, vs before`,
        key,
        baselines: ['before'],
        target: { of: 'ratio', is: 'at least', value: times },
        orShareOf: { key: 'copy', value: 0.8 },
      },
      ...(inC.length === 0
        ? []
        : [{ ...figure, case: `${titleOf(key)} of ${where}, vs C`, key, baselines: ['C'] }]),
    ]),
  }
}

function titleOf(key: string): string {
  return key === 'allreduceSum' ? "allreduce, order 'any'," : key
}

/**
 * One rank per process and 8 processes per core: messages per collective count. Every process compiles the
 * same code, 8 to a core, and a compiler keeps a core for a time slice whenever the others yield it. So both
 * collectives are measured twice: after their first 6,000 calls, and after as many more, when most is
 * compiled.
 */
function crowded(ours: BuiltPrograms, before: BuiltPrograms): Suite {
  const ranks = 16
  const effort = { warmUp: 6000, warmUpMs: 4000, iterations: 20, batches: 31 }
  const keys = ['barrier', 'allreduce'] as const
  const passes = [', first calls', ''] as const
  const args = passes.flatMap((pass) =>
    keys.map((key): CollectiveCase => ({ key: `${key}${pass}`, kind: key, ...effort })),
  )
  const world = { program: 'collectives', ranks, processes: ranks, args }
  const words = keys.map((key) => `${key}:${key}:20:31`)
  return {
    name: 'crowded',
    implementations: [
      ours.onMpi('ours', 'Open MPI', world, 120),
      before.onMpi('before', 'Open MPI', world, 120),
      ours.inC('C', 'Open MPI', 'collectives', ranks, words, 120),
    ],
    cases: keys.flatMap((kind): Case[] => {
      const title = `${kind === 'allreduce' ? 'allreduce of 8 B' : kind}, ${ranks} processes of Open MPI`
      const figure = { unit: 'us', ours: 'ours', details: { ranks } }
      const first = `${kind}${passes[0]}`
      return [
        // The ratio to C of before, halved.
        { ...figure, key: kind, case: `${title}, vs before`, baselines: ['before'], target: timesFaster(2) },
        { ...figure, key: kind, case: `${title}, vs C`, baselines: ['C'] },
        { ...figure, key: first, case: `${title}${passes[0]}, vs before`, baselines: ['before'] },
        { ...figure, key: first, case: `${title}${passes[0]}, vs C`, baselines: ['C'], baselineKey: kind },
      ]
    }),
  }
}
