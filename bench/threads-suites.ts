import { buildTopology } from '../src/topology/files/topology-from-spec.js'
import { beside, besideBusyProcess } from './beside.js'
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
import type { CollectiveCase } from './programs/collectives.js'
import type { MemoryKind } from './programs/memory.js'

/** Another build of the library, and its commit. */
export interface OlderBuild {
  readonly built: BuiltPrograms
  readonly commit: string
}

/** All suites, in the order of the report. */
export function threadsSuites(
  built: BuiltPrograms,
  sizes: readonly number[],
  before?: OlderBuild,
): readonly Suite[] {
  return [
    pingPong(built, sizes),
    stream(built, sizes),
    ...[2, 16, 64, 256].map((ranks) => collectives(built, ranks)),
    idle(built),
    crowd(built),
    warmUp(built),
    besideOther(built),
    start(built),
    loss(built),
    ...(before === undefined ? [] : [splitBefore(built, before)]),
  ]
}

const baselines = ['one copy', 'two copies']

/** Two ranks with each kind of memory, and C with one copy and with two, alternating. */
function pair(
  built: BuiltPrograms,
  program: 'pingpong' | 'stream',
  sizes: readonly object[],
  words: readonly string[],
  memories: readonly MemoryKind[],
): Implementation[] {
  return [
    ...memories.map((memory) => built.onThreads(memory, { program, ranks: 2, args: { memory, sizes } }, 120)),
    built.inC('one copy', 'Open MPI', program, 2, words, 60),
    built.inC('two copies', 'Open MPI', program, 2, words, 60, { flags: twoCopies }),
  ]
}

const memoryKinds = ['ordinary', 'fresh', 'alloc'] as const
const memoryText = { ordinary: '', fresh: ', fresh array', alloc: ', alloc' } as const
/** Ratios of half round trips from 64 KiB. */
const longAtMost = { ordinary: 1.3, fresh: 2, alloc: 1 } as const

function pingPong(built: BuiltPrograms, messages: readonly number[]): Suite {
  const { sizes, words } = pingPongPlan(messages)
  const figures = (memory: MemoryKind): Case[] =>
    sizes.map(({ sizeBytes }) => ({
      case: `ping-pong, half round trip, ${bytesText(sizeBytes)}${memoryText[memory]}`,
      unit: 'us',
      ours: memory,
      key: String(sizeBytes),
      baselines,
      ...(sizeBytes >= 2 ** 16 ? { target: ratioAtMost(longAtMost[memory]) } : {}),
      ...(sizeBytes === 8 && memory === 'ordinary' ? { target: ratioAtMost(2.5) } : {}),
      details: { plot: 'latency', sizeBytes, memory },
    }))
  return {
    name: 'pingpong',
    implementations: pair(built, 'pingpong', sizes, words, memoryKinds),
    cases: memoryKinds.flatMap(figures),
  }
}

function stream(built: BuiltPrograms, messages: readonly number[]): Suite {
  const { sizes, words } = streamPlan(messages)
  const bandwidth = (memory: MemoryKind): Case[] =>
    sizes.map(({ sizeBytes, window }) => ({
      ...bandwidthOf(sizeBytes),
      case: `bandwidth, ${bytesText(sizeBytes)}${memory === 'alloc' ? ', alloc' : ''}`,
      ours: memory,
      baselines,
      ...(sizeBytes === 2 ** 18 || sizeBytes === 2 ** 20
        ? { target: ratioAtLeast(memory === 'alloc' ? 1.2 : 0.8) }
        : {}),
      details: { plot: 'bandwidth', sizeBytes, window, memory },
    }))
  const rate: Case = {
    ...messageRate,
    ours: 'ordinary',
    baselines,
    target: ratioAtLeast(0.2),
    details: { sizeBytes: 8, window: 64 },
  }
  return {
    name: 'stream',
    implementations: pair(built, 'stream', sizes, words, ['ordinary', 'alloc']),
    cases: [...bandwidth('ordinary'), ...bandwidth('alloc'), ...(messages.includes(8) ? [rate] : [])],
  }
}

