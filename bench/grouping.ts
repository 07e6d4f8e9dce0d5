import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { nodeOf } from '../src/machine/machine.js'
import { parseMachine } from '../src/machine/machine-text.js'
import { buildTopology } from '../src/topology/files/topology-from-spec.js'
import { countHyperedges } from '../src/topology/friends/hyperedges.js'
import { simulateGrouping } from '../src/topology/grouping/group-by-messages.js'
import type { GroupingMessages } from '../src/topology/grouping/grouping-messages.js'
import { type Bench, type BenchOptions, type Figure, median, ownFigure } from './bench.js'
import { qualityFigures } from './grouping-quality.js'

const child = fileURLToPath(new URL('grouping-child.ts', import.meta.url))
const niagara = 'cluster:nodes=103,cores=40'
const graham = 'cluster:nodes=32,cores=32'

/** Target seconds for set-up and grouping, warm, on one core. */
const targets = [
  { spec: 'moore:64x64:r=4', machine: niagara, k: 2, target: 0.15 },
  { spec: 'moore:64x64:r=4', machine: niagara, k: 4, target: 0.25 },
  { spec: 'moore:64x64:r=4', machine: niagara, k: 8, target: 0.25 },
  { spec: 'moore:64x64:r=4', machine: '', k: 2, target: 0.8 },
  { spec: 'moore:64x64:r=4', machine: '', k: 4, target: 0.6 },
  { spec: 'er:1024:d=0.4:seed=1', machine: graham, k: 3, target: 0.5 },
  { spec: 'er:1024:d=0.8:seed=1', machine: graham, k: 4, target: 1.5 },
  { spec: 'er:1024:d=0.4:seed=1', machine: graham, k: 6, target: 6 },
  { spec: 'er:1024:d=0.8:seed=1', machine: '', k: 2, target: 8 },
] as const

const large = { spec: 'moore:1000x1000:r=2', machine: 'cluster:nodes=25000,cores=40', k: 2 }
const small = { spec: 'moore:100x100:r=2', machine: 'cluster:nodes=250,cores=40', k: 2 }

interface Planned {
  readonly ranks: number
  /** The first run is cold. */
  readonly seconds: readonly number[]
  readonly groups: number
  readonly steps: number
  readonly weight: number
  readonly peakGiB: number
}

interface Distributed {
  readonly seconds: number
  readonly messages: GroupingMessages
  readonly weight: number
  readonly steps: number
  readonly waves: readonly number[]
}

/** Published hyperedges per rank: one of each kind, the others are in test/paper/reference-tables.test.ts. */
const known = [
  { spec: 'moore:64x64:r=4', machine: niagara, k: 4, theta: 4, perRank: 185.98 },
  { spec: 'moore:64x64:r=4', machine: niagara, k: 8, theta: 8, perRank: 12.19 },
  { spec: 'moore:64x64:r=4', machine: '', k: 4, theta: 12, perRank: 126_556 },
  { spec: 'er:1024:d=0.4:seed=1', machine: graham, k: 4, theta: 4, perRank: 4495 },
] as const

/** Messages of rounds per rank, sent by an independent program. */
const reference = [
  { spec: 'moore:16x16:r=3', machine: 'cluster:nodes=16,cores=16', k: 2, perRank: 12.5 },
  { spec: 'moore:16x16:r=3', machine: 'cluster:nodes=16,cores=16', k: 4, perRank: 19.3 },
  { spec: 'moore:16x16:r=3', machine: '', k: 2, perRank: 165.7 },
] as const

async function* counts(): AsyncIterable<Figure> {
  for (const { spec, machine, k, theta, perRank } of known) {
    const topology = buildTopology(spec)
    const nodes = machine === '' ? null : nodeOf(parseMachine(machine), topology.ranks)
    const counted = countHyperedges(topology, { k, theta, nodeOf: nodes })
    const ours = counted.kind === 'counted' ? counted.meanPerRank : null
    yield {
      case: `hyperedges per rank, ${spec} ${machine === '' ? 'agnostic' : 'aware'} k=${k}`,
      unit: '',
      ours,
      peer: null,
      ratio: null,
      target: perRank,
      targetIs: 'to the printed digits',
      met: ours !== null && Math.abs(ours - perRank) <= 0.005,
      runs: 1,
      machine,
    }
  }
}

