import type { Strategy } from '../src/neighborhood/strategies/strategies.js'
import { buildTopology } from '../src/topology/files/topology-from-spec.js'
import { type BuiltPrograms, twoCopies } from './build-programs.js'
import {
  type Case,
  type Implementation,
  oursAtMost,
  ratioAtLeast,
  ratioAtMost,
  type Suite,
  type Target,
  timesFaster,
} from './comparison.js'
import { bandwidthOf, bytesText, messageRate, pingPongPlan, streamPlan } from './message-plans.js'
import type { MpiName } from './mpi-library.js'
import type { CollectiveCase } from './programs/collectives.js'

/** The suites of one MPI, in the order of the report. Their names begin with the library's. */
export function mpiSuites(built: BuiltPrograms, mpi: MpiName, messages: readonly number[]): readonly Suite[] {
  const prefix = mpi === 'Open MPI' ? 'openmpi' : 'mpich'
  return [
    pingPong(built, mpi, messages),
    stream(built, mpi, messages),
    large(built, mpi),
    neighbors(built, mpi, 16),
    neighbors(built, mpi, 64),
    idle(built, mpi),
  ].map((suite) => ({
    ...suite,
    name: `${prefix}-${suite.name}`,
    cases: suite.cases.map((entry) => ({ ...entry, details: { mpi, ...entry.details } })),
  }))
}

/** Two processes: ours, C with one copy and with two, and MPI calls from JavaScript. */
function pairOf(built: BuiltPrograms, mpi: MpiName, program: 'pingpong' | 'stream', plan: Plan) {
  const { sizes, words } = plan
  const args = { memory: 'ordinary', sizes }
  const inC = [built.inC('C', mpi, program, 2, words, 60)]
  // MPICH chooses by size and has no such option.
  if (mpi === 'Open MPI')
    inC.push(built.inC('C, two copies', mpi, program, 2, words, 60, { flags: twoCopies }))
  return {
    implementations: [
      built.onMpi('ours', mpi, { program, ranks: 2, args }, 60),
      ...inC,
      built.inBareKoffi('koffi', mpi, [program, ...words], 60),
    ],
    against: [
      { against: 'C', baselines: inC.map(({ name }) => name) },
      { against: 'bare koffi', baselines: ['koffi'] },
    ] as const,
  }
}

interface Plan {
  readonly sizes: readonly object[]
  readonly words: readonly string[]
}

function pingPong(built: BuiltPrograms, mpi: MpiName, messages: readonly number[]): Suite {
  const { implementations, against } = pairOf(built, mpi, 'pingpong', pingPongPlan(messages))
  const targetOf = (sizeBytes: number, whom: 'C' | 'bare koffi') => {
    if (sizeBytes === 8) return { target: ratioAtMost(whom === 'C' ? 3.5 : 2.5) }
    const isLong = sizeBytes === 2 ** 18 || sizeBytes === 2 ** 20
    return isLong && whom === 'C' ? { target: ratioAtMost(1.5) } : {}
  }
  return {
    name: 'pingpong',
    implementations,
    cases: against.flatMap(({ against: whom, baselines }) =>
      messages.map((sizeBytes) => ({
        case: `${mpi}: ping-pong, half round trip, ${bytesText(sizeBytes)}, vs ${whom}`,
        unit: 'us',
        ours: 'ours',
        key: String(sizeBytes),
        baselines,
        ...targetOf(sizeBytes, whom),
        details: { plot: 'latency', sizeBytes, against: whom },
      })),
    ),
  }
}

function stream(built: BuiltPrograms, mpi: MpiName, messages: readonly number[]): Suite {
  const plan = streamPlan(messages)
  const { implementations, against } = pairOf(built, mpi, 'stream', plan)
  return {
    name: 'stream',
    implementations,
    cases: against.flatMap(({ against: whom, baselines }): Case[] => {
      const bandwidths = plan.sizes.map(({ sizeBytes, window }) => ({
        ...bandwidthOf(sizeBytes),
        case: `${mpi}: bandwidth, ${bytesText(sizeBytes)}, vs ${whom}`,
        ours: 'ours',
        baselines,
        ...((sizeBytes === 2 ** 18 || sizeBytes === 2 ** 20) && whom === 'C'
          ? { target: ratioAtLeast(0.8) }
          : {}),
        details: { plot: 'bandwidth', sizeBytes, window, against: whom },
      }))
      if (!messages.includes(8)) return bandwidths
      const rate = { ...messageRate, case: `${mpi}: ${messageRate.case}, vs ${whom}` }
      const target = whom === 'C' ? { target: ratioAtLeast(0.15) } : {}
      const details = { sizeBytes: 8, against: whom }
      return [...bandwidths, { ...rate, ...target, ours: 'ours', baselines, details }]
    }),
  }
}

