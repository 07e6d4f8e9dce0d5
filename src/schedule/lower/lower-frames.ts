import { GrowingInt32Array } from '../../base/growing-array.js'
import { RankweaveError } from '../../errors.js'
import { opKind, type Schedule } from '../ir.js'
import { blockCount, type Specification } from '../specification.js'
import { operationsOfRank } from '../walk.js'
import type { MessageRounds } from './rounds.js'

/** A schedule and a placement, with what the lowering of all processes shares. */
export interface LoweringContext {
  readonly schedule: Schedule
  readonly placement: Int32Array
  readonly specification: Specification
  readonly rounds: number
  readonly roundOfOperation: Int32Array
  /** The process that hosts the origin of every block. */
  readonly homeOfBlock: Int32Array
  /** Ranks sorted by process, then rank, and where each process begins. */
  readonly rankByProcess: Int32Array
  readonly processStart: Int32Array
}

/** The frames of a process in one direction: by round, then peer. */
export interface Frames {
  readonly roundStart: Int32Array
  readonly peer: Int32Array
  readonly messages: Int32Array
  readonly blockStart: Int32Array
  readonly block: Int32Array
}

/** @throws ERR_PLACEMENT, ERR_SCHEDULE */
export function loweringContext(
  schedule: Schedule,
  placement: Int32Array,
  { rounds, ofOperation }: MessageRounds,
): LoweringContext {
  const { specification } = schedule
  const { ranks } = specification
  if (placement.length !== ranks) {
    throw new RankweaveError(
      'ERR_PLACEMENT',
      `a placement must give each of ${ranks} ranks its process, got ${placement.length} processes`,
    )
  }
  const homeless = placement.findIndex((process) => process < 0)
  if (homeless !== -1) {
    throw new RankweaveError(
      'ERR_PLACEMENT',
      `the process of rank ${homeless} must be at least 0, got ${placement[homeless]}`,
      { details: { rank: homeless } },
    )
  }
  const homeOfBlock = new Int32Array(blockCount(specification))
  for (let rank = 0; rank < ranks; rank++) {
    for (let i = specification.ownStart[rank]; i < specification.ownStart[rank + 1]; i++) {
      homeOfBlock[specification.ownBlock[i]] = placement[rank]
    }
  }
  const processes = placement.reduce((most, process) => Math.max(most, process + 1), 0)
  const processStart = new Int32Array(processes + 1)
  for (const process of placement) processStart[process + 1]++
  for (let p = 0; p < processes; p++) processStart[p + 1] += processStart[p]
  const next = processStart.slice()
  const rankByProcess = new Int32Array(ranks)
  for (let rank = 0; rank < ranks; rank++) rankByProcess[next[placement[rank]]++] = rank
  return {
    schedule,
    placement,
    specification,
    rounds,
    roundOfOperation: ofOperation,
    homeOfBlock,
    rankByProcess,
    processStart,
  }
}

export function hostedRanks({ processStart, rankByProcess }: LoweringContext, process: number): Int32Array {
  if (!Number.isInteger(process) || process < 0) {
    throw new RankweaveError('ERR_PLACEMENT', `a process must be an integer of at least 0, got ${process}`)
  }
  const processes = processStart.length - 1
  return process < processes
    ? rankByProcess.slice(processStart[process], processStart[process + 1])
    : new Int32Array(0)
}

export function framesSent(context: LoweringContext, process: number, ranks: Int32Array): Frames {
  return frames(context, process, ranks, opKind.send)
}

export function framesReceived(context: LoweringContext, process: number, ranks: Int32Array): Frames {
  return frames(context, process, ranks, opKind.receive)
}

/**
 * Collects the messages with ranks of other processes in frames. Both ends see the same messages, and the contents of a
 * frame depend only on these, on the earlier frames of the pair and on the placement, so both ends find the same frames.
 */
function frames(context: LoweringContext, process: number, ranks: Int32Array, kind: number): Frames {
  const { schedule, placement, rounds, roundOfOperation, homeOfBlock } = context
  const ops = new GrowingInt32Array()
  for (const rank of ranks) {
    const [from, to] = operationsOfRank(schedule, rank)
    for (let op = from; op < to; op++) {
      if (schedule.opKind[op] === kind && placement[schedule.opPeer[op]] !== process) ops.push(op)
    }
  }
  const peerOf = (op: number): number => placement[schedule.opPeer[op]]
  const byPeer = ops
    .toArray()
    .sort((a, b) => peerOf(a) - peerOf(b) || roundOfOperation[a] - roundOfOperation[b])

  // Pair by pair, round by round, without the blocks of the pair's earlier frames.
  const found: { round: number; peer: number; messages: number; blocks: Int32Array }[] = []
  const broughtBy = new Map<number, number>()
  for (let i = 0; i < byPeer.length; ) {
    const peer = peerOf(byPeer[i])
    const round = roundOfOperation[byPeer[i]]
    const receiver = kind === opKind.send ? peer : process
    const blocks = new GrowingInt32Array(8)
    const first = i
    for (; i < byPeer.length && peerOf(byPeer[i]) === peer && roundOfOperation[byPeer[i]] === round; i++) {
      const op = byPeer[i]
      for (let e = schedule.entryStart[op]; e < schedule.entryStart[op + 1]; e++) {
        const block = schedule.entryBlock[e]
        if (homeOfBlock[block] === receiver || broughtBy.get(block) === peer) continue
        broughtBy.set(block, peer)
        blocks.push(block)
      }
    }
    found.push({ round, peer, messages: i - first, blocks: blocks.toArray().sort() })
  }
  return concatenate(
    found.sort((a, b) => a.round - b.round || a.peer - b.peer),
    rounds,
  )
}

function concatenate(
  found: readonly { round: number; peer: number; messages: number; blocks: Int32Array }[],
  rounds: number,
): Frames {
  const roundStart = new Int32Array(rounds + 1)
  const blockStart = new Int32Array(found.length + 1)
  for (const [j, { round, blocks }] of found.entries()) {
    roundStart[round + 1]++
    blockStart[j + 1] = blockStart[j] + blocks.length
  }
  for (let round = 0; round < rounds; round++) roundStart[round + 1] += roundStart[round]
  const block = new Int32Array(blockStart[found.length])
  for (const [j, { blocks }] of found.entries()) block.set(blocks, blockStart[j])
  return {
    roundStart,
    peer: Int32Array.from(found, ({ peer }) => peer),
    messages: Int32Array.from(found, ({ messages }) => messages),
    blockStart,
    block,
  }
}
