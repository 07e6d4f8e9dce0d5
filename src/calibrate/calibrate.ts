import { medianOf, quantile } from '../base/search.js'
import type { Communicator } from '../handles/communicator.js'
import type { Operation } from '../messages/datatype/operation.js'

/** A measured figure: median and quartiles over the runs. */
export interface MeasuredFigure {
  readonly median: number
  readonly low: number
  readonly high: number
}

/** Whether other work has disturbed a measurement: the quartiles differ by more than a half. */
export const isWide = ({ low, high }: MeasuredFigure): boolean => high > 1.5 * low

/** Returns the figure of values, one per run. */
export function figureOf(values: readonly number[]): MeasuredFigure {
  const sorted = values.toSorted((a, b) => a - b)
  return { median: quantile(sorted, 0.5), low: quantile(sorted, 0.25), high: quantile(sorted, 0.75) }
}

/**
 * The ranks of every process in a world that is calibrated: enough for a chain between two, and for neighbors inside
 * one.
 */
export const calibratedRanksPerProcess = 16

/** The lengths of messages that are measured separately, unless others are given. */
export const calibratedSizes: readonly number[] = [
  ...[256, 1024, 4096, 16_384, 49_152],
  ...[131_072, 524_288, 1_048_576],
]

export interface CalibrationOptions extends SamplingOptions {
  /** The lengths of messages above 64 bytes, ascending. Default: from 256 B to 1 MiB, {@link calibratedSizes}. */
  readonly sizesBytes?: readonly number[]
  /** Returns the clock of the process of a rank. Default: of the process that runs the code. */
  readonly stopwatchOf?: (process: number) => Stopwatch
}

/** The figures of one level of distance, nanoseconds. */
export interface MeasuredMessages {
  readonly latencyNs: MeasuredFigure
  readonly sendOverheadNs: MeasuredFigure
  readonly receiveOverheadNs: MeasuredFigure
  readonly gapNs: MeasuredFigure
  readonly nsPerByte: MeasuredFigure
}

/** The figures of PLogP, nanoseconds: by length, in the order of `sizesBytes`, which begins with 8. */
export interface MeasuredTables {
  readonly sizesBytes: readonly number[]
  readonly latencyNs: MeasuredFigure
  readonly gapNs: readonly MeasuredFigure[]
  readonly sendOverheadNs: readonly MeasuredFigure[]
  readonly receiveOverheadNs: readonly MeasuredFigure[]
}

export interface Calibration {
  readonly runs: number
  /** The figures within a node; null if no two processes are on one node. */
  readonly node: MeasuredMessages | null
  /** The figures between nodes; null if all processes are on one node. */
  readonly network: MeasuredMessages | null
  /** The figures by length; null as the two above. */
  readonly nodeTables: MeasuredTables | null
  readonly networkTables: MeasuredTables | null
  readonly copyBlockNs: MeasuredFigure
  readonly copyNsPerByte: MeasuredFigure
  readonly reduceNsPerByte: MeasuredFigure
}

/**
 * Measures the costs of frames between processes and of data in memory, in the terms of a profile. It is collective
 * over all ranks of a world with {@link calibratedRanksPerProcess} ranks in every process; ranks that measure nothing
 * wait.
 *
 * @returns on rank 0; null elsewhere
 */
