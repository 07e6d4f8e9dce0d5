import { quantile } from '../base/search.js'
import type { Communicator } from '../handles/communicator.js'
import {
  type MessageGrowth,
  type MessageSamples,
  processStopwatch,
  type SamplingOptions,
  type Stopwatch,
  sampleMemory,
  sampleMessages,
  shortBytes,
} from './workloads.js'

/** A measured figure: median and quartiles over the runs. */
export interface MeasuredFigure {
  readonly median: number
  readonly low: number
  readonly high: number
}

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
  const processes = world.size / calibratedRanksPerProcess
  const stopwatch = options.stopwatchOf?.(process) ?? processStopwatch
  const { sizesBytes = calibratedSizes } = options
  const nodes = await nodeOfProcesses(world, processes)
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

async function nodeOfProcesses(world: Communicator, processes: number): Promise<readonly number[]> {
  const node = await world.splitType('node')
  const first = (await node.bcast(world.rank)) as number
  await node.free()
  const ofRanks = await world.allgather(Int32Array.of(first))
  return Array.from({ length: processes }, (_, process) => ofRanks[process * calibratedRanksPerProcess])
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
export function atLeastZero(values: readonly number[]): MeasuredFigure {
  const { median, low, high } = figureOf(values)
  return { median: Math.max(0, median), low: Math.max(0, low), high: Math.max(0, high) }
}