/**
 * Operations by ranks: warm-up, per batch and batches of ours; per batch and batches of C, whose
 * oversubscribed processes share two cores.
 */
const effort: Readonly<Record<number, { ours: [number, number, number]; peer: [number, number] }>> = {
  2: { ours: [400_000, 1000, 31], peer: [1000, 31] },
  16: { ours: [100_000, 300, 31], peer: [20, 11] },
  64: { ours: [40_000, 100, 31], peer: [4, 7] },
  256: { ours: [10_000, 30, 21], peer: [1, 9] },
}
/** Until its code is compiled, compilers take the cores from the ranks. */
const warmUpMs = 1500

const moores: Readonly<Record<number, string>> = {
  2: 'moore:2x1:r=2',
  16: 'moore:4x4:r=2',
  64: 'moore:8x8:r=2',
  256: 'moore:16x16:r=2',
}

function collectives(built: BuiltPrograms, ranks: number): Suite {
  const [warmUp, iterations, batches] = effort[ranks].ours
  const [peerIterations, peerBatches] = effort[ranks].peer
  const graphs = {
    moore: moores[ranks],
    sparse: ranks === 2 ? 'er:2:d=1:seed=1' : `er:${ranks}:d=0.2:seed=1`,
  }
  const files = {
    moore: built.graphFile(`moore${ranks}`, buildTopology(graphs.moore)),
    sparse: built.graphFile(`sparse${ranks}`, buildTopology(graphs.sparse)),
  }
  const plan = { warmUp, warmUpMs, iterations, batches }
  const args: CollectiveCase[] = [
    { key: 'barrier', kind: 'barrier', ...plan },
    { key: 'allreduce', kind: 'allreduce', ...plan },
    { key: 'moore', kind: 'neighbor', topology: graphs.moore, ...plan },
    { key: 'sparse', kind: 'neighbor', topology: graphs.sparse, ...plan },
    { key: 'mooreInit', kind: 'persistent', topology: graphs.moore, ...plan },
  ]
  const often = `${peerIterations}:${peerBatches}`
  const spread = [
    `barrier:barrier:${often}`,
    `allreduce:allreduce:${often}`,
    `moore:neighbor:${often}:${files.moore}`,
    `sparse:neighbor:${often}:${files.sparse}`,
  ]
  const packed = [`moore:1000:31:${files.moore}`, `sparse:1000:31:${files.sparse}`]
  const many = ranks === 2 ? '2 processes' : `${ranks} oversubscribed processes`
  const peers = { spread: many, pair: '2 processes of C', packed: 'C packed by hand' }
  const vs = (
    what: string,
    key: string,
    peerName: keyof typeof peers,
    target?: Target,
    baselineKey = key,
  ): Case => ({
    case: `${what}, ${ranks} ranks, vs ${peers[peerName]}`,
    unit: 'us',
    ours: 'ours',
    key,
    baselines: [peerName],
    baselineKey,
    ...(target === undefined ? {} : { target }),
    details: { ranks, ...(key in graphs ? { topology: graphs[key as 'moore' | 'sparse'] } : {}) },
  })
  const promised: Readonly<Record<number, Target | undefined>> = {
    64: timesFaster(20),
    256: timesFaster(100),
  }
  const ten = ranks === 64 ? timesFaster(10) : undefined
  const moore = 'neighbor allgather 4 B, Moore 2-D r=2'
  const sparse = `neighbor allgather 4 B, random ${ranks === 2 ? 'd=1' : 'd=0.2'}`
  // All ranks of a process in one call; C has one process where we have one.
  const inOne = (limit: number) => (ranks === 64 ? ratioAtMost(limit) : undefined)
  const hosted = [
    vs('barrier, hosted', 'barrier', 'pair', inOne(5)),
    vs('allreduce 8 B, hosted', 'allreduce', 'pair', inOne(5)),
    vs(`${moore}, hosted`, 'moore', 'packed', inOne(5)),
    vs(`${moore}, hosted, persistent`, 'mooreInit', 'packed', inOne(2.5), 'moore'),
  ]
  const limit = ranks === 256 ? 300 : 120
  const implementations: Implementation[] = [
    built.onThreads('ours', { program: 'collectives', ranks, args }, 120),
    // 256 processes take a minute to start.
    built.onThreads('hosted', { program: 'hosted-collectives', ranks, args }, 120),
    { ...built.inC('spread', 'Open MPI', 'collectives', ranks, spread, limit), every: ranks === 256 ? 3 : 1 },
    built.inC('packed', 'Open MPI', 'packed', 2, packed, 60),
    built.inC(
      'pair',
      'Open MPI',
      'collectives',
      2,
      ['barrier:barrier:1000:31', 'allreduce:allreduce:1000:31'],
      60,
    ),
  ]
  return {
    name: `collectives${ranks}`,
    implementations,
    cases: [
      vs('barrier', 'barrier', 'spread', ten),
      vs('allreduce 8 B', 'allreduce', 'spread', ten),
      vs(moore, 'moore', 'spread', promised[ranks]),
      vs(moore, 'moore', 'packed'),
      vs(`${moore}, persistent`, 'mooreInit', 'packed', inOne(5), 'moore'),
      ...hosted.map((each) => ({ ...each, ours: 'hosted' })),
      vs(sparse, 'sparse', 'spread'),
      vs(sparse, 'sparse', 'packed'),
    ],
  }
}

