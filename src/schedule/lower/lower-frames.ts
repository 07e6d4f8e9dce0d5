import { GrowingInt32Array } from '../../base/growing-array.js'
import { opKind } from '../ir.js'
import { operationsOfRank, rankOfOperation } from '../walk.js'
import { homeOfBlock, type LoweringContext } from './lowering-context.js'

/** The frames of a process in one direction: by round, then peer; peers of sends begin after the process. */
export interface Frames {
  readonly round: Int32Array
  readonly peer: Int32Array
  readonly messages: Int32Array
  /** The round up to which frame j waits for those of its process; -1: for none. Length 0 where none waits. */
  readonly after: Int32Array
  /** What frame j holds: `term[termStart[j]]` up to the next. Length frames + 1. */
  readonly termStart: Int32Array
  /** Blocks, ascending, then partial results. */
  readonly term: Int32Array
  /** The entry of a partial result; -1 for a block, which several entries may share. */
  readonly entry: Int32Array
}

interface Frame {
  readonly round: number
  readonly peer: number
  readonly messages: number
  readonly after: number
  /** Where its blocks are in those of all frames. */
  readonly from: number
  readonly to: number
  /** Entries of partial results. */
  readonly partials: Int32Array
}

export function framesSent(context: LoweringContext, process: number, ranks: Int32Array): Frames {
  return frames(context, process, ranks, opKind.send)
}

export function framesReceived(context: LoweringContext, process: number, ranks: Int32Array): Frames {
  return frames(context, process, ranks, opKind.receive)
}

/**
 * Collects the messages with ranks of other processes in frames. Both ends see the same messages, and the
 * contents of a frame depend only on these, on the earlier frames of the pair and on the placement, so both
 * ends find the same frames.
 */
function frames(context: LoweringContext, process: number, ranks: Int32Array, kind: number): Frames {
  const { schedule, placement, rounds, awaited } = context
  const { opPeer, opTag, entryStart, entryBlock } = schedule
  const { ofOperation } = rounds
  const processes = context.processStart.length - 1
  const ops = new GrowingInt32Array()
  for (const rank of ranks) {
    const [from, to] = operationsOfRank(schedule, rank)
    for (let op = from; op < to; op++) {
      if (schedule.opKind[op] === kind && placement[opPeer[op]] !== process) ops.push(op)
    }
  }
  const peerOf = (op: number): number => placement[opPeer[op]]
  const byPeer = ops.toArray().sort((a, b) => peerOf(a) - peerOf(b) || ofOperation[a] - ofOperation[b])

  // Pair by pair, round by round, without the blocks of the pair's earlier frames.
  const found: Frame[] = []
  // One list for all frames: most hold a block or two, and an array each would cost more than the rest.
  const blocks = new GrowingInt32Array(ops.length)
  const broughtBy = new Map<number, number>()
  for (let i = 0; i < byPeer.length; ) {
    const peer = peerOf(byPeer[i])
    const round = ofOperation[byPeer[i]]
    const receiver = kind === opKind.send ? peer : process
    const first = i
    const from = blocks.length
    let hasPartials = false
    let after = -1
    for (; i < byPeer.length && peerOf(byPeer[i]) === peer && ofOperation[byPeer[i]] === round; i++) {
      const op = byPeer[i]
      if (awaited.length > 0) after = Math.max(after, awaited[op])
      for (let e = entryStart[op]; e < entryStart[op + 1]; e++) {
        const block = entryBlock[e]
        if (block < 0) hasPartials = true
        else if (homeOfBlock(context, block) !== receiver && broughtBy.get(block) !== peer) {
          broughtBy.set(block, peer)
          blocks.push(block)
        }
      }
    }
    const partials = hasPartials ? partialsOf(byPeer.subarray(first, i)) : noEntries
    found.push({ round, peer, messages: i - first, after, from, to: blocks.length, partials })
  }
  // Ascending peers would have all processes send to the same ones at the same time (docs/decisions/0033).
  const firstPeer = kind === opKind.send ? process + 1 : 0
  const turn = ({ peer }: Frame): number => (peer - firstPeer + processes) % processes
  return concatenate(
    found.sort((a, b) => a.round - b.round || turn(a) - turn(b)),
    blocks.view(),
    entryBlock,
    awaited.length > 0,
  )

  /** By sender, receiver, tag and order, which sorting keeps; the operations are by own rank and order. */
  function partialsOf(messages: Int32Array): Int32Array {
    const own = (op: number): number => rankOfOperation(schedule, op)
    const other = (op: number): number => opPeer[op]
    const [sender, receiver] = kind === opKind.send ? [own, other] : [other, own]
    const ordered = messages
      .slice()
      .sort((a, b) => sender(a) - sender(b) || receiver(a) - receiver(b) || opTag[a] - opTag[b])
    const entries = new GrowingInt32Array(8)
    for (const op of ordered) {
      for (let e = entryStart[op]; e < entryStart[op + 1]; e++) if (entryBlock[e] < 0) entries.push(e)
    }
    return entries.toArray()
  }
}

const noEntries = new Int32Array(0)

function concatenate(
  found: readonly Frame[],
  blocks: Int32Array,
  entryBlock: Int32Array,
  waits: boolean,
): Frames {
  const termStart = new Int32Array(found.length + 1)
  for (let j = 0; j < found.length; j++) {
    const { from, to, partials } = found[j]
    termStart[j + 1] = termStart[j] + to - from + partials.length
  }
  const term = new Int32Array(termStart[found.length])
  const entry = new Int32Array(termStart[found.length]).fill(-1)
  for (let j = 0; j < found.length; j++) {
    const { from, to, partials } = found[j]
    let at = termStart[j]
    for (let i = from; i < to; i++) term[at++] = blocks[i]
    if (to - from > 1) term.subarray(termStart[j], at).sort()
    for (let i = 0; i < partials.length; i++) {
      term[at + i] = entryBlock[partials[i]]
      entry[at + i] = partials[i]
    }
  }
  return {
    round: Int32Array.from(found, ({ round }) => round),
    peer: Int32Array.from(found, ({ peer }) => peer),
    messages: Int32Array.from(found, ({ messages }) => messages),
    after: waits ? Int32Array.from(found, ({ after }) => after) : noEntries,
    termStart,
    term,
    entry,
  }
}
