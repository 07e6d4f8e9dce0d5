import { RankweaveError } from '../errors.js'
import type { ProcessTopology } from '../topology/process-topology.js'
import {
  type Collective,
  type CollectiveSpecification,
  opKind,
  type Schedule,
  specificationOf,
} from './ir.js'
import { addEntry, maxRows, OperationLog } from './operation-log.js'

/** A schedule without its operations. */
export interface ScheduleHeader {
  readonly collective: Collective
  readonly topology: ProcessTopology
  readonly strategy: string
  readonly parameters: Readonly<Record<string, string | number | boolean>>
  readonly phases: number
}

/**
 * Collects operations in any order and builds the schedule. Open an operation, then add its blocks:
 *
 * ```ts
 * builder.send(p, 0, q, scheduleTag.direct).add(p, 0)
 * builder.receive(q, 0, p, scheduleTag.direct).add(p, builder.slot(q, 0))
 * ```
 *
 * Operations of one rank, phase and kind keep the order in which they were opened, which decides what matches; within
 * a phase the schedule lists sends, then receives, then copies. The builder checks ranks, peers and phases; `verify`
 * checks what the operations mean. A builder builds once.
 */
export class ScheduleBuilder {
  readonly specification: CollectiveSpecification
  readonly #head: ScheduleHeader
  readonly #staging: Int32Array
  readonly #log: OperationLog
  #openKind: number = opKind.copy

  /** @throws ERR_SCHEDULE when `phases` is negative, or ranks times phases exceed what a schedule can index. */
  constructor(head: ScheduleHeader) {
    const { phases, topology } = head
    if (!Number.isInteger(phases) || phases < 0) {
      throw new RankweaveError('ERR_SCHEDULE', `phases must be an integer of at least 0, got ${phases}`)
    }
    if (topology.ranks * phases > maxRows) {
      throw new RankweaveError(
        'ERR_SCHEDULE',
        `ranks times phases must be at most ${maxRows}, got ${topology.ranks} x ${phases}`,
      )
    }
    this.#head = head
    this.specification = specificationOf(head.collective, topology)
    this.#staging = new Int32Array(topology.ranks)
    this.#log = new OperationLog(topology.ranks, phases)
  }

  /** The place of the l-th block of a rank's receive buffer. */
  slot(rank: number, index: number): number {
    const { ownStart } = this.specification
    return ownStart[rank + 1] - ownStart[rank] + index
  }

  /** Reserves temporary places at a rank and returns the first. */
  stage(rank: number, places = 1): number {
    const { slotStart } = this.specification
    const first = this.slot(rank, slotStart[rank + 1] - slotStart[rank]) + this.#staging[rank]
    this.#staging[rank] += places
    return first
  }

  /** Opens a send; add its blocks with the places they are read from. @throws ERR_SCHEDULE */
  send(rank: number, phase: number, destination: number, tag: number): this {
    this.#checkPeer(destination)
    return this.#open(rank, phase, opKind.send, destination, tag)
  }

  /** Opens a receive; add its blocks with the places they are written to. @throws ERR_SCHEDULE */
  receive(rank: number, phase: number, source: number, tag: number): this {
    this.#checkPeer(source)
    return this.#open(rank, phase, opKind.receive, source, tag)
  }

  /** Opens a copy; add its blocks with the place read and the place written. @throws ERR_SCHEDULE */
  copy(rank: number, phase: number): this {
    return this.#open(rank, phase, opKind.copy, -1, 0)
  }

  /** Adds a block to the operation opened last. A copy needs both places, a send or receive one. */
  add(block: number, place: number, copyTo = -1): this {
    addEntry(this.#log, this.#openKind, block, place, copyTo)
    return this
  }

  build(): Schedule {
    return Object.freeze({ ...this.#head, staging: this.#staging, ...this.#log.operations() })
  }

  #open(rank: number, phase: number, kind: number, peer: number, tag: number): this {
    const { topology, phases } = this.#head
    if (!(rank >= 0 && rank < topology.ranks && phase >= 0 && phase < phases)) {
      throw new RankweaveError(
        'ERR_SCHEDULE',
        `an operation needs a rank below ${topology.ranks} and a phase below ${phases}, got rank ${rank}, phase ${phase}`,
        { details: { rank, phase } },
      )
    }
    this.#openKind = kind
    this.#log.open(rank, phase, kind, peer, tag)
    return this
  }

  #checkPeer(peer: number): void {
    const { ranks } = this.#head.topology
    if (peer >= 0 && peer < ranks) return
    throw new RankweaveError('ERR_SCHEDULE', `a peer must be a rank from 0 to ${ranks - 1}, got ${peer}`)
  }
}
