import type { Communicator } from '../comm/communicator.js'
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

/** What messages between two processes cost, one value per run, nanoseconds. */
export interface MessageSamples {
  /** From one send to the next along a chain, of a message of 8 bytes: o of both ends and L. */
  readonly hop: readonly number[]
  readonly perByte: readonly number[]
  /** From one of many messages in one direction to the next. */
  readonly stream: readonly number[]
  readonly sendOverhead: readonly number[]
  readonly receiveOverhead: readonly number[]
}

const shortBytes = 8
const [fewBytes, manyBytes] = [1024, 49_152]
const [fewFrames, manyFrames] = [8, 136]

/**
 * Not commutative, so that every run of ranks takes part: a reduction along a chain passes every rank in
 * turn. Plain data, because an import from here would cut the chunks that workers load.
 */
const last: Operation<Int32Array> = {
  kind: 'operation',
  name: 'last',
  commutative: false,
  combine: (_, right) => right.slice(),
}

/**
 * Measures with schedules, whose frames are what the simulator predicts: a frame sent and received within the
 * program of a collective, without the call around it.
 */
export async function sampleMessages(
  { comm, ranksPerProcess }: Pair,
  stopwatch: Stopwatch,
  options: SamplingOptions,
): Promise<MessageSamples> {
  const { rank } = comm
  const pair = await comm.split(rank % ranksPerProcess === 0 ? 0 : null)
  const costOf = (first: Workload, second: Workload, difference: number): Promise<readonly number[]> =>
    contrast(comm, { first, second, difference } satisfies Contrast, options)

  const longest = 2 * ranksPerProcess - 1
  const short = await chain(comm, ranksPerProcess, 3, stopwatch)
  const long = await chain(comm, ranksPerProcess, longest, stopwatch)
  const hop = await costOf(short.workload, long.workload, longest - 3)

  const roundTrip = (bytes: number): Workload =>
    there(pair, { segments: 1, bytes, backBytes: bytes }, stopwatch, 'both')
  const perByte = await costOf(roundTrip(fewBytes), roundTrip(manyBytes), 2 * (manyBytes - fewBytes))
  const frames = (segments: number, part: Part): Workload =>
    there(pair, { segments, bytes: shortBytes * segments, backBytes: shortBytes }, stopwatch, part)
  const streams = (part: Part): Promise<readonly number[]> =>
    costOf(frames(fewFrames, part), frames(manyFrames, part), manyFrames - fewFrames)
  const stream = await streams('both')
  const sendOverhead = await streams('send')
  // Longer than the stream takes to arrive, with a margin for what starts it.
  const perFrame = [...stream, ...hop].reduce((most, cost) => Math.max(most, cost))
  const late = (frames: number): Workload => delayed(pair, frames, stopwatch, 4 * perFrame * (frames + 8))
  const receiveOverhead = await costOf(late(fewFrames), late(manyFrames), manyFrames - fewFrames)

  await Promise.all([short, long].map(({ members }) => members?.free()))
  await pair?.free()
  return { hop, perByte, stream, sendOverhead, receiveOverhead }
}

/** A reduction along a chain of ranks that alternate between both processes and ends in the first. */
async function chain(
  comm: Communicator,
  ranksPerProcess: number,
  length: number,
  stopwatch: Stopwatch,
): Promise<{ readonly members: Communicator | null; readonly workload: Workload }> {
  const { rank } = comm
  const place = 2 * (rank % ranksPerProcess) + (rank < ranksPerProcess ? 0 : 1)
  const members = await comm.split(place < length ? 0 : null, place)
  const mine = Int32Array.of(rank, 0)
  const options = { algorithm: 'reduce-chain', segments: 1 } as const
  const once = async (): Promise<unknown> => members?.reduce(mine, last, length - 1, options)
  return { members, workload: (iterations) => timed(stopwatch, iterations, once) }
}

type Part = 'send' | 'both'

/**
 * Segments of data from one process to the other, and one frame back.
 *
 * @param part what counts: both, or only what the sender does until it has sent
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

/**
 * Frames of which all have arrived when their receiver is done with something else: rank 0 receives, so that
 * its time counts.
 */
function delayed(
  pair: Communicator | null,
  segments: number,
  { nowNs, compute }: Stopwatch,
  delayNs: number,
): Workload {
  const data = new Uint8Array(shortBytes * segments)
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