/** 100 MB at once: collectives compared with C, and with our own send, whose transfers they use. */
function large(built: BuiltPrograms, mpi: MpiName): Suite {
  const sizeBytes = 100_000_000
  const repeats = 5
  const figure = { ...bandwidthOf(sizeBytes), ours: 'ours', details: { sizeBytes } }
  const collectives = ['bcast', 'allgather', 'allreduce']
  return {
    name: 'large',
    implementations: [
      built.onMpi('ours', mpi, { program: 'large', ranks: 2, args: { sizeBytes, repeats } }, 60),
      built.inC('C', mpi, 'large', 2, [sizeBytes, repeats], 60),
    ],
    cases: [
      ...['send', ...collectives].map((key) => ({
        ...figure,
        case: `${mpi}: ${key} of 100 MB, 2 processes, vs C`,
        key,
        baselines: ['C'],
      })),
      ...collectives.map((key) => ({
        ...figure,
        case: `${mpi}: ${key} of 100 MB, 2 processes, vs our own send`,
        key,
        baselines: ['ours'],
        baselineKey: 'send',
        target: ratioAtLeast(0.5),
      })),
    ],
  }
}

/** Operations by ranks: ours on as many processes, with their warm-up time; ours on two processes; C. */
const effort = {
  16: { spread: [6000, 20, 11], spreadMs: 4000, lowered: [2000, 100, 31], peer: [20, 11] },
  64: { spread: [10, 5, 7], spreadMs: 300, lowered: [1000, 100, 31], peer: [4, 7] },
} as const

/** By key: the topology, and the k that saves most messages in it. */
const graphs = {
  16: {
    moore2: { topology: 'moore:4x4:r=2', k: 2 },
    moore4: { topology: 'moore:4x4:r=4', k: 2 },
    sparse: { topology: 'er:16:d=0.2:seed=1', k: 2 },
  },
  64: {
    moore2: { topology: 'moore:8x8:r=2', k: 2 },
    moore4: { topology: 'moore:8x8:r=4', k: 4 },
    sparse: { topology: 'er:64:d=0.2:seed=1', k: 2 },
  },
} as const
const titles = { moore2: 'Moore 2-D r=2', moore4: 'Moore 2-D r=4', sparse: 'random d=0.2' } as const
type Graph = keyof typeof titles
const kinds = Object.keys(titles) as Graph[]
const strategies = ['direct', 'common-neighbor'] as const
type StrategyName = (typeof strategies)[number]

function strategyOf(ranks: 16 | 64, graph: Graph, name: StrategyName): Strategy {
  if (name === 'direct') return { kind: 'direct' }
  return { kind: 'common-neighbor', k: graphs[ranks][graph].k, mode: 'agnostic' }
}

