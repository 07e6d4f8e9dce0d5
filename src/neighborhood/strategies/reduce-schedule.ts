import { GrowingInt32Array } from '../../base/growing-array.js'
import { NeighborScheduleBuilder } from '../../schedule/builder.js'
import { type NeighborSchedule, opKind, partialResult } from '../../schedule/ir.js'
import { distinctIn } from '../../topology/neighbors.js'
import type { ProcessTopology } from '../../topology/process-topology.js'
import { deliveryTrees, emitMessages, type Moves, movesByMessage } from './delivery-trees.js'
import type { RouteHeader } from './route-schedule.js'
import type { Route } from './strategy-kind.js'

/**
 * Plans a neighbor reduction in any order. It runs backwards the trees by which a neighbor allgather of the reversed
 * topology would deliver a rank's block to its sources. The ranks of a tree combine what they have received for its
 * root before they pass it on. A block that a rank passes on alone is sent once to each receiver, for all roots.
 *
 * @param route of the reversed topology
 */
export function reduceSchedule(
  topology: ProcessTopology,
  route: Route,
  header: RouteHeader,
): NeighborSchedule {
  const { ranks, inStart } = topology
  const builder = new NeighborScheduleBuilder({
    topology,
    collective: 'neighbor-reduce',
    phases: Math.max(1, route.hops),
    ...header,
  })
  const moves = deliveryTrees(route, distinctIn(topology), ranks)
  const trees = new ReverseTrees(builder, topology, moves, route.hops)
  trees.combine()
  const messages = trees.messages()
  const { from, to, reads, writes } = messages
  const sends = movesByMessage(messages, ranks, from, to)
  const receives = movesByMessage(messages, ranks, to, from)
  for (let rank = 0; rank < ranks; rank++) {
    emitMessages(builder, messages, sends, rank, 'send', reads)
    emitMessages(builder, messages, receives, rank, 'receive', writes)
    if (inStart[rank + 1] > inStart[rank]) trees.fill(rank)
  }
  return builder.build()
}

/** A value that a rank combines for a root: the contents of a place from some phase on, a number of times. */
interface Operand {
  readonly place: number
  readonly phase: number
  readonly times: number
  /** The block, if the value is one; else it is a partial result. */
  readonly block: number
}

/** The delivery trees backwards: for a move from `from` to `to`, `to` sends to `from`. */
class ReverseTrees {
  readonly #builder: NeighborScheduleBuilder
  readonly #topology: ProcessTopology
  readonly #moves: Moves
  readonly #hops: number
  /** The values that each root has to combine. */
  readonly #ofRoot: Operand[][]
  /** The phase, and the place at the receiver, of blocks that travel alone, by sender and receiver. */
  readonly #alone = new Map<number, { phase: number; place: number }>()
  readonly #columns = Array.from({ length: 6 }, () => new GrowingInt32Array(1024))

  constructor(builder: NeighborScheduleBuilder, topology: ProcessTopology, moves: Moves, hops: number) {
    this.#builder = builder
    this.#topology = topology
    this.#moves = moves
    this.#hops = hops
    this.#ofRoot = Array.from({ length: topology.ranks }, () => [])
  }

  /** Decides which rank combines which values, from the leaves to the roots. */
  combine(): void {
    const { block, from, to, before } = this.#moves
    const { ranks, inStart, inRank } = this.#topology
    const times = new Int32Array(ranks)
    const isLeaf = new Uint8Array(block.length).fill(1)
    for (const parent of before) if (parent >= 0) isLeaf[parent] = 0
    for (let move = 0; move < block.length; move++) {
      if (isLeaf[move] === 1) this.#travelsAlone(to[move], from[move], this.#phaseOf(move))
    }
    let end = block.length
    for (let root = ranks - 1; root >= 0; root--) {
      let first = end
      while (first > 0 && block[first - 1] === root) first--
      for (let edge = inStart[root]; edge < inStart[root + 1]; edge++) times[inRank[edge]]++
      const operands = Array.from({ length: end - first }, (): Operand[] => [])
      const ofRoot = this.#ofRoot[root]
      // The children of a move follow it.
      for (let move = end - 1; move >= first; move--) {
        const receiver = before[move] < 0 ? ofRoot : operands[before[move] - first]
        const own = times[to[move]]
        if (isLeaf[move] === 1) {
          const { phase, place } = this.#alone.get(this.#pair(to[move], from[move]))!
          receiver.push({ place, phase, times: own, block: to[move] })
          continue
        }
        const held = operands[move - first]
        if (own > 0) held.push({ place: 0, phase: 0, times: own, block: to[move] })
        const { place } = this.#fold(to[move], held, null)
        const phase = this.#phaseOf(move)
        const at = this.#builder.stage(from[move])
        this.#send(partialResult(0), phase, to[move], from[move], place, at)
        receiver.push({ place: at, phase, times: 1, block: partialResult(0) })
      }
      if (times[root] > 0) ofRoot.push({ place: 0, phase: 0, times: times[root], block: root })
      for (let edge = inStart[root]; edge < inStart[root + 1]; edge++) times[inRank[edge]] = 0
      end = first
    }
  }

