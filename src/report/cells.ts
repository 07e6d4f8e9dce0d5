import { wrongValue } from '../errors.js'
import { opKind, type Schedule } from '../schedule/ir.js'

/**
 * A distribution of ranks over the rows and columns of a traffic matrix: row i covers ranks `start[i]` up to the next.
 */
export interface CellBounds {
  /** The first rank of every row, then the number of ranks: one element more than there are rows. */
  readonly start: readonly number[]
  /** The unit of a row: one rank, a block of ranks, one node or several consecutive nodes. */
  readonly of: 'rank' | 'ranks' | 'node' | 'nodes'
  /** The number of nodes that a row covers; the last row may cover fewer. 0 for rows of ranks. */
  readonly nodes: number
}

/** The traffic between all pairs of rows: `rows * rows` numbers each, row by row, senders first. */
export interface CellTraffic {
  readonly messages: readonly number[]
  /** The number of blocks that these messages carry, counted once per message. */
  readonly blocks: readonly number[]
}

export const mostCells = 128

/** Cuts the ranks into equal blocks, at most `cells` of them. @throws ERR_ARGUMENT */
export function rankBounds(ranks: number, cells = mostCells): CellBounds {
  if (!Number.isInteger(cells) || cells < 1 || cells > mostCells)
    throw wrongValue('ERR_ARGUMENT', `cells: expected 1 to ${mostCells}`, cells)
  const perCell = Math.max(1, Math.ceil(ranks / cells))
  const start: number[] = []
  for (let first = 0; first < ranks; first += perCell) start.push(first)
  return { start: [...start, ranks], of: perCell === 1 ? 'rank' : 'ranks', nodes: 0 }
}

/**
 * Makes a row per node, or per equal number of consecutive nodes if there are more than `cells`.
 * @param nodeOf ascending
 */
export function nodeBounds(nodeOf: Int32Array, cells = mostCells): CellBounds {
  const first = nodeOf.reduce<number[]>((starts, node, rank) => {
    if (rank === 0 || node !== nodeOf[rank - 1]) starts.push(rank)
    return starts
  }, [])
  const nodes = Math.max(1, Math.ceil(first.length / cells))
  const start = first.filter((_, i) => i % nodes === 0)
  return { start: [...start, nodeOf.length], of: nodes === 1 ? 'node' : 'nodes', nodes }
}

/** Counts the sends of a schedule by the cells of their ranks. */
export function trafficIn(schedule: Schedule, { start }: CellBounds): CellTraffic {
  const { opStart, opKind: kinds, opPeer, entryStart } = schedule
  const rows = start.length - 1
  const cellOf = new Int32Array(schedule.specification.ranks)
  for (let row = 0; row < rows; row++) cellOf.fill(row, start[row], start[row + 1])
  const messages = new Array<number>(rows * rows).fill(0)
  const blocks = new Array<number>(rows * rows).fill(0)
  for (let rank = 0; rank < cellOf.length; rank++) {
    for (let op = opStart[rank]; op < opStart[rank + 1]; op++) {
      if (kinds[op] !== opKind.send) continue
      const cell = cellOf[rank] * rows + cellOf[opPeer[op]]
      messages[cell]++
      blocks[cell] += entryStart[op + 1] - entryStart[op]
    }
  }
  return { messages, blocks }
}

/** Counts the messages that every rank sends and receives. */
export function messagesPerRank(schedule: Schedule): {
  readonly sent: Int32Array
  readonly received: Int32Array
} {
  const { opStart, opKind: kinds } = schedule
  const { ranks } = schedule.specification
  const sent = new Int32Array(ranks)
  const received = new Int32Array(ranks)
  for (let rank = 0; rank < ranks; rank++) {
    for (let op = opStart[rank]; op < opStart[rank + 1]; op++) {
      if (kinds[op] === opKind.send) sent[rank]++
      else if (kinds[op] === opKind.receive) received[rank]++
    }
  }
  return { sent, received }
}