function neighbors(built: BuiltPrograms, mpi: MpiName, ranks: 16 | 64): Suite {
  const { spread, spreadMs, lowered, peer } = effort[ranks]
  const casesOf = (
    [warmUp, iterations, batches]: readonly [number, number, number],
    warmUpMs?: number,
  ): CollectiveCase[] =>
    kinds.flatMap((graph) =>
      strategies.map((name) => ({
        key: keyOf(graph, name),
        kind: 'neighbor',
        topology: graphs[ranks][graph].topology,
        strategy: strategyOf(ranks, graph, name),
        ...{ warmUp, iterations, batches, ...(warmUpMs === undefined ? {} : { warmUpMs }) },
      })),
    )
  /**
   * By the library's default, which reads blocks in shared memory where processes share cores. A start is so short that
   * it takes more of them until its functions are compiled.
   */
  const persistentCases = kinds.map((graph): CollectiveCase => {
    const [warmUp, iterations, batches] = spread
    const { topology } = graphs[ranks][graph]
    const longer = { warmUp: 4 * warmUp, warmUpMs: 4 * spreadMs }
    return { key: persistentKey(graph), kind: 'persistent', topology, ...longer, iterations, batches }
  })
  const words = kinds.map((graph) => {
    const file = built.graphFile(`${graph}-${ranks}`, buildTopology(graphs[ranks][graph].topology))
    return `${graph}:neighbor:${peer.join(':')}:${file}`
  })
  const ours = (name: string, processes: number, args: readonly CollectiveCase[]): Implementation =>
    built.onMpi(name, mpi, { program: 'collectives', ranks, processes, args }, 180)
  const vs = (graph: Graph, strategy: StrategyName, side: 'spread' | 'lowered', target?: Target): Case => {
    const where =
      side === 'spread'
        ? `${ranks} oversubscribed processes`
        : `${ranks} ranks on 2 processes, vs ${ranks} oversubscribed processes`
    return {
      case: `${mpi}: neighbor allgather 4 B, ${titles[graph]}, ${strategy}, ${where}, vs C`,
      unit: 'us',
      ours: side,
      key: keyOf(graph, strategy),
      baselines: ['C'],
      baselineKey: graph,
      ...(target === undefined ? {} : { target }),
      details: { ranks, topology: graphs[ranks][graph].topology, strategy, k: graphs[ranks][graph].k },
    }
  }
  return {
    name: `neighbors${ranks}`,
    implementations: [
      ours('spread', ranks, casesOf(spread, spreadMs)),
      ours('persistent', ranks, persistentCases),
      built.inC('C', mpi, 'collectives', ranks, words, 180),
      ours('lowered', 2, casesOf(lowered)),
    ],
    cases: [
      ...kinds.flatMap((graph) => strategies.map((strategy) => vs(graph, strategy, 'spread'))),
      ...kinds.map((graph) => ({
        case: `${mpi}: neighbor allgather 4 B, ${titles[graph]}, persistent, ${ranks} oversubscribed processes, vs C`,
        unit: 'us',
        ours: 'persistent',
        key: persistentKey(graph),
        baselines: ['C'],
        baselineKey: graph,
        target: ratioAtMost(ranks === 16 ? 4 : 15),
        details: { ranks, topology: graphs[ranks][graph].topology },
      })),
      ...kinds.map((graph) => ({
        case: `${mpi}: neighbor allgather 4 B, ${titles[graph]}, ${ranks} oversubscribed processes, common-neighbor vs direct`,
        unit: 'us',
        ours: 'spread',
        key: keyOf(graph, 'common-neighbor'),
        baselines: ['spread'],
        baselineKey: keyOf(graph, 'direct'),
        ...(ranks === 64 && graph === 'sparse' ? { target: timesFaster(1.3) } : {}),
        details: { ranks, ...graphs[ranks][graph] },
      })),
      ...kinds.map((graph) =>
        vs(graph, 'direct', 'lowered', ranks === 64 && graph === 'moore4' ? timesFaster(20) : undefined),
      ),
    ],
  }
}

const persistentKey = (graph: Graph) => `${graph} persistent`
const keyOf = (graph: Graph, strategy: StrategyName) => `${graph} ${strategy}`

function idle(built: BuiltPrograms, mpi: MpiName): Suite {
  const ranks = 4
  const waitMs = 3000
  const figure = { ours: 'ours', baselines: ['C'], details: { waitMs } }
  return {
    name: 'idle',
    implementations: [
      built.onMpi('ours', mpi, { program: 'idle', ranks, args: { waitMs } }, 60),
      built.inC('C', mpi, 'idle', ranks, [waitMs], 60),
    ],
    cases: [
      {
        ...figure,
        case: `${mpi}: idle world, ${ranks} processes waiting in recv, the busiest`,
        unit: '% of a core',
        key: 'idleWorst',
        target: oursAtMost(3),
      },
      {
        ...figure,
        case: `${mpi}: first message after that, the slowest of ${ranks - 1}`,
        unit: 'ms',
        key: 'firstMs',
        target: oursAtMost(10),
      },
    ],
  }
}
