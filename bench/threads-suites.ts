import { buildTopology } from '../src/topology/spec.js'
import type { CollectiveCase } from './programs/collectives.js'
import type { MemoryKind } from './programs/memory.js'
import { type Contestant, twoCopies, type Workshop } from './threads-sides.js'
import type { Case, Suite, Target } from './threads-suite.js'

const mebibyte = 2 ** 20

const ratioAtMost = (value: number): Target => ({ of: 'ratio', is: 'at most', value })
const ratioAtLeast = (value: number): Target => ({ of: 'ratio', is: 'at least', value })
const oursAtMost = (value: number): Target => ({ of: 'ours', is: 'at most', value })
/** As a ratio of times. */
const timesFaster = (times: number): Target => ratioAtMost(1 / times)

const bytesText = (bytes: number) =>
  bytes >= mebibyte ? `${bytes / mebibyte} MiB` : bytes >= 1024 ? `${bytes / 1024} KiB` : `${bytes} B`
const clamp = (value: number, min: number, max: number) => Math.floor(Math.max(min, Math.min(max, value)))
/** Bytes per microsecond are MB/s. */
const gigabytesPerSecond = (sizeBytes: number) => (us: number) => sizeBytes / us / 1000

/** 8 B to 16 MiB: every power of two, or of eight around the sizes that have a target. */
export function messageSizes(quick: boolean): number[] {
  if (quick) return [8, 64, 512, 4096, 2 ** 15, 2 ** 18, 2 ** 20, 2 ** 22, 2 ** 24]
  return Array.from({ length: 22 }, (_, i) => 2 ** (i + 3))
}

/** Everything that is asked, in the order of the report. */
export function threadsSuites(shop: Workshop, quick: boolean, sizes: readonly number[]): readonly Suite[] {
  return [
    pingPong(shop, sizes),
    stream(shop, sizes),
    ...[2, 16, 64, 256].map((ranks) => collectives(shop, ranks, quick)),
    idle(shop),
    crowd(shop),
    start(shop),
    loss(shop),
  ]
}

function pingPong(shop: Workshop, messages: readonly number[]): Suite {
  const sizes = messages.map((sizeBytes) => ({
    sizeBytes,
    warmUp: clamp(2 ** 26 / sizeBytes, 3, 20_000),
    iterations: clamp(2 ** 23 / sizeBytes, 1, 1000),
    batches: sizeBytes >= 2 ** 22 ? 11 : sizeBytes >= 2 ** 16 ? 21 : 41,
  }))
  const words = sizes.map((s) => `${s.sizeBytes}:${s.iterations}:${s.batches}`)
  const ours = (memory: MemoryKind) =>
    shop.ours(memory, { program: 'pingpong', ranks: 2, args: { memory, sizes } }, 60)
  const peers = ['one copy', 'two copies']
  const figures = (memory: MemoryKind): Case[] =>
    sizes.map(({ sizeBytes }) => ({
      case: `ping-pong, half round trip, ${bytesText(sizeBytes)}${memory === 'alloc' ? ', alloc' : ''}`,
      unit: 'us',
      ours: memory,
      key: String(sizeBytes),
      peers,
      ...(sizeBytes === 8 && memory === 'ordinary' ? { target: ratioAtMost(2) } : {}),
      details: { plot: 'latency', sizeBytes, memory },
    }))
  return {
    name: 'pingpong',
    contestants: [
      ours('ordinary'),
      shop.peerOf('one copy', 'pingpong', 2, words, 60),
      ours('alloc'),
      shop.peerOf('two copies', 'pingpong', 2, words, 60, twoCopies),
    ],
    cases: [...figures('ordinary'), ...figures('alloc')],
  }
}

function stream(shop: Workshop, messages: readonly number[]): Suite {
  const sizes = messages.map((sizeBytes) => {
    const window = clamp(2 ** 24 / sizeBytes, 2, 64)
    return {
      sizeBytes,
      window,
      warmUp: clamp(2 ** 26 / sizeBytes / window, 2, 1000),
      iterations: clamp(2 ** 24 / sizeBytes / window, 1, 50),
      batches: sizeBytes >= 2 ** 20 ? 11 : 21,
    }
  })
  const words = sizes.map((s) => `${s.sizeBytes}:${s.window}:${s.iterations}:${s.batches}`)
  const ours = (memory: MemoryKind) =>
    shop.ours(memory, { program: 'stream', ranks: 2, args: { memory, sizes } }, 60)
  const peers = ['one copy', 'two copies']
  const bandwidth = (memory: MemoryKind): Case[] =>
    sizes.map(({ sizeBytes, window }) => ({
      case: `bandwidth, ${bytesText(sizeBytes)}${memory === 'alloc' ? ', alloc' : ''}`,
      unit: 'GB/s',
      ours: memory,
      key: String(sizeBytes),
      peers,
      convert: gigabytesPerSecond(sizeBytes),
      largerIsBetter: true,
      ...(sizeBytes === mebibyte ? { target: ratioAtLeast(memory === 'alloc' ? 1.5 : 1) } : {}),
      details: { plot: 'bandwidth', sizeBytes, window, memory },
    }))
  const rate: Case = {
    case: 'message rate, 8 B',
    unit: 'M/s',
    ours: 'ordinary',
    key: '8',
    peers,
    convert: (us) => 1 / us,
    largerIsBetter: true,
    details: { sizeBytes: 8, window: 64 },
  }
  return {
    name: 'stream',
    contestants: [
      ours('ordinary'),
      shop.peerOf('one copy', 'stream', 2, words, 60),
      ours('alloc'),
      shop.peerOf('two copies', 'stream', 2, words, 60, twoCopies),
    ],
    cases: [...bandwidth('ordinary'), ...bandwidth('alloc'), ...(messages.includes(8) ? [rate] : [])],
  }
}

