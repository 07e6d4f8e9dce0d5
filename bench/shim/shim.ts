import { buildTopology } from '../../src/topology/files/topology-from-spec.js'
import type { Bench } from '../bench.js'
import type { BuiltPrograms } from '../build-programs.js'
import { oursAtMost, ratioAtMost, type Suite, type Target, timesFaster } from '../comparison.js'
import { measureSuites } from '../measure-suites.js'
import type { MpiName } from '../mpi-library.js'
import { pythonProgram } from './python.js'

/** By key: the topology, and its name in the report. */
const graphs = {
  64: { moore: ['moore:8x8:r=3', 'Moore 2-D r=3'], random: ['er:64:d=0.5:seed=1', 'random d=0.5'] },
  16: { moore: ['moore:4x4:r=1', 'Moore 2-D r=1'], random: ['er:16:d=0.5:seed=1', 'random d=0.5'] },
} as const
type Graph = keyof (typeof graphs)[64]

/**
 * Calls in a batch and batches. MPICH does not yield, so a call of 64 processes on two cores takes many time
 * slices, about 0.2 s: few batches, of which the first two and a half are the library's trial of its plan.
 */
const effort = { 'Open MPI': [40, 15], MPICH: [4, 7] } as const

/** A program that calls a neighborhood collective in a loop, with the preloaded library and without it. */
export const shimBench: Bench = {
  name: 'shim',
  question: 'Is a program faster with the preloaded library?',
  measure: (options = {}) => measureSuites(['Open MPI', 'MPICH'], suitesOf, [], options),
}

function suitesOf(built: BuiltPrograms, mpi: MpiName): readonly Suite[] {
  const prefix = mpi === 'Open MPI' ? 'openmpi' : 'mpich'
  const suites = [
    inC(built, mpi),
    started(built, mpi, 16),
    started(built, mpi, 64),
    passedOn(built, mpi),
    ...neighborhoods(built, mpi),
    ...(mpi === 'Open MPI' ? inPython(built) : []),
  ]
  return suites.map((suite) => ({ ...suite, name: `${prefix}-${suite.name}` }))
}

/** What graphs are the program's words, with the calls of each. */
function wordsOf(
  built: BuiltPrograms,
  ranks: 16 | 64,
  kind: string,
  calls: readonly number[],
): readonly string[] {
  return Object.entries(graphs[ranks]).map(([key, [spec]]) => {
    const file = built.graphFile(`${key}-${ranks}`, buildTopology(spec))
    return `${key}:${kind}${calls.join(':')}:${file}`
  })
}

function cases(mpi: MpiName, ranks: 16 | 64, how: string, target: Target): Suite['cases'] {
  return (Object.keys(graphs[ranks]) as Graph[]).map((key) => {
    const [topology, title] = graphs[ranks][key]
    return {
      case: `${mpi}: neighbor allgather 4 B, ${title}, ${ranks} processes, ${how}`,
      unit: 'us',
      ours: 'with',
      key,
      baselines: ['without'],
      target,
      details: { mpi, ranks, topology },
    }
  })
}

function inC(built: BuiltPrograms, mpi: MpiName): Suite {
  const words = wordsOf(built, 64, 'neighbor:', effort[mpi])
  return {
    name: 'c',
    implementations: [
      built.inC('with', mpi, 'collectives', 64, words, 120, { isPreloaded: true }),
      built.inC('without', mpi, 'collectives', 64, words, 120),
    ],
    cases: cases(mpi, 64, 'C', mpi === 'Open MPI' ? timesFaster(2) : ratioAtMost(1)),
  }
}

/** By processes and key: the topology. */
const startedGraphs = {
  16: { random: 'er:16:d=0.05:seed=1', moore: 'moore:4x4:r=2' },
  64: { random: 'er:64:d=0.05:seed=1', moore: 'moore:8x8:r=2' },
} as const
const startedBytes = [4, 16, 64, 256, 4096, 65_536]

