import { medianOf } from '../base/search.js'
import type { Communicator } from '../handles/communicator.js'
import type { Operation } from '../messages/datatype/operation.js'
import {
  type Contrast,
  contrast,
  type SamplingOptions,
  type Stopwatch,
  timed,
  type Workload,
} from './sampler.js'

/** The ranks of two processes: those of the first, then as many of the second. */
export interface Pair {
  readonly comm: Communicator
  readonly ranksPerProcess: number
}

/** The costs of messages between two processes, one value per run, nanoseconds. */
export interface MessageSamples {
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
export interface MessageGrowth {
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
export async function sampleMessages(
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
  return async (iterations) => {
    if (pair === null) return 0
    let counted = 0
    for (let i = 0; i < iterations; i++) {
      const begin = nowNs()
      await pair.bcast(out, 0, forth)
      const sent = nowNs()
      await pair.bcast(back, 1, home)
      counted += (part === 'send' ? sent : nowNs()) - begin
    }
    return counted
  }
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
  return async (iterations) => {
    if (pair === null) return 0
    let counted = 0
    for (let i = 0; i < iterations; i++) {
      await pair.barrier()
      const received = pair.bcast(data, 1, options)
      if (pair.rank === 0) compute(delayNs)
      const begin = nowNs()
      await received
      counted += nowNs() - begin
    }
    return counted
  }
}