export async function calibrate(
  world: Communicator,
  options: CalibrationOptions,
): Promise<Calibration | null> {
  const process = Math.floor(world.rank / calibratedRanksPerProcess)
  const stopwatch = options.stopwatchOf?.(process) ?? processStopwatch
  const { sizesBytes = calibratedSizes } = options
  const nodes = (await nodesOfRanks(world)).filter((_, rank) => rank % calibratedRanksPerProcess === 0)
  const near = nodes.findIndex((node, p) => p > 0 && node === nodes[0])
  const far = nodes.findIndex((node) => node !== nodes[0])

  const local = await world.split(process === 0 ? 0 : null)
  const memory = local === null ? null : await sampleMemory(local, stopwatch, options)
  const measured: (MessageSamples | null)[] = []
  for (const other of [near, far]) {
    const isMember = other >= 0 && (process === 0 || process === other)
    const comm = other < 0 ? null : await world.split(isMember ? 0 : null)
    const samples =
      comm === null
        ? null
        : await sampleMessages(
            { comm, ranksPerProcess: calibratedRanksPerProcess },
            sizesBytes,
            stopwatch,
            options,
          )
    measured.push(samples)
    await comm?.free()
  }
  await world.barrier()
  if (world.rank !== 0 || memory === null) return null
  const [node, network] = measured.map((samples) => (samples === null ? null : messageCosts(samples)))
  const [nodeTables, networkTables] = measured.map((samples) =>
    samples === null ? null : messageTables(samples, sizesBytes),
  )
  return {
    runs: options.runs,
    node: node!,
    network: network!,
    nodeTables: nodeTables!,
    networkTables: networkTables!,
    copyBlockNs: atLeastZero(memory.perBlock.map((cost, i) => cost - 8 * memory.perByteCopied[i])),
    copyNsPerByte: atLeastZero(memory.perByteCopied),
    reduceNsPerByte: atLeastZero(memory.perByteReduced),
  }
}

/** Returns the node of every rank, as its lowest rank. */
export async function nodesOfRanks(world: Communicator): Promise<Int32Array> {
  const node = await world.splitType('node')
  const first = await node.bcast(world.rank)
  await node.free()
  return await world.allgather(Int32Array.of(first))
}

/**
 * Returns the figures of LogGP. A hop is o of both ends, L and 8 G. Streams show the longest of both overheads and the
 * gap: if an overhead is longer by a tenth, the gap has no effect and is 0.
 */
export function messageCosts({
  hop,
  perByte,
  stream,
  sendOverhead,
  receiveOverhead,
}: Omit<MessageSamples, 'growth'>): MeasuredMessages {
  const sendOverheadNs = atLeastZero(sendOverhead)
  const receiveOverheadNs = atLeastZero(receiveOverhead)
  const nsPerByte = atLeastZero(perByte)
  const overhead = Math.max(sendOverheadNs.median, receiveOverheadNs.median)
  const isHidden = figureOf(stream).median <= 1.1 * overhead
  return {
    latencyNs: atLeastZero(
      hop.map((cost) => cost - sendOverheadNs.median - receiveOverheadNs.median - 8 * nsPerByte.median),
    ),
    sendOverheadNs,
    receiveOverheadNs,
    gapNs: isHidden ? { median: 0, low: 0, high: 0 } : atLeastZero(stream),
    nsPerByte,
  }
}

/**
 * Returns the tables of PLogP. Streams show g of short messages, the longest of both overheads and the gap; a hop is L
 * and g. Longer messages cost as much more as one way of a round trip takes longer.
 */
function messageTables(samples: MessageSamples, sizesBytes: readonly number[]): MeasuredTables {
  const { hop, stream, sendOverhead, receiveOverhead, growth } = samples
  const overhead = Math.max(figureOf(sendOverhead).median, figureOf(receiveOverhead).median)
  const gap = stream.map((cost) => Math.max(cost, overhead))
  const gapOfShort = figureOf(gap).median
  const from = (short: readonly number[], more: (each: MessageGrowth) => readonly number[]) => {
    const { median } = figureOf(short)
    return [atLeastZero(short), ...growth.map((each) => atLeastZero(more(each).map((cost) => median + cost)))]
  }
  return {
    sizesBytes: [shortBytes, ...sizesBytes],
    latencyNs: figureOf(hop.map((cost) => cost - gapOfShort)),
    gapNs: from(gap, ({ message }) => message),
    sendOverheadNs: from(sendOverhead, (each) => each.sendOverhead),
    receiveOverheadNs: from(receiveOverhead, (each) => each.receiveOverhead),
  }
}

