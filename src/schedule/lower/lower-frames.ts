import { GrowingInt32Array } from '../../base/growing-array.js'
import { firstNotBelow, stableOrder } from '../../base/search.js'
import { opKind, type Schedule } from '../ir.js'
import { operationsOfRank, rankOfOperation } from '../walk.js'
import { homeOfBlock, type LoweringContext, NumberOfBlock } from './lowering-context.js'
import type { Gates } from './program.js'

/** The frames of a process in one direction: by round, then peer; peers of sends begin after the process. */
export interface Frames {
  readonly round: Int32Array
  readonly peer: Int32Array
  readonly messages: Int32Array
  /** The round up to which frame j waits for those of its process; -1 for none. The length is 0 if none waits. */
  readonly after: Int32Array
  /** The contents of frame j are `term[termStart[j]]` up to the next. Length frames + 1. */
  readonly termStart: Int32Array
  /** The blocks, ascending, then partial results. */
  readonly term: Int32Array
  /** The entry of a partial result; -1 for a block, which several entries may share. */
  readonly entry: Int32Array
}

export function framesSent(context: LoweringContext, process: number, ranks: Int32Array): Frames {
  return frames(context, process, ranks, opKind.send)
}

export function framesReceived(context: LoweringContext, process: number, ranks: Int32Array): Frames {
  return frames(context, process, ranks, opKind.receive)
}

/**
 * Collects the messages with ranks of other processes in frames. Both ends see the same messages. The contents of a
 * frame depend only on these, on the earlier frames of the pair and on the placement. So both ends compute the same
 * frames.
 */
function frames(context: LoweringContext, process: number, ranks: Int32Array, kind: number): Frames {
  const { schedule, placement, awaited } = context
  const { opPeer, entryStart, entryBlock } = schedule
  const { ofOperation } = context.rounds
  const processes = context.processStart.length - 1
  const ops = messagesByPeer(context, process, ranks, kind)

  // This goes pair by pair, round by round, without the blocks of the pair's earlier frames. A column holds all frames:
  // most have a block or two, and an object each would cost more than the rest.
  const first = new Int32Array(ops.length + 1)
  const after = new Int32Array(awaited.length > 0 ? ops.length : 0).fill(-1)
  const blockEnd = new Int32Array(ops.length)
  const partialEnd = new Int32Array(ops.length)
  const blocks = new GrowingInt32Array(ops.length)
  const partials = new GrowingInt32Array(8)
  const broughtBy = new NumberOfBlock(schedule, entriesOf(schedule, ranks))
  let count = 0
  for (let i = 0; i < ops.length; count++) {
    const peer = placement[opPeer[ops[i]]]
    const round = ofOperation[ops[i]]
    const receiver = kind === opKind.send ? peer : process
    let hasPartials = false
    for (; i < ops.length && placement[opPeer[ops[i]]] === peer && ofOperation[ops[i]] === round; i++) {
      const op = ops[i]
      if (awaited.length > 0) after[count] = Math.max(after[count], awaited[op])
      for (let e = entryStart[op]; e < entryStart[op + 1]; e++) {
        const block = entryBlock[e]
        if (block < 0) hasPartials = true
        else if (homeOfBlock(context, block) !== receiver && broughtBy.get(block) !== peer) {
          broughtBy.set(block, peer)
          blocks.push(block)
        }
      }
    }
    first[count + 1] = i
    if (hasPartials) addPartials(schedule, ops.subarray(first[count], i), kind, partials)
    blockEnd[count] = blocks.length
    partialEnd[count] = partials.length
  }

  // Peers begin after the process, because ascending peers would have all processes send to the same ones at the same
  // time (docs/decisions/0026).
  const firstPeer = kind === opKind.send ? process + 1 : 0
  const peerOf = (frame: number): number => placement[opPeer[ops[first[frame]]]]
  const roundOf = (frame: number): number => ofOperation[ops[first[frame]]]
  const byTurn = stableOrder(count, (frame) => (peerOf(frame) - firstPeer + processes) % processes)
  const byRound = stableOrder(count, (at) => roundOf(byTurn[at]))
  const order = byRound.map((at) => byTurn[at])

  const termStart = new Int32Array(count + 1)
  const term = new Int32Array(blocks.length + partials.length)
  const entry = new Int32Array(term.length).fill(-1)
  let at = 0
  for (let j = 0; j < count; j++) {
    const frame = order[j]
    const start = at
    const blockStart = frame === 0 ? 0 : blockEnd[frame - 1]
    for (let b = blockStart; b < blockEnd[frame]; b++) term[at++] = blocks.get(b)
    if (at - start > 1) term.subarray(start, at).sort()
    for (let p = frame === 0 ? 0 : partialEnd[frame - 1]; p < partialEnd[frame]; p++) {
      entry[at] = partials.get(p)
      term[at++] = entryBlock[partials.get(p)]
    }
    termStart[j + 1] = at
  }
  return {
    round: order.map(roundOf),
    peer: order.map(peerOf),
    messages: order.map((frame) => first[frame + 1] - first[frame]),
    after: after.length > 0 ? order.map((frame) => after[frame]) : after,
    termStart,
    term,
    entry,
  }
}