/** How often, by ranks: ours, and the peer's, whose oversubscribed processes take turns at two cores. */
const effort: Readonly<Record<number, { ours: [number, number, number]; peer: [number, number] }>> = {
  2: { ours: [20_000, 1000, 31], peer: [1000, 31] },
  16: { ours: [5000, 300, 31], peer: [20, 11] },
  64: { ours: [2000, 100, 31], peer: [4, 7] },
  256: { ours: [500, 30, 21], peer: [1, 3] },
}

const moores: Readonly<Record<number, string>> = {
  2: 'moore:2x1:r=2',
  16: 'moore:4x4:r=2',
  64: 'moore:8x8:r=2',
  256: 'moore:16x16:r=2',
}

function collectives(shop: Workshop, ranks: number, quick: boolean): Suite {
  const [warmUp, iterations, batches] = effort[ranks].ours
  const [peerIterations, peerBatches] = effort[ranks].peer
  const graphs = {
    moore: moores[ranks],
    sparse: ranks === 2 ? 'er:2:d=1:seed=1' : `er:${ranks}:d=0.2:seed=1`,
  }
  const files = {
    moore: shop.graphFile(`moore${ranks}`, buildTopology(graphs.moore)),
    sparse: shop.graphFile(`sparse${ranks}`, buildTopology(graphs.sparse)),
  }
  const plan = { warmUp, iterations, batches }
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
  const vs = (what: string, key: string, peerName: string, target?: Target, peerKey = key): Case => ({
    case: `${what}, ${ranks} ranks, vs ${peerName === 'spread' ? many : 'C packed by hand'}`,
    unit: 'us',
    ours: 'ours',
    key,
    peers: [peerName],
    peerKey,
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
  const limit = ranks === 256 ? 300 : 120
  const contestants: Contestant[] = [
    shop.ours('ours', { program: 'collectives', ranks, args }, 120),
    shop.peerOf('spread', 'collectives', ranks, spread, limit),
    shop.peerOf('packed', 'packed', 2, packed, 60),
  ]
  return {
    name: `collectives${ranks}`,
    contestants,
    ...(quick && ranks === 256 ? { runs: 1 } : {}),
    cases: [
      vs('barrier', 'barrier', 'spread', ten),
      vs('allreduce 8 B', 'allreduce', 'spread', ten),
      vs(moore, 'moore', 'spread', promised[ranks]),
      vs(moore, 'moore', 'packed', ranks === 64 ? ratioAtMost(5) : undefined),
      vs(`${moore}, persistent`, 'mooreInit', 'packed', undefined, 'moore'),
      vs(sparse, 'sparse', 'spread'),
      vs(sparse, 'sparse', 'packed'),
    ],
  }
}

function idle(shop: Workshop): Suite {
  // One more than waits: it sleeps, and wakes the others in the end.
  const ranks = 65
  const waitMs = 3000
  return {
    name: 'idle',
    contestants: [
      shop.ours('ours', { program: 'idle', ranks, args: { waitMs } }, 60),
      shop.peerOf('spread', 'idle', ranks, [waitMs], 60),
    ],
    cases: [
      {
        case: 'idle world, 64 ranks waiting in recv',
        unit: '% of a core',
        ours: 'ours',
        key: 'idle',
        peers: ['spread'],
        target: oursAtMost(2),
        details: { waitMs },
      },
    ],
  }
}

function crowd(shop: Workshop): Suite {
  const ranks = 1_000_000
  const processes = 2
  const world = (name: string, weigh: boolean) =>
    shop.ours(name, { program: 'crowd', ranks, processes, args: { weigh, processes } }, 90)
  const what = `${ranks} ranks on ${processes} processes`
  return {
    name: 'crowd',
    contestants: [world('timed', false), world('weighed', true)],
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
        details: { note: 'with garbage that was not collected' },
      },
    ],
  }
}

function start(shop: Workshop): Suite {
  const counts = [2, 64]
  return {
    name: 'start',
    contestants: counts.flatMap((ranks) => [
      shop.ours(`ours ${ranks}`, { program: 'nothing', ranks }, 60),
      shop.peerOf(`peer ${ranks}`, 'nothing', ranks, [], 60),
    ]),
    cases: counts.flatMap((ranks): Case[] => [
      {
        case: `start and end, ${ranks} ranks, whole program`,
        unit: 'ms',
        ours: `ours ${ranks}`,
        key: 'wallMs',
        peers: [`peer ${ranks}`],
      },
      {
        case: `start and end, ${ranks} ranks, run() alone`,
        unit: 'ms',
        ours: `ours ${ranks}`,
        key: 'seconds',
        convert: (seconds) => seconds * 1000,
      },
    ]),
  }
}

function loss(shop: Workshop): Suite {
  const what = 'a worker ends, 64 ranks'
  return {
    name: 'loss',
    contestants: [shop.ours('ours', { program: 'loss', ranks: 64 }, 60)],
    cases: [
      { case: `${what}: until a waiting rank has ERR_PEER_LOST`, unit: 'ms', ours: 'ours', key: 'known' },
      { case: `${what}: until run() has rejected`, unit: 'ms', ours: 'ours', key: 'ended' },
    ],
  }
}