function idle(built: BuiltPrograms): Suite {
  // One rank more than wait: it sleeps, and wakes the others at the end.
  const ranks = 65
  const waitMs = 3000
  return {
    name: 'idle',
    implementations: [
      built.onThreads('ours', { program: 'idle', ranks, args: { waitMs } }, 60),
      built.inC('spread', 'Open MPI', 'idle', ranks, [waitMs], 60),
    ],
    cases: [
      {
        case: 'idle world, 64 ranks waiting in recv',
        unit: '% of a core',
        ours: 'ours',
        key: 'idle',
        baselines: ['spread'],
        target: oursAtMost(2),
        details: { waitMs },
      },
    ],
  }
}

function crowd(built: BuiltPrograms): Suite {
  const ranks = 1_000_000
  const processes = 2
  const world = (name: string, weigh: boolean) =>
    built.onThreads(name, { program: 'crowd', ranks, processes, args: { weigh, processes } }, 90)
  const what = `${ranks} ranks on ${processes} processes`
  return {
    name: 'crowd',
    implementations: [world('timed', false), { ...world('weighed', true), every: 3 }],
    cases: [
      {
        case: `${what}: barrier and return`,
        unit: 's',
        ours: 'timed',
        key: 'seconds',
        target: oursAtMost(8),
      },
      {
        case: `${what}: heaps while all wait`,
        unit: 'bytes per rank',
        ours: 'weighed',
        key: 'bytes',
        convert: (bytes) => bytes / ranks,
        target: oursAtMost(1.2 * 1024),
      },
      {
        case: `${what}: peak resident memory`,
        unit: 'bytes per rank',
        ours: 'timed',
        key: 'rssBytesPerRank',
        details: { note: 'including uncollected garbage' },
      },
    ],
  }
}

/** From the first message of a world: its code is compiled on the way. */
function warmUp(built: BuiltPrograms): Suite {
  const sizes = [8, 1024, 2 ** 14, 2 ** 16, 2 ** 18, 2 ** 20]
  return {
    name: 'warm-up',
    implementations: sizes.map((sizeBytes) =>
      built.onThreads(
        String(sizeBytes),
        { program: 'warm-up', ranks: 2, args: { memory: 'ordinary', sizeBytes } },
        60,
      ),
    ),
    cases: sizes.map((sizeBytes) => ({
      case: `messages of ${bytesText(sizeBytes)} until within 1.5 times of the warm time`,
      unit: 'messages',
      ours: String(sizeBytes),
      key: 'messages',
      target: oursAtMost(1000),
    })),
  }
}

/**
 * One other process computes without a pause, in another session: Linux shares the cores among sessions
 * (autogroup), so two threads of one session may get one core. The launcher binds C's processes.
 */