function entriesOf(schedule: Schedule, ranks: Int32Array): number {
  const { entryStart } = schedule
  return ranks.reduce((sum, rank) => {
    const [from, to] = operationsOfRank(schedule, rank)
    return sum + entryStart[to] - entryStart[from]
  }, 0)
}

/**
 * Lists the messages with ranks of other processes, by peer, then round; those of one round in the order of the ranks.
 */
function messagesByPeer(
  { schedule, placement, rounds }: LoweringContext,
  process: number,
  ranks: Int32Array,
  kind: number,
): Int32Array {
  const { opPeer } = schedule
  const found = new GrowingInt32Array()
  for (const rank of ranks) {
    const [from, to] = operationsOfRank(schedule, rank)
    for (let op = from; op < to; op++) {
      if (schedule.opKind[op] === kind && placement[opPeer[op]] !== process) found.push(op)
    }
  }
  const ops = found.toArray()
  const byRound = stableOrder(ops.length, (i) => rounds.ofOperation[ops[i]])
  const byPeer = stableOrder(ops.length, (i) => placement[opPeer[ops[byRound[i]]]])
  return byPeer.map((i) => ops[byRound[i]])
}

/**
 * Adds the entries of partial results of a frame's messages by sender, receiver, tag and order. Sorting keeps the
 * order; the operations are by own rank and order.
 */
function addPartials(
  schedule: Schedule,
  messages: Int32Array,
  kind: number,
  partials: GrowingInt32Array,
): void {
  const { opPeer, opTag, entryStart, entryBlock } = schedule
  const own = (op: number): number => rankOfOperation(schedule, op)
  const other = (op: number): number => opPeer[op]
  const [sender, receiver] = kind === opKind.send ? [own, other] : [other, own]
  const ordered =
    messages.length === 1
      ? messages
      : messages
          .slice()
          .sort((a, b) => sender(a) - sender(b) || receiver(a) - receiver(b) || opTag[a] - opTag[b])
  for (const op of ordered) {
    for (let e = entryStart[op]; e < entryStart[op + 1]; e++) if (entryBlock[e] < 0) partials.push(e)
  }
}

const none = new Int32Array(0)
export const noGates: Gates = { sends: none, receives: none, ofSend: none, ofReceive: none }

/** Lists the gates of a process: one for each set of frames that others wait for. */
export function gatesOf(sent: Frames, received: Frames): Gates {
  const bounds = [...new Set([...sent.after, ...received.after])].sort((a, b) => a - b)
  const sends: number[] = []
  const receives: number[] = []
  const gateOfBound = new Map<number, number>()
  for (const bound of bounds) {
    const [before, arrived] = [framesUpTo(sent, bound), framesUpTo(received, bound)]
    const last = sends.length - 1
    if (before + arrived === 0) gateOfBound.set(bound, -1)
    else if (last >= 0 && sends[last] === before && receives[last] === arrived) gateOfBound.set(bound, last)
    else {
      gateOfBound.set(bound, sends.length)
      sends.push(before)
      receives.push(arrived)
    }
  }
  if (sends.length === 0) return noGates
  const gatesIn = ({ after }: Frames) => after.map((bound) => gateOfBound.get(bound)!)
  return {
    sends: Int32Array.from(sends),
    receives: Int32Array.from(receives),
    ofSend: gatesIn(sent),
    ofReceive: gatesIn(received),
  }
}

/** Counts the frames of rounds up to one. */
function framesUpTo({ round }: Frames, last: number): number {
  return firstNotBelow(round, last + 1, 0, round.length)
}
