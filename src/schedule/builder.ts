import { requireOptions } from '../base/known-options.js'
import { RankweaveError, wrongValue } from '../errors.js'
import { type ProcessTopology, requireTopology } from '../topology/process-topology.js'
import { type NeighborSchedule, opKind, type Parameters, partialResult, type Schedule } from './ir.js'
import { addEntry, OperationLog } from './operation-log.js'
import { requireSpecification } from './require-schedule.js'
import { type NeighborCollective, neighborSpecification, type Specification } from './specification.js'

/** A schedule without its operations. */
export interface ScheduleHeader {
  readonly specification: Specification
  /** The topology of a neighborhood collective. Default null. */
  readonly topology?: ProcessTopology | null
  readonly strategy: string
  readonly parameters?: Parameters
  /** The least number of phases, if it does not follow from the operations. */
  readonly phases?: number
}

/** The most phases of a schedule. */
export const maxPhases = 2 ** 24

/**
 * Collects operations in any order and builds the schedule. Open an operation, then add its entries:
 *
 * ```ts builder.send(p, 0, q).add(p, 0) builder.receive(q, 0, p).add(p, builder.slot(q, 0)) builder.combine(q, 0, part,
 * left, right, to) ```
 *
 * Operations of one rank, phase and class keep the order in which they were opened. The order decides what matches and
 * what a copy or combination reads; within a phase the schedule lists sends, then receives, then copies and
 * combinations. The builder checks ranks, peers and phases; `verify` checks the meaning of the operations. A builder
 * builds once.
 */
export class ScheduleBuilder {
  readonly specification: Specification
  readonly #head: ScheduleHeader
  readonly #staging: Int32Array
  readonly #log: OperationLog
  #openKind: number = opKind.copy
  #openPhase = 0

  /**
   * @param log the log to which operations are appended; the library counts them that way
   * @throws ERR_SCHEDULE when `phases` is not an integer from 0 to 2^24
   */
  constructor(head: ScheduleHeader, log?: OperationLog) {
    requireOptions('ScheduleBuilder', head)
    const { specification, phases = 0 } = head
    requireSpecification(specification)
    if (!Number.isInteger(phases) || phases < 0 || phases > maxPhases)
      throw wrongValue('ERR_SCHEDULE', `phases must be an integer from 0 to ${maxPhases}`, phases)
    this.#head = head
    this.specification = specification
    this.#staging = new Int32Array(specification.ranks)
    this.#log = log ?? new OperationLog(specification.ranks)
  }

  /** Returns the place of the l-th block of a rank's receive buffer. */
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

  /** Opens a send; add its blocks with the places from which they are read. @throws ERR_SCHEDULE */
  send(rank: number, phase: number, destination: number, tag = 0): this {
    this.#checkPeer(destination)
    return this.#open(rank, phase, opKind.send, destination, tag)
  }

  /** Opens a receive; add its blocks with the places to which they are written. @throws ERR_SCHEDULE */
  receive(rank: number, phase: number, source: number, tag = 0): this {
    this.#checkPeer(source)
    return this.#open(rank, phase, opKind.receive, source, tag)
  }

  /** Opens a copy; add its blocks with the place read and the place written. @throws ERR_SCHEDULE */
  copy(rank: number, phase: number): this {
    return this.#open(rank, phase, opKind.copy, -1, 0)
  }

  /**
   * Combines the values of a part in two places into a third place: left operand `op` right operand.
   * @throws ERR_SCHEDULE
   */
  combine(rank: number, phase: number, part: number, left: number, right: number, to: number): this {
    this.#open(rank, phase, opKind.combine, -1, 0)
    this.#log.add(partialResult(part), left, to, right)
    return this
  }

  /**
   * Adds a block, or `partialResult(part)`, to the send, receive or copy opened last. A copy needs both
   * places, a send or receive one.
   */
  add(block: number, place: number, copyTo = -1): this {
    addEntry(this.#log, this.#openKind, block, place, copyTo)
    return this
  }

  /**
   * Delays the send or receive opened last until all messages of its rank in phases up to `phase` are complete. Below
   * 0, the default, it waits only for its data.
   *
   * @throws ERR_SCHEDULE unless a send or receive of a later phase is open
   */
  after(phase: number): this {
    if (!Number.isInteger(phase) || phase >= this.#openPhase || this.#openKind > opKind.receive) {
      const expected = `expected a phase before the ${this.#openPhase} of an open send or receive`
      throw wrongValue('ERR_SCHEDULE', expected, phase)
    }
    if (phase >= 0) this.#log.wait(phase)
    return this
  }

  build(): Schedule {
    const { specification, topology = null, strategy, parameters = {}, phases = 0 } = this.#head
    const operations = this.#log.operations()
    return Object.freeze({
      specification,
      topology,
      strategy,
      parameters,
      staging: this.#staging,
      ...operations,
      phases: Math.max(phases, operations.phases),
    })
  }

  #open(rank: number, phase: number, kind: number, peer: number, tag: number): this {
    const { ranks } = this.specification
    if (!(rank >= 0 && rank < ranks && phase >= 0 && phase < maxPhases)) {
      const message = `an operation needs a rank below ${ranks} and a phase below ${maxPhases}, got rank ${rank}, phase ${phase}`
      throw new RankweaveError('ERR_SCHEDULE', message, { details: { rank, phase } })
    }
    this.#openKind = kind
    this.#openPhase = phase
    this.#log.open(rank, phase, kind, peer, tag)
    return this
  }

  #checkPeer(peer: number): void {
    const { ranks } = this.specification
    if (peer >= 0 && peer < ranks) return
    throw wrongValue('ERR_SCHEDULE', `a peer must be a rank from 0 to ${ranks - 1}`, peer)
  }
}

/** Builds the schedule of a neighborhood collective over a topology, by default of a neighbor allgather. */
export class NeighborScheduleBuilder extends ScheduleBuilder {
  readonly #topology: ProcessTopology

  /** @throws ERR_SCHEDULE as the constructor of {@link ScheduleBuilder} */
  constructor(
    head: Omit<ScheduleHeader, 'specification'> & {
      readonly topology: ProcessTopology
      readonly collective?: NeighborCollective
    },
  ) {
    const { topology, collective = 'neighbor-allgather' } = Object(head) as typeof head
    requireTopology(topology)
    super({ ...head, specification: neighborSpecification(collective, topology) })
    this.#topology = topology
  }

  override build(): NeighborSchedule {
    return Object.freeze({ ...super.build(), topology: this.#topology })
  }
}