function* messages(): Iterable<Figure> {
  for (const { spec, machine, k, perRank } of reference) {
    const topology = buildTopology(spec)
    const nodes = machine === '' ? null : nodeOf(parseMachine(machine), topology.ranks)
    const mode = nodes === null ? 'agnostic' : 'aware'
    const { messages, waves } = simulateGrouping(topology, { k, mode, nodeOf: nodes })
    if (messages === null) continue
    const ours = (messages.request + messages.end + messages.bye) / topology.ranks
    yield {
      case: `messages of rounds per rank, ${spec} ${mode} k=${k}`,
      unit: '',
      ours,
      peer: perRank,
      ratio: ours / perRank,
      target: null,
      met: null,
      runs: 1,
      machine,
      waves: waves?.[0] ?? 0,
    }
  }
}

async function inChild<T>(...words: readonly (string | number)[]): Promise<T> {
  const args = ['--import', 'tsx', '--max-old-space-size=6144', child, ...words.map(String)]
  const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 2 ** 26 })
  return JSON.parse(stdout) as T
}

async function* speed(runs: number): AsyncIterable<Figure> {
  for (const { spec, machine, k, target } of targets) {
    const { seconds, ...rest } = await inChild<Planned>('plan', spec, machine, k, runs)
    const mode = machine === '' ? 'agnostic' : 'aware'
    yield ownFigure(`${spec} ${mode} k=${k}`, 's', seconds.slice(1), target, {
      cold: seconds[0],
      machine,
      ...rest,
    })
  }
}

async function* size(runs: number): AsyncIterable<Figure> {
  const many = await inChild<Planned>('plan', large.spec, large.machine, large.k, 0)
  const few = await inChild<Planned>('plan', small.spec, small.machine, small.k, runs)
  const details = { machine: large.machine, ranks: many.ranks, groups: many.groups }
  yield ownFigure(`${large.spec} aware k=2, cold`, 's', many.seconds, 30, details)
  yield ownFigure(`${large.spec} aware k=2, peak memory`, 'GiB', [many.peakGiB], 6, details)
  const perRank = many.seconds[0] / many.ranks / (median(few.seconds.slice(1)) / few.ranks)
  yield ownFigure('seconds per rank at 1,000,000 / at 10,000 ranks', 'x', [perRank], 1.5, {
    perRankUs: (many.seconds[0] / many.ranks) * 1e6,
  })
}

async function* distributed(runs: number): AsyncIterable<Figure> {
  for (const processes of [1, 64]) {
    const { ranks, results } = await inChild<{ ranks: number; results: Distributed[] }>(
      'distributed',
      'moore:64x64:r=4',
      niagara,
      4,
      runs,
      processes,
    )
    const { messages, waves } = results[0]
    const name = `distributed moore:64x64:r=4 aware k=4, local, ${processes} ${processes === 1 ? 'process' : 'processes'}`
    const seconds = results.map((result) => result.seconds)
    yield ownFigure(name, 's', seconds.slice(1), 10, {
      cold: seconds[0],
      ranks,
      rounds: results[0].steps,
      waves: waves.reduce((sum, wave) => sum + wave, 0),
      roundMessagesPerRank: (messages.request + messages.end + messages.bye) / ranks,
      setupMessagesPerRank: messages.sources / ranks,
      infoMessagesPerRank: (messages.direct + messages.served) / ranks,
    })
  }
}

/** Friend groups: time, size, quality, and messages of the distributed protocol. */
export const groupingBench: Bench = {
  name: 'grouping',
  question: 'How long does it take to group friends, and how heavy are the groups?',
  async *measure({ quick = false, only = '' }: BenchOptions = {}) {
    const runs = quick ? 2 : 9
    if ('counts'.startsWith(only)) yield* counts()
    if ('speed'.startsWith(only)) yield* speed(runs)
    if ('size'.startsWith(only)) yield* size(runs)
    if ('distributed'.startsWith(only)) {
      yield* messages()
      yield* distributed(quick ? 1 : 9)
    }
    if ('quality'.startsWith(only)) yield* qualityFigures(quick ? 10 : 50)
  },
}