  /** Combines the values of a root into its slot. */
  fill(root: number): void {
    this.#fold(root, this.#ofRoot[root], this.#builder.slot(root, 0))
  }

  messages() {
    for (const [pair, { phase, place }] of this.#alone) {
      const { ranks } = this.#topology
      const sender = Math.floor(pair / ranks)
      this.#send(sender, phase, sender, pair % ranks, 0, place)
    }
    const [block, hop, from, to, reads, writes] = this.#columns.map((column) => column.toArray())
    return { block, hop, from, to, reads, writes }
  }

  #phaseOf(move: number): number {
    return this.#hops - 1 - this.#moves.hop[move]
  }

  #pair(sender: number, receiver: number): number {
    return sender * this.#topology.ranks + receiver
  }

  #travelsAlone(sender: number, receiver: number, phase: number): void {
    const pair = this.#pair(sender, receiver)
    const known = this.#alone.get(pair)
    if (known === undefined) this.#alone.set(pair, { phase, place: this.#builder.stage(receiver) })
    else known.phase = Math.min(known.phase, phase)
  }

  #send(block: number, phase: number, from: number, to: number, read: number, write: number): void {
    for (const [i, value] of [block, phase, from, to, read, write].entries()) this.#columns[i].push(value)
  }

  /** @param into the place of the result; null for any */
  #fold(rank: number, operands: Operand[], into: number | null): { readonly place: number } {
    operands.sort((a, b) => a.phase - b.phase || a.place - b.place)
    let left = -1
    let count = 0
    const total = operands.reduce((sum, { times }) => sum + times, 0)
    for (const { place, phase, times, block } of operands) {
      for (let i = 0; i < times; i++, count++) {
        if (total === 1 && into !== null) this.#builder.copy(rank, phase).add(block, place, into)
        if (count === 0) {
          left = place
          continue
        }
        const to = into !== null && count === total - 1 ? into : this.#builder.stage(rank)
        this.#builder.combine(rank, phase, 0, left, place, to)
        left = to
      }
    }
    return { place: left }
  }
}

/**
 * Plans a neighbor reduction in list order from a neighbor allgather. Blocks travel as there, and every rank combines
 * those of its sources from first to last. So it serves operations that are not commutative, or not associative to the
 * bit, as on floating-point numbers.
 */
export function reduceInOrder(allgather: NeighborSchedule): NeighborSchedule {
  const { topology, strategy, parameters, phases, staging, opStart, entryStart } = allgather
  const { inStart } = topology
  const builder = new NeighborScheduleBuilder({
    topology,
    collective: 'neighbor-reduce',
    strategy,
    parameters,
    phases,
  })
  for (let rank = 0; rank < topology.ranks; rank++) {
    const sources = inStart[rank + 1] - inStart[rank]
    // The slots and temporary places of the allgather become temporary places behind the slot.
    const shift = sources > 0 ? 1 : 0
    builder.stage(rank, sources + staging[rank])
    const placeOf = (place: number): number => (place === 0 ? 0 : place + shift)
    for (let op = opStart[rank]; op < opStart[rank + 1]; op++) {
      const phase = allgather.opPhase[op]
      const kind = allgather.opKind[op]
      if (kind === opKind.copy) builder.copy(rank, phase)
      else {
        const name = kind === opKind.send ? 'send' : 'receive'
        builder[name](rank, phase, allgather.opPeer[op], allgather.opTag[op])
      }
      for (let e = entryStart[op]; e < entryStart[op + 1]; e++) {
        const [from, to] = [allgather.entryFrom[e], allgather.entryTo[e]]
        const block = allgather.entryBlock[e]
        if (kind === opKind.copy) builder.add(block, placeOf(from), placeOf(to))
        else builder.add(block, placeOf(kind === opKind.send ? from : to))
      }
    }
    if (sources === 0) continue
    const last = Math.max(0, phases - 1)
    const slot = builder.slot(rank, 0)
    const first = slot + 1
    if (sources === 1) builder.copy(rank, last).add(topology.inRank[inStart[rank]], first, slot)
    let left = first
    for (let source = 1; source < sources; source++) {
      const to = source === sources - 1 ? slot : builder.stage(rank)
      builder.combine(rank, last, 0, left, first + source, to)
      left = to
    }
  }
  return builder.build()
}
