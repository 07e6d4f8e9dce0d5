import type { LoweredSchedule, ProcessProgram } from '../../schedule/lower/program.js'
import { entriesByRow, rowStarts } from '../../topology/compressed-rows.js'
import { type BytesOf, failSimulation } from './block-lengths.js'

/** The most frames and combinations: more would take over 8 GB of memory. */
const mostJobs = 2 ** 26

/**
 * The frames of all programs. Frames are numbered by sender in the order of its program; positions, at which they are
 * received, by receiver in the order of its program.
 */
export interface FrameTable {
  readonly processes: number
  /** The frames sent by process p: `sendStart[p]` up to the next. Length: processes + 1. */
  readonly sendStart: Int32Array
  readonly from: Int32Array
  readonly to: Int32Array
  readonly round: Int32Array
  readonly bytes: Float64Array
  /** The number of values in a frame. */
  readonly blocks: Int32Array
  /** The position at which a frame is received: `receiveOf[f] - receiveStart[to[f]]` is its number in the program. */
  readonly receiveOf: Int32Array
  /** The positions of process p: `receiveStart[p]` up to the next. Length: processes + 1. */
  readonly receiveStart: Int32Array
  /** The frame received at a position. */
  readonly frameAt: Int32Array
}

/**
 * Returns the frames of programs, numbered.
 *
 * @throws ERR_SIMULATION when there are too many frames and combinations, or the programs do not fit together
 */
export function frameTable({ programs }: LoweredSchedule, bytesOf: BytesOf): FrameTable {
  const processes = programs.length
  const sendStart = new Int32Array(processes + 1)
  const receiveStart = new Int32Array(processes + 1)
  let jobs = 0
  for (const [p, { send, receive, combine }] of programs.entries()) {
    jobs += send.peer.length + receive.peer.length + combine.left.length
    if (jobs > mostJobs)
      failSimulation(`expected at most ${mostJobs} frames sent, frames received and combinations, got more`)
    sendStart[p + 1] = sendStart[p] + send.peer.length
    receiveStart[p + 1] = receiveStart[p] + receive.peer.length
  }
  const frames = sendStart[processes]
  if (receiveStart[processes] !== frames)
    failSimulation(
      `expected every frame to be received, got ${frames} sent and ${receiveStart[processes]} received`,
    )
  const from = new Int32Array(frames)
  const to = new Int32Array(frames)
  const round = new Int32Array(frames)
  const blocks = new Int32Array(frames)
  const bytes = new Float64Array(frames)
  for (const [p, program] of programs.entries()) {
    const first = sendStart[p]
    from.fill(p, first, sendStart[p + 1])
    to.set(program.send.peer, first)
    round.set(program.send.round, first)
    payload(program, bytesOf, blocks.subarray(first), bytes.subarray(first))
  }
  const { receiveOf, frameAt } = matched(programs, { from, to, round, receiveStart })
  return { processes, sendStart, from, to, round, bytes, blocks, receiveOf, receiveStart, frameAt }
}

/** The frames of one rank per process, by sender in the order of sending. Columns of equal length. */
export interface RankFrames {
  /** The frames of rank r: `sendStart[r]` up to the next. */
  readonly sendStart: Int32Array
  readonly to: Int32Array
  readonly round: Int32Array
  /** The number of values in a frame. */
  readonly blocks: Int32Array
}

/** Returns the frames of ranks, numbered. @throws ERR_SIMULATION when there are too many frames */
export function frameTableOfRanks(
  { sendStart, to, round, blocks }: RankFrames,
  blockBytes: number,
): FrameTable {
  const processes = sendStart.length - 1
  if (2 * to.length > mostJobs)
    failSimulation(`expected at most ${mostJobs} frames sent and received, got more`)
  const from = new Int32Array(to.length)
  for (let p = 0; p < processes; p++) from.fill(p, sendStart[p], sendStart[p + 1])
  const receiveStart = rowStarts(processes, to)
  const bytes = Float64Array.from(blocks, (count) => count * blockBytes)
  const positions = positionsOf({ to, round, receiveStart })
  return { processes, sendStart, from, to, round, bytes, blocks, receiveStart, ...positions }
}

function payload(
  { send, valueTerm }: ProcessProgram,
  bytesOf: BytesOf,
  blocks: Int32Array,
  bytes: Float64Array,
): void {
  const { value, valueStart } = send
  for (let j = 0; j < send.peer.length; j++) {
    let sum = 0
    for (let i = valueStart[j]; i < valueStart[j + 1]; i++) sum += bytesOf(valueTerm[value[i]])
    blocks[j] = valueStart[j + 1] - valueStart[j]
    bytes[j] = sum
  }
}

/** Returns the position of every frame, checked against the programs. */
function matched(
  programs: readonly ProcessProgram[],
  frames: Pick<FrameTable, 'from' | 'to' | 'round' | 'receiveStart'>,
): Pick<FrameTable, 'receiveOf' | 'frameAt'> {
  const { from, to, round, receiveStart } = frames
  const positions = positionsOf(frames)
  for (let frame = 0; frame < from.length; frame++) {
    const { receive } = programs[to[frame]]
    const j = positions.receiveOf[frame] - receiveStart[to[frame]]
    if (receive.peer[j] !== from[frame] || receive.round[j] !== round[frame])
      failSimulation(
        `expected process ${to[frame]} to receive what process ${from[frame]} sends in round ${round[frame]}`,
      )
  }
  return positions
}

/** Numbers positions. Receivers list frames by round, then sender: the order in which this loop meets them. */
function positionsOf({
  to,
  round,
  receiveStart,
}: Pick<FrameTable, 'to' | 'round' | 'receiveStart'>): Pick<FrameTable, 'receiveOf' | 'frameAt'> {
  const receiveOf = new Int32Array(to.length)
  const frameAt = new Int32Array(to.length)
  const next = receiveStart.slice()
  for (const frame of byRound(round)) {
    const at = next[to[frame]]++
    receiveOf[frame] = at
    frameAt[at] = frame
  }
  return { receiveOf, frameAt }
}

/** Returns frames by round; those of one round by number. */
function byRound(round: Int32Array): Int32Array {
  const rounds = round.reduce((most, at) => Math.max(most, at + 1), 0)
  return entriesByRow(rowStarts(rounds, round), round)
}
