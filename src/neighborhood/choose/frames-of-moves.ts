import { GrowingInt32Array } from '../../base/growing-array.js'
import type { FrameGraph } from '../../cost/simulate/simulate.js'
import { distinctIn } from '../../topology/neighbors.js'
import type { ProcessTopology } from '../../topology/process-topology.js'
import type { Moves } from '../strategies/delivery-trees.js'
import { movesByMessage } from '../strategies/moves-by-message.js'

/** Builds the frames of the schedule that has these moves, with one rank per process. Time and memory: moves. */
export function framesOfMoves(topology: ProcessTopology, moves: Moves): FrameGraph {
  const { ranks } = topology
  const { hop, from, to, before } = moves
  const { start, order } = movesByMessage(moves, ranks, from, to)
  const sendStart = new Int32Array(ranks + 1)
  const receivers = new GrowingInt32Array(1024)
  const rounds = new GrowingInt32Array(1024)
  const firsts = new GrowingInt32Array(1024)
  const frameOf = new Int32Array(order.length)
  for (let rank = 0; rank < ranks; rank++) {
    let [lastHop, lastPeer] = [-1, -1]
    for (let i = start[rank]; i < start[rank + 1]; i++) {
      const move = order[i]
      if (hop[move] !== lastHop || to[move] !== lastPeer) {
        lastHop = hop[move]
        lastPeer = to[move]
        rounds.push(lastHop)
        receivers.push(lastPeer)
        firsts.push(i)
      }
      frameOf[move] = receivers.length - 1
    }
    sendStart[rank + 1] = receivers.length
  }
  firsts.push(order.length)

  const frames = receivers.length
  const blocks = new Int32Array(frames)
  const bringerStart = new Int32Array(frames + 1)
  const bringers = new GrowingInt32Array(1024)
  /** By frame, the last frame that was found to wait for it. */
  const awaitedBy = new Int32Array(frames).fill(-1)
  for (let frame = 0; frame < frames; frame++) {
    const [first, end] = [firsts.get(frame), firsts.get(frame + 1)]
    blocks[frame] = end - first
    for (let i = first; i < end; i++) {
      const move = before[order[i]]
      if (move === -1 || awaitedBy[frameOf[move]] === frame) continue
      awaitedBy[frameOf[move]] = frame
      bringers.push(frameOf[move])
    }
    bringerStart[frame + 1] = bringers.length
  }
  return {
    sendStart,
    to: receivers.toArray(),
    round: rounds.toArray(),
    blocks,
    bringerStart,
    bringer: bringers.toArray(),
    copies: copiesOf(topology),
  }
}

/**
 * Counts copies. A block arrives in its first slot; further slots of the same source, and those of a rank's own block,
 * are copies.
 */
function copiesOf(topology: ProcessTopology): Int32Array {
  const { inStart, ranks } = topology
  const { start } = distinctIn(topology)
  return Int32Array.from(
    { length: ranks },
    (_, rank) => inStart[rank + 1] - inStart[rank] - (start[rank + 1] - start[rank]),
  )
}