function besideOther(built: BuiltPrograms): Suite {
  const sizes = [{ sizeBytes: 8, warmUp: 5000, warmUpMs: 2000, iterations: 200, batches: 41 }]
  const ours = { program: 'pingpong', ranks: 2, args: { memory: 'ordinary', sizes } }
  return {
    name: 'beside',
    implementations: [
      beside(built.onThreads('ours', { ...ours, bindTo: 'core' }, 60), besideBusyProcess),
      beside(built.onThreads('not bound', ours, 60), besideBusyProcess),
      beside(built.inC('C', 'Open MPI', 'pingpong', 2, ['8:200:41'], 60), besideBusyProcess),
    ],
    cases: [
      {
        case: 'ping-pong, half round trip, 8 B, bound to cores, beside one busy process',
        unit: 'us',
        ours: 'ours',
        key: '8',
        baselines: ['C'],
        target: ratioAtMost(20),
      },
      {
        case: 'ping-pong, half round trip, 8 B, not bound, beside one busy process',
        unit: 'us',
        ours: 'not bound',
        key: '8',
        baselines: ['C'],
      },
    ],
  }
}

/** The command, of two builds in turn. */
function splitBefore(built: BuiltPrograms, { built: older, commit }: OlderBuild): Suite {
  const words = (folder: string) => [`${folder}src/cli/main.js`, 'split', '-n', '1000000']
  return {
    name: 'split-before',
    implementations: [built.onNode('ours', words, 120), older.onNode('older', words, 120)],
    cases: [
      {
        case: `rankweave split -n 1000000, whole command, vs ${commit}`,
        unit: 'ms',
        ours: 'ours',
        key: 'wallMs',
        baselines: ['older'],
        target: ratioAtMost(0.3),
      },
    ],
  }
}

function start(built: BuiltPrograms): Suite {
  const counts = [2, 64]
  const alone = [
    { what: "import 'rankweave'", words: (folder: string) => [`${folder}src/entry/index.js`] },
    { what: 'rankweave --version', words: (folder: string) => [`${folder}src/cli/main.js`, '--version'] },
    { what: 'rankweave --help', words: (folder: string) => [`${folder}src/cli/main.js`, '--help'] },
  ]
  const whole = (ranks: number, of: string, baseline: string): Case => ({
    case: `start and end, ${ranks} ranks, whole program${of}`,
    unit: 'ms',
    ours: `ours ${ranks}`,
    key: 'wallMs',
    baselines: [baseline],
    ...(baseline === 'peer 2' ? { target: ratioAtMost(1.5) } : {}),
  })
  return {
    name: 'start',
    implementations: [
      ...counts.flatMap((ranks) => [
        built.onThreads(`ours ${ranks}`, { program: 'nothing', ranks }, 60),
        built.inC(`peer ${ranks}`, 'Open MPI', 'nothing', ranks, [], 60),
      ]),
      built.onNode('node', () => ['-e', '0'], 60),
      ...alone.map(({ what, words }) => built.onNode(what, words, 60)),
    ],
    cases: [
      ...counts.flatMap((ranks): Case[] => [
        whole(ranks, '', `peer ${ranks}`),
        {
          case: `start and end, ${ranks} ranks, run() alone`,
          unit: 'ms',
          ours: `ours ${ranks}`,
          key: 'seconds',
          convert: (seconds) => seconds * 1000,
        },
      ]),
      whole(64, ', vs 2 processes of C', 'peer 2'),
      ...alone.map(
        ({ what }): Case => ({
          case: `${what}, vs node -e 0`,
          unit: 'ms',
          ours: what,
          key: 'wallMs',
          baselines: ['node'],
        }),
      ),
    ],
  }
}

function loss(built: BuiltPrograms): Suite {
  const what = 'a worker ends, 64 ranks'
  return {
    name: 'loss',
    implementations: [built.onThreads('ours', { program: 'loss', ranks: 64 }, 60)],
    cases: [
      { case: `${what}: until a waiting rank has ERR_PEER_LOST`, unit: 'ms', ours: 'ours', key: 'known' },
      { case: `${what}: until run() has rejected`, unit: 'ms', ours: 'ours', key: 'ended' },
    ],
  }
}