/** Returns the figure of values without negative results, which noise may cause in differences of times. */
function atLeastZero(values: readonly number[]): MeasuredFigure {
  const { median, low, high } = figureOf(values)
  return { median: Math.max(0, median), low: Math.max(0, low), high: Math.max(0, high) }
}

/** The ranks of two processes: those of the first, then as many of the second. */
interface Pair {
  readonly comm: Communicator
  readonly ranksPerProcess: number
}

/** The costs of messages between two processes, one value per run, nanoseconds. */
interface MessageSamples {
  /** The time from one send to the next along a chain, of a message of 8 bytes: o of both ends and L. */
  readonly hop: readonly number[]
  readonly perByte: readonly number[]
  /** The time from one of many messages in one direction to the next. */
  readonly stream: readonly number[]
  readonly sendOverhead: readonly number[]
  readonly receiveOverhead: readonly number[]
  /** The growth by length, in the order of `sizesBytes`. */
  readonly growth: readonly MessageGrowth[]
}

/** The extra costs of a message of some length over one of 8 bytes, one value per run, nanoseconds. */
interface MessageGrowth {
  /** The time from the start of the send to its reception. */
  readonly message: readonly number[]
  readonly sendOverhead: readonly number[]
  readonly receiveOverhead: readonly number[]
}

/** The length of messages for all figures except those by length. */
export const shortBytes = 8
/**
 * The length of the message that a call of a collective sends ahead. A shorter message behind it waits for the gap at
 * its receiver, longer ones do not; so round trips are compared with one of this length.
 */
const anchorBytes = 64
const [fewBytes, manyBytes] = [1024, 49_152]
const [fewFrames, manyFrames] = [8, 136]

/**
 * The operation is not commutative, so a reduction along a chain passes every rank in turn. It is plain data, because
 * an import from here would cut the chunks that workers load.
 */
const last: Operation<Int32Array> = {
  kind: 'operation',
  name: 'last',
  commutative: false,
  combine: (_, right) => right.slice(),
}

/**
 * Measures with schedules, whose frames are those that the simulator predicts. A frame is sent and received within the
 * program of a collective, without the call around it.
 */
