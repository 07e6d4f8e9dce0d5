import type { ProcessTopology } from '../topology/process-topology.js'

/**
 * A collective operation as data: per rank, phases of sends, receives and copies of named blocks (decision 5).
 * Immutable; typed arrays in compressed rows.
 *
 * **Blocks** are named by small integers that all ranks agree on. In a neighbor allgather block b is what rank b
 * contributes, whatever its length.
 *
 * **Places** are where a rank holds blocks: places 0 to `own - 1` hold what it contributes (its send buffer), the next
 * `slots` are the blocks of its receive buffer in list order, the next `staging[rank]` are temporary. A place is
 * written at most once.
 *
 * **Phases.** In each phase a rank posts all its receives and starts all its sends together, waits for all of them,
 * then makes its copies in order. So sends of a phase read what the places held when the phase began. A rank enters a
 * phase when it has finished the previous one; there is no barrier between ranks. Order matters among a phase's
 * operations of one kind, not between kinds; the builder and the reader list sends, then receives, then copies.
 *
 * **Matching.** The i-th send from p to q with tag t is received by q's i-th receive from p with tag t, counted in the
 * order of the operations. Both list the same blocks in the same order.
 */
export interface Schedule {
  readonly collective: Collective
  readonly topology: ProcessTopology
  readonly strategy: string
  /** The parameters of the strategy, e.g. `{ k: 4, theta: 4, mode: 'aware' }`. For readers and exports. */
  readonly parameters: Readonly<Record<string, string | number | boolean>>
  readonly phases: number
  /** Temporary places of every rank. Length `ranks`. */
  readonly staging: Int32Array
  /** Operations of rank r in phase f: `opStart[r * phases + f]` up to the next. Length `ranks * phases + 1`. */
  readonly opStart: Int32Array
  readonly opKind: Uint8Array
  /** Destination of a send, source of a receive, -1 for a copy. */
  readonly opPeer: Int32Array
  readonly opTag: Int32Array
  /** Entries (blocks) of every operation. Length `ops + 1`. */
  readonly entryStart: Int32Array
  readonly entryBlock: Int32Array
  /** Place read (send, copy). -1 for a receive. */
  readonly entryFrom: Int32Array
  /** Place written (receive, copy). -1 for a send. */
  readonly entryTo: Int32Array
}

export type Collective = 'neighbor-allgather'

export const opKind = { send: 0, receive: 1, copy: 2 } as const

/**
 * Tags distinguish messages of a pair. Strategies with several of one kind per pair encode the step above these values.
 */
export const scheduleTag = { exchange: 0, combined: 1, direct: 2 } as const

/**
 * What every rank holds before and must hold afterwards. `ownBlock` names the blocks of places 0 to `own - 1`,
 * `slotBlock` those that the receive buffer must end with, in order.
 */
export interface CollectiveSpecification {
  readonly ownStart: Int32Array
  readonly ownBlock: Int32Array
  readonly slotStart: Int32Array
  readonly slotBlock: Int32Array
}

/** The specification of a collective over a topology: a function of these two alone. */
export function specificationOf(collective: Collective, topology: ProcessTopology): CollectiveSpecification {
  switch (collective) {
    case 'neighbor-allgather':
      return {
        ownStart: upTo(topology.ranks + 1),
        ownBlock: upTo(topology.ranks),
        slotStart: topology.inStart,
        slotBlock: topology.inRank,
      }
  }
}

/** 0 to count - 1; `Int32Array.from` takes over ten times as long. */
function upTo(count: number): Int32Array {
  const numbers = new Int32Array(count)
  for (let i = 0; i < count; i++) numbers[i] = i
  return numbers
}

/** Blocks are named 0 to this minus one. */
export function blockCount(specification: CollectiveSpecification): number {
  let last = -1
  for (const block of specification.ownBlock) if (block > last) last = block
  return last + 1
}
