import { NeighborScheduleBuilder } from '../../../src/schedule/builder.js'
import { type NeighborSchedule, scheduleTag } from '../../../src/schedule/ir.js'
import type { ProcessTopology } from '../../../src/topology/process-topology.js'

type Pairs = readonly (readonly [number, number])[]

/** Pairs of numbers, such as `0 1, -1 2`. */
export const pairsOf = (text: string): Pairs =>
  text.split(', ').map((pair) => pair.split(' ').map(Number) as [number, number])

/** A topology from (source, destination) pairs, as numbers or as text, each list in the order of the pairs. */
export function topologyOf(ranks: number, given: Pairs | string): ProcessTopology {
  const edges = typeof given === 'string' ? pairsOf(given) : given
  const rowsOf = (key: 0 | 1): [Int32Array, Int32Array] => {
    const start = new Int32Array(ranks + 1)
    for (const edge of edges) start[edge[key] + 1]++
    for (let r = 0; r < ranks; r++) start[r + 1] += start[r]
    const next = start.slice()
    const list = new Int32Array(edges.length)
    for (const edge of edges) list[next[edge[key]]++] = edge[1 - key]
    return [start, list]
  }
  const [outStart, outRank] = rowsOf(0)
  const [inStart, inRank] = rowsOf(1)
  return {
    ranks,
    outStart,
    outRank,
    outWeight: null,
    inStart,
    inRank,
    inWeight: null,
    pairing: 'occurrence',
    cart: null,
  }
}

export function builderFor(
  topology: ProcessTopology,
  phases: number,
  strategy = 'hand-made',
): NeighborScheduleBuilder {
  return new NeighborScheduleBuilder({ topology, strategy, phases })
}

/** One message per distinct edge, duplicates and self loops copied at the receiver. */
export function directSchedule(topology: ProcessTopology): NeighborSchedule {
  const builder = builderFor(topology, 1, 'direct')
  for (let rank = 0; rank < topology.ranks; rank++) {
    const firstSlot = new Map<number, number>()
    const again: [source: number, slot: number][] = []
    for (let l = topology.inStart[rank]; l < topology.inStart[rank + 1]; l++) {
      const source = topology.inRank[l]
      const slot = builder.slot(rank, l - topology.inStart[rank])
      if (source === rank || firstSlot.has(source)) again.push([source, slot])
      else firstSlot.set(source, slot)
    }
    for (const [source, slot] of firstSlot) {
      builder.send(source, 0, rank, scheduleTag.direct).add(source, 0)
      builder.receive(rank, 0, source, scheduleTag.direct).add(source, slot)
    }
    if (again.length > 0) builder.copy(rank, 0)
    for (const [source, slot] of again)
      builder.add(source, source === rank ? 0 : firstSlot.get(source)!, slot)
  }
  return builder.build()
}

/**
 * Ranks 0 and 1 are friends: each takes the other's block and serves two of the common neighbors 2 to 5. Rank
 * 0 also sends to 6 directly, 6 to 0.
 */
export function friendsSchedule(): NeighborSchedule {
  const edges: [number, number][] = [
    [0, 6],
    [6, 0],
  ]
  for (const q of [2, 3, 4, 5]) edges.push([0, q], [1, q])
  const topology = topologyOf(7, edges)
  const builder = builderFor(topology, 2, 'friends')
  const staged = [0, 1].map((rank) => builder.stage(rank))
  for (const rank of [0, 1]) {
    builder.send(rank, 0, 1 - rank, scheduleTag.exchange).add(rank, 0)
    builder.receive(rank, 0, 1 - rank, scheduleTag.exchange).add(1 - rank, staged[rank])
  }
  for (const [from, to] of [
    [0, 6],
    [6, 0],
  ] as const) {
    builder.send(from, 0, to, scheduleTag.direct).add(from, 0)
    builder.receive(to, 0, from, scheduleTag.direct).add(from, builder.slot(to, 0))
  }
  for (const q of [2, 3, 4, 5]) {
    const holder = q < 4 ? 0 : 1
    const places = holder === 0 ? [0, staged[0]] : [staged[1], 0]
    builder.send(holder, 1, q, scheduleTag.combined).add(0, places[0]).add(1, places[1])
    builder.receive(q, 1, holder, scheduleTag.combined).add(0, builder.slot(q, 0)).add(1, builder.slot(q, 1))
  }
  return builder.build()
}