async function sampleMessages(
  { comm, ranksPerProcess }: Pair,
  sizesBytes: readonly number[],
  stopwatch: Stopwatch,
  options: SamplingOptions,
): Promise<MessageSamples> {
  const { rank } = comm
  const pair = await comm.split(rank % ranksPerProcess === 0 ? 0 : null)
  const costOf = (first: Workload, second: Workload, difference: number): Promise<readonly number[]> =>
    contrast(comm, { first, second, difference } satisfies Contrast, options)

  const longest = 2 * ranksPerProcess - 1
  const hopOf = async (bytes: number): Promise<readonly number[]> => {
    const short = await chain(comm, ranksPerProcess, { length: 3, bytes }, stopwatch)
    const long = await chain(comm, ranksPerProcess, { length: longest, bytes }, stopwatch)
    const costs = await costOf(short.workload, long.workload, longest - 3)
    await Promise.all([short, long].map(({ members }) => members?.free()))
    return costs
  }
  const hop = await hopOf(shortBytes)

  const once = (bytes: number, backBytes: number, part: Part): Workload =>
    there(pair, { segments: 1, bytes, backBytes }, stopwatch, part)
  const roundTrip = (bytes: number): Workload => once(bytes, bytes, 'both')
  const perByte = await costOf(roundTrip(fewBytes), roundTrip(manyBytes), 2 * (manyBytes - fewBytes))
  const frames = (segments: number, part: Part): Workload =>
    there(pair, { segments, bytes: shortBytes * segments, backBytes: shortBytes }, stopwatch, part)
  const streams = (part: Part): Promise<readonly number[]> =>
    costOf(frames(fewFrames, part), frames(manyFrames, part), manyFrames - fewFrames)
  const stream = await streams('both')
  const sendOverhead = await streams('send')
  // The delay is longer than the arrival of the stream, with a margin for its start.
  const perFrame = [...stream, ...hop].reduce((most, cost) => Math.max(most, cost))
  const late = (segments: number, bytes: number, delayNs: number): Workload =>
    delayed(pair, { segments, bytes: bytes * segments }, stopwatch, 4 * delayNs)
  const lateFrames = (frames: number): Workload => late(frames, shortBytes, perFrame * (frames + 8))
  const receiveOverhead = await costOf(lateFrames(fewFrames), lateFrames(manyFrames), manyFrames - fewFrames)

  const growth: MessageGrowth[] = []
  const anchor = Math.max(0, medianOf(await hopOf(anchorBytes)) - medianOf(hop))
  for (const bytes of sizesBytes) {
    // The answer is short, as Kielmann et al. 2000 measure, so that only one way differs.
    const way = (size: number, part: Part): Workload => once(size, shortBytes, part)
    const further = await costOf(way(anchorBytes, 'both'), way(bytes, 'both'), 1)
    const message = further.map((cost) => anchor + cost)
    const delayNs = message.reduce((most, cost) => Math.max(most, cost), 0) + 2 * perFrame
    growth.push({
      message,
      sendOverhead: await costOf(way(shortBytes, 'send'), way(bytes, 'send'), 1),
      receiveOverhead: await costOf(late(1, shortBytes, delayNs), late(1, bytes, delayNs), 1),
    })
  }

  await pair?.free()
  return { hop, perByte, stream, sendOverhead, receiveOverhead, growth }
}

/** Makes a reduction along a chain of ranks that alternate between both processes and ends in the first. */
async function chain(
  comm: Communicator,
  ranksPerProcess: number,
  { length, bytes }: { readonly length: number; readonly bytes: number },
  stopwatch: Stopwatch,
): Promise<{ readonly members: Communicator | null; readonly workload: Workload }> {
  const { rank } = comm
  const place = 2 * (rank % ranksPerProcess) + (rank < ranksPerProcess ? 0 : 1)
  const members = await comm.split(place < length ? 0 : null, place)
  const mine = new Int32Array(bytes / 4).fill(rank)
  const options = { algorithm: 'reduce-chain', segments: 1 } as const
  const once = async (): Promise<unknown> => members?.reduce(mine, last, length - 1, options)
  return { members, workload: (iterations) => timed(stopwatch, iterations, once) }
}

type Part = 'send' | 'both'

/**
 * Sends segments of data from one process to the other, and one frame back.
 *
 * @param part what counts: both, or only the sender's time until it has sent
 */
function there(
  pair: Communicator | null,
  { segments, bytes, backBytes }: { segments: number; bytes: number; backBytes: number },
  { nowNs }: Stopwatch,
  part: Part,
): Workload {
  const [out, back] = [new Uint8Array(bytes), new Uint8Array(backBytes)]
  const forth = { algorithm: 'bcast-linear', segments, into: out } as const
  const home = { algorithm: 'bcast-linear', segments: 1, into: back } as const
  return repeated(pair, async (comm) => {
    const begin = nowNs()
    await comm.bcast(out, 0, forth)
    const sent = nowNs()
    await comm.bcast(back, 1, home)
    return (part === 'send' ? sent : nowNs()) - begin
  })
}

/** Sends frames that have all arrived when their receiver ends other work: rank 0 receives, so that its time counts. */
function delayed(
  pair: Communicator | null,
  { segments, bytes }: { readonly segments: number; readonly bytes: number },
  { nowNs, compute }: Stopwatch,
  delayNs: number,
): Workload {
  const data = new Uint8Array(bytes)
  const options = { algorithm: 'bcast-linear', segments, into: data } as const
  return repeated(pair, async (comm) => {
    await comm.barrier()
    const received = comm.bcast(data, 1, options)
    if (comm.rank === 0) compute(delayNs)
    const begin = nowNs()
    await received
    return nowNs() - begin
  })
}