/** Published blocks gain, longer ones are sent as MPI would. */
function started(built: BuiltPrograms, mpi: MpiName, ranks: 16 | 64): Suite {
  const topologies = Object.entries(startedGraphs[ranks])
  const [calls, batches] = mpi === 'Open MPI' ? [40, 9] : [4, 5]
  const words = topologies.flatMap(([graph, spec]) => {
    const file = built.graphFile(`started-${graph}-${ranks}`, buildTopology(spec))
    return startedBytes.map((bytes) => `${graph}-${bytes}:${bytes}:${calls}:${batches}:${file}`)
  })
  return {
    name: `started-${ranks}`,
    implementations: [
      built.inC('with', mpi, 'started', ranks, words, 300, { isPreloaded: true }),
      built.inC('without', mpi, 'started', ranks, words, 300),
    ],
    cases: topologies.flatMap(([graph, topology]) =>
      startedBytes.map((bytes) => ({
        case: `${mpi}: MPI_Ineighbor_allgather and MPI_Wait, ${bytes} B, ${topology}, ${ranks} processes`,
        unit: 'us',
        ours: 'with',
        key: `${graph}-${bytes}`,
        baselines: ['without'],
        ...(bytes <= 256 ? { target: ratioAtMost(0.7) } : { intervalLimit: 1.05 }),
        details: { mpi, ranks, topology, bytes },
      })),
    ),
  }
}

/**
 * Rounds of a communicator and so many calls; calls of a size of short blocks. MPICH's processes keep their
 * cores while they wait, so 16 on two cores take time slices.
 */
const few = {
  'Open MPI': { 1: 100, 10: 100, 100: 40, 400: 20 },
  MPICH: { 1: 20, 10: 5, 100: 2, 400: 1 },
} as const
const sweptCalls = { 'Open MPI': 1_000, MPICH: 100 } as const
const sweptBytes = Array.from({ length: 21 }, (_, power) => 2 ** power)

/** Programs that make few calls, and programs whose blocks grow and shrink: the library may not cost them. */
function neighborhoods(built: BuiltPrograms, mpi: MpiName): readonly Suite[] {
  return [4, 16].flatMap((ranks) => {
    const topology = ranks === 4 ? 'er:4:d=0.9:seed=1' : 'moore:4x4:r=1'
    const file = built.graphFile(`neighborhoods-${ranks}`, buildTopology(topology))
    const suite = (name: string, words: readonly string[], keys: readonly (readonly [string, string])[]) => ({
      name: `${name}-${ranks}`,
      implementations: [
        built.inC('with', mpi, 'neighborhoods', ranks, words, 240, { isPreloaded: true }),
        built.inC('without', mpi, 'neighborhoods', ranks, words, 240),
      ],
      cases: keys.map(([key, what]) => ({
        case: `${mpi}: ${what}, ${ranks} processes`,
        ...{ unit: 'us', ours: 'with', key, baselines: ['without'], intervalLimit: 1.05 },
        details: { mpi, ranks, topology },
      })),
    })
    const calls = Object.entries(few[mpi])
    return [
      suite(
        'few-calls',
        calls.map(([k, rounds]) => `short:${k}:${rounds}:${file}`),
        calls.map(([k]) => [`k${k}`, `create, ${k} calls of 4 B, free`]),
      ),
      suite(
        'swept',
        [`swept:${sweptCalls[mpi]}:${file}`],
        sweptBytes.map((bytes) => [`b${bytes}`, `sizes swept up and down, ${bytes} B`]),
      ),
    ]
  })
}

/** The communicator has no plan: nothing is cheaper than direct sends. */
function passedOn(built: BuiltPrograms, mpi: MpiName): Suite {
  return {
    name: 'without-plan',
    implementations: [built.inC('with', mpi, 'passed_on', 1, [20_000, 31], 60, { isPreloaded: true })],
    cases: [
      {
        case: `${mpi}: time added to a call on a communicator without a plan`,
        unit: 'us',
        ours: 'with',
        key: 'more',
        target: oursAtMost(1),
        details: { mpi },
      },
    ],
  }
}

function inPython(built: BuiltPrograms): readonly Suite[] {
  const program = pythonProgram()
  if ('missing' in program) {
    console.error(`without Python: ${program.missing}`)
    return []
  }
  const words = [...program, ...wordsOf(built, 16, '', [40, 15])]
  return [
    {
      name: 'python',
      implementations: [
        built.inCommand('with', 'Open MPI', 16, words, 120, { isPreloaded: true }),
        built.inCommand('without', 'Open MPI', 16, words, 120),
      ],
      cases: cases('Open MPI', 16, 'mpi4py', ratioAtMost(1)),
    },
  ]
}