/** The costs of data in the memory of one process, one value per run, nanoseconds. */
interface MemorySamples {
  /** The cost per block of 8 bytes that is copied. */
  readonly perBlock: readonly number[]
  readonly perByteCopied: readonly number[]
  readonly perByteReduced: readonly number[]
}

const [fewNeighbors, manyNeighbors] = [2, 10]
const longBytes = 16_384
const reducedBytes = [8, 16_384, 65_536, 262_144, 1_048_576]

/**
 * Measures inside one process: an allgather among its ranks copies a block per edge; a reduction of the ranks combines
 * all their vectors.
 *
 * @param comm ranks of one process, at least 11
 */
async function sampleMemory(
  comm: Communicator,
  stopwatch: Stopwatch,
  options: SamplingOptions,
): Promise<MemorySamples> {
  const ranks = comm.size
  const few = await allgather(comm, fewNeighbors, shortBytes, stopwatch)
  const many = await allgather(comm, manyNeighbors, shortBytes, stopwatch)
  const long = await allgather(comm, manyNeighbors, longBytes, stopwatch)
  const perBlock = await contrast(
    comm,
    { first: few, second: many, difference: ranks * (manyNeighbors - fewNeighbors) },
    options,
  )
  const perByteCopied = await contrast(
    comm,
    { first: many, second: long, difference: ranks * manyNeighbors * (longBytes - shortBytes) },
    options,
  )
  return { perBlock, perByteCopied, perByteReduced: await steadyReduction(comm, stopwatch, options) }
}

/** Returns the cost of combining a byte, one value per run. */
function steadyReduction(
  comm: Communicator,
  stopwatch: Stopwatch,
  options: SamplingOptions,
): Promise<readonly number[]> {
  return steadyCost((shorter, longer) => {
    const first = reduction(comm, shorter, stopwatch)
    const second = reduction(comm, longer, stopwatch)
    return contrast(comm, { first, second, difference: (comm.size - 1) * (longer - shorter) }, options)
  })
}

/**
 * Returns the cost of a byte between two lengths, one value per run, once it is steady. Lengths grow until it no longer
 * changes by a tenth, or until they are a MiB, so that vectors do not fit caches.
 *
 * @see Pjesivac-Grbovic 2007 §4.4.1
 */
export async function steadyCost(
  costBetween: (shorter: number, longer: number) => Promise<readonly number[]>,
): Promise<readonly number[]> {
  let costs = await costBetween(reducedBytes[0], reducedBytes[1])
  for (let i = 2; i < reducedBytes.length; i++) {
    const before = medianOf(costs)
    costs = await costBetween(reducedBytes[i - 1], reducedBytes[i])
    if (isSteady(before, medianOf(costs))) break
  }
  return costs
}

function isSteady(before: number, now: number): boolean {
  return Math.abs(now - before) <= Math.abs(before) / 10
}

async function allgather(
  comm: Communicator,
  neighbors: number,
  bytes: number,
  stopwatch: Stopwatch,
): Promise<Workload> {
  const around = (by: number): number[] =>
    Array.from({ length: neighbors }, (_, i) => (comm.rank + comm.size + by * (i + 1)) % comm.size)
  const graph = await comm.createDistGraphAdjacent({ sources: around(-1), destinations: around(1) })
  const mine = new Uint8Array(bytes)
  const into = new Uint8Array(neighbors * bytes)
  const request = graph.neighborAllgatherInit(mine, into)
  return (iterations) => timed(stopwatch, iterations, () => request.start())
}

function reduction(comm: Communicator, bytes: number, stopwatch: Stopwatch): Workload {
  const mine = new Float64Array(bytes / 8)
  const options = { into: new Float64Array(bytes / 8) }
  return (iterations) => timed(stopwatch, iterations, () => comm.reduce(mine, 'sum', 0, options))
}

/** The clock of the process that a program runs in. */
interface Stopwatch {
  nowNs(): number
  /** Occupies the processor for this time. */
  compute(durationNs: number): void
}

const processStopwatch: Stopwatch = {
  nowNs: () => performance.now() * 1e6,
  compute(durationNs) {
    const end = performance.now() + durationNs / 1e6
    while (performance.now() < end);
  },
}

/**
 * A function that repeats some work and returns the time that counts, nanoseconds. Ranks that do not take part return
 * 0.
 */
type Workload = (iterations: number) => Promise<number>

/** Two workloads that differ in one quantity, and how much more of it the second has. */
interface Contrast {
  readonly first: Workload
  readonly second: Workload
  readonly difference: number
}

interface SamplingOptions {
  readonly runs: number
  /** The approximate time of one sample: less than a time slice of the system. */
  readonly sampleMs: number
  /** The samples of each workload in a run. The fastest counts, because other work on the machine only adds time. */
  readonly samplesPerRun: number
  /** The fixed number of iterations, instead of as many as take `sampleMs`. */
  readonly iterations?: number | undefined
}

const mostIterations = 2 ** 16
/** The time until a workload's code has been compiled. */
const warmUpMs = 30

/**
 * Returns the cost of one unit of the quantity, in every run. It is a difference of times, so that the common part of
 * both workloads does not count. Samples of both alternate, so that a change of the machine's speed affects both. All
 * ranks of the communicator take part; the time is that of its rank 0.
 */
async function contrast(
  comm: Communicator,
  { first, second, difference }: Contrast,
  options: SamplingOptions,
): Promise<readonly number[]> {
  const [firsts, seconds] = [
    await iterationsFor(comm, first, options),
    await iterationsFor(comm, second, options),
  ]
  const costs: number[] = []
  for (let run = 0; run < options.runs; run++) {
    let [short, long] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
    for (let i = 0; i < options.samplesPerRun; i++) {
      short = Math.min(short, await sample(comm, first, firsts))
      long = Math.min(long, await sample(comm, second, seconds))
    }
    costs.push((long - short) / difference)
  }
  return (await comm.bcast(costs)) as number[]
}

/** Nanoseconds of one iteration, at rank 0. */
async function sample(comm: Communicator, workload: Workload, iterations: number): Promise<number> {
  await comm.barrier()
  return (await workload(iterations)) / iterations
}

/** Returns the number of iterations, the same on every rank, and warms up meanwhile. */
async function iterationsFor(
  comm: Communicator,
  workload: Workload,
  { iterations, sampleMs }: SamplingOptions,
): Promise<number> {
  if (iterations !== undefined) return iterations
  const warm = performance.now() + warmUpMs
  for (let count = 1; ; ) {
    const begin = performance.now()
    await sample(comm, workload, count)
    const now = performance.now()
    const isEnough = now - begin >= sampleMs || count >= mostIterations
    const next = (await comm.bcast(Int32Array.of(Number(isEnough), Number(now >= warm)))) as Int32Array
    if (next[0] === 0) count *= 2
    else if (next[1] === 1) return count
  }
}

/** Returns a workload that repeats a step, which returns the time that counts. A rank without a communicator returns 0. */
function repeated(comm: Communicator | null, step: (comm: Communicator) => Promise<number>): Workload {
  return async (iterations) => {
    let counted = 0
    for (let i = 0; comm !== null && i < iterations; i++) counted += await step(comm)
    return counted
  }
}

/** Returns the time of a loop, with the stopwatch of this process. */
async function timed(
  { nowNs }: Stopwatch,
  iterations: number,
  once: () => Promise<unknown>,
): Promise<number> {
  const begin = nowNs()
  for (let i = 0; i < iterations; i++) await once()
  return nowNs() - begin
}
