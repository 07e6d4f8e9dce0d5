import { rangeAt } from '../../base/search.js'
import { whenThere } from '../../base/turn.js'
import type { Algorithm, CombinationOrder, Shape } from '../../collective/patterns/algorithm.js'
import type { ParticipantGrid } from '../../collective/patterns/participant-grid.js'
import { scheduleOf } from '../../collective/patterns/schedule-of.js'
import type { OperationOwner } from '../../messages/mailboxes/pending-operation.js'
import type { CommContext } from '../../messages/process/comm-context.js'
import type { Scratch } from '../../messages/process/process-memory.js'
import { lowerInRounds } from '../../schedule/lower/lower.js'
import { roundsByPhase } from '../../schedule/lower/rounds.js'
import { memoryOptionsOf, type ValueMemory, valueMemory } from '../../schedule/lower/value-memory.js'
import type { Exchange } from '../exchange/exchange.js'
import type { CollectiveEngine } from '../matching/collective-engine.js'
import { type PlannedCall, PlannedProgram } from '../program/planned-call.js'
import type { ProgramRun, ProgramStore } from '../program/run-program.js'
import type { CallFacts } from './default-rule.js'
import { MachineChoices } from './machine-choices.js'
import type { OnlineCalls } from './online-calls.js'
import {
  gridOfParticipants,
  type Participants,
  participantsFor,
  participantsOf,
  pathParticipants,
  type WholeKind,
} from './participants.js'
import { TunedCalls, type TunedLeaf } from './tuned-calls.js'

/** The algorithm of a call, and the number of segments into which it cuts every unit of data. */
export interface Resolution {
  readonly algorithm: Algorithm
  readonly segments: number
  /** Undefined for a choice that came with the root's message. */
  readonly choice?: PlanChoice
}

/** The reason an algorithm carries out a call. */
export interface PlanChoice {
  /**
   * The source of the choice: the call itself, the machine of the world, the tuning file, or the rule, from these
   * facts.
   */
  readonly by: 'call' | 'machine' | 'file' | 'rule'
  readonly facts: CallFacts
  readonly leaf?: TunedLeaf | undefined
  /** The reason the setting of this leaf cannot serve the call, so that the rule has chosen. */
  readonly refusal?: string | undefined
  /** The class of calls for which the machine has chosen it. */
  readonly chosenFor?: string | undefined
  /** The reason it is not the algorithm that the rule prefers. */
  readonly instead?: string | undefined
}

/** A call that the collective carries out by messages that its own file writes. */
export interface Unplanned {
  readonly algorithm: null
  readonly choice: PlanChoice
}

/** An algorithm for a shape, lowered for this process. */
export class CollectivePlan extends PlannedProgram {
  readonly algorithm: Algorithm
  readonly shape: Shape
  readonly participants: Participants
  /** The memory for runs that do not retain their own. */
  readonly scratch: Scratch
  /** The bytes of the arrays that it retains from the start. */
  readonly sizeBytes: number
  calls = 0
  /** The reason it was chosen the last time; undefined for a choice that came with the root's message. */
  choice: PlanChoice | undefined
  /** The time of its last use, as a count of uses of all plans of its communicator. */
  lastUse = 0
  readonly #memory: (ValueMemory | undefined)[] = []
  /** The same program for a second run in one call, whose messages are distinguished from those of the first. */
  #pieces: PlannedProgram | undefined

  constructor(algorithm: Algorithm, shape: Shape, participants: Participants, state: CommContext) {
    const schedule = scheduleOf(algorithm, shape, participants.own)
    const { processIndex } = state
    super(lowerInRounds(schedule, participants.process, processIndex, roundsByPhase(schedule)), firstStep)
    this.scratch = state.runtime.scratch
    this.algorithm = algorithm
    this.shape = shape
    this.participants = participants
    const { kind, own, ownFirst } = participants
    this.sizeBytes = bytesOfArrays(this.program) + own.byteLength + ownFirst.byteLength
    // About the other participants it needs no more than the program has.
    if (kind === 'path') this.participants = { kind, own, ownFirst, process: own, firstRank: null }
  }

  /** The number of parts into which a unit of data is cut. */
  get parts(): number {
    const { segments = 1 } = this.shape
    return this.algorithm.parts?.(this.shape) ?? segments
  }

  isOf(root: number, segments: number): boolean {
    return this.shape.root === root && this.shape.segments === segments
  }

  /** @param isInPlace the result is where the contribution is */
  memory(isInPlace = false): ValueMemory {
    const options = { ...memoryOptionsOf(this.algorithm.collective, this.parts), isInPlace }
    this.#memory[Number(isInPlace)] ??= valueMemory(this.program, options)
    return this.#memory[Number(isInPlace)]!
  }

  /** Counts a call, and begins its run. */
  override begin(exchange: Exchange, store: ProgramStore, done: () => void): ProgramRun {
    this.calls++
    return super.begin(exchange, store, done)
  }

  /** Begins a second run in one call. */
  beginPieces(exchange: Exchange, store: ProgramStore, done: () => void): ProgramRun {
    this.#pieces ??= new PlannedProgram(this.program, firstPieceStep)
    return this.#pieces.begin(exchange, store, done)
  }
}

/** The first step of a plan; steps below it are those of the messages by which processes agree on lengths. */
export const firstStep = 64
/** The first step of a second run; no run of frames has as many steps. */
const firstPieceStep = 2 ** 21

/**
 * The most plans of a communicator that are retained in a process, and the most bytes of them. Those used last stay.
 */
const mostPlans = 32
const mostPlanBytes = 2 ** 26

/** The plans of one communicator in one process. A plan is made once, and retained while it is among the last used. */
export class CollectivePlans {
  /** The call of its barriers that name no method. */
  barrier: PlannedCall<undefined> | undefined
  /** The number of broadcasts whose data came with their head, without a plan. */
  inlineBcasts = 0
  /** The reason the last inline bcast that this process sent was one. */
  inlineChoice: PlanChoice | undefined
  readonly #state: CommContext
  #isMemoryShared: boolean | undefined
  #tuned: TunedCalls | undefined
  #byMachine: MachineChoices | undefined
  readonly #plans = new Map<string, CollectivePlan>()
  /** The plan of each algorithm, by its id, that was requested last. It is found without making a key. */
  readonly #lastOf = new Map<string, CollectivePlan>()
  #uses = 0
  readonly #participants = new Map<WholeKind, Participants | null>()
  readonly #grids = new Map<WholeKind, ParticipantGrid | undefined>()
  #planBytes = 0

  constructor(state: CommContext) {
    this.#state = state
  }

  get sizeBytes(): number {
    return this.#planBytes
  }

  get retained(): Iterable<CollectivePlan> {
    return this.#plans.values()
  }

  /** Whether all its processes can read each other's memory. The answer is the same on all of them. */
  get isMemoryShared(): boolean {
    this.#isMemoryShared ??= isMemoryShared(this.#state)
    return this.#isMemoryShared
  }

  /** The decisions of the world's tuning file; undefined without one. */
  get tuned(): TunedCalls | undefined {
    if (this.#tuned !== undefined) return this.#tuned
    const { tuning } = this.#state.runtime.options
    if (tuning !== undefined) this.#tuned = new TunedCalls(tuning, this.#state, this.isMemoryShared)
    return this.#tuned
  }

  get byMachine(): MachineChoices {
    this.#byMachine ??= new MachineChoices(this.#state, (kind) => this.participants(kind))
    return this.#byMachine
  }

  participants(kind: WholeKind): Participants | null {
    let found = this.#participants.get(kind)
    if (found === undefined) {
      found = participantsOf(this.#state, kind)
      this.#participants.set(kind, found)
    }
    return found
  }

  /**
   * Returns the plan of a call that moves data between the processes.
   *
   * @param root process index
   */
  movePlan({ algorithm, segments, choice }: Resolution, root = 0): CollectivePlan {
    const plan = this.#plan(algorithm, this.participants('processes')!, root, segments)
    if (choice !== undefined) plan.choice = choice
    return plan
  }

  /**
   * Returns the plan of a reduction; a promise if addresses have to be looked up for it. Unless {@link isUnplaced}, it
   * needs the location of every rank.
   *
   * @param order in which it must be combined
   * @param root rank
   */
  reductionPlan(
    { algorithm, segments, choice }: Resolution,
    order: CombinationOrder,
    root: number,
  ): CollectivePlan | Promise<CollectivePlan> {
    const noted = (plan: CollectivePlan): CollectivePlan => {
      plan.choice = choice
      return plan
    }
    const kind = participantsFor(algorithm, order)
    if (kind === 'path') {
      return whenThere(this.#pathPlan(algorithm, root, segments), noted)
    }
    const participants = this.participants(kind)!
    const at = kind === 'processes' ? this.#state.processOfRank(root) : rangeAt(participants.firstRank!, root)
    return whenThere(at, (index) => noted(this.#plan(algorithm, participants, index, segments)))
  }

  /** @param root participant */
  #plan(algorithm: Algorithm, participants: Participants, root: number, segments: number): CollectivePlan {
    const last = this.#lastOf.get(algorithm.id)
    if (last?.participants === participants && last.isOf(root, segments)) {
      last.lastUse = ++this.#uses
      return last
    }
    const key = `${algorithm.id} ${participants.kind} ${root} ${segments}`
    const plan = this.#used(key) ?? this.#make(key, algorithm, participants, root, segments)
    this.#lastOf.set(algorithm.id, plan)
    return plan
  }

  /**
   * Returns the plan of an algorithm along the tree over ranks; a promise if addresses have to be looked up for it.
   *
   * @param root rank
   */
  #pathPlan(algorithm: Algorithm, root: number, segments: number): CollectivePlan | Promise<CollectivePlan> {
    const key = `${algorithm.id} path ${root} ${segments}`
    const found = this.#used(key)
    if (found !== undefined) return found
    const make = (participants: Participants): CollectivePlan => {
      const rootIndex = rangeAt(participants.firstRank!, root)
      return this.#used(key) ?? this.#make(key, algorithm, participants, rootIndex, segments)
    }
    return whenThere(pathParticipants(this.#state, root), make)
  }

  /** Returns the shape for which an algorithm is planned, with its grid if it follows one. */
  shapeOf(algorithm: Algorithm, participants: Participants, root: number, segments: number): Shape {
    const { process, kind, firstRank } = participants
    const shape = { ranks: process.length, root, segments }
    if (kind === 'path') return { ...shape, firstRank: firstRank! }
    const grid = algorithm.followsGrid === true ? this.#gridOf(kind, participants) : undefined
    return {
      ...shape,
      ...(kind === 'pieces' ? { firstRank: firstRank! } : {}),
      ...(grid === undefined ? {} : { grid }),
    }
  }

  #gridOf(kind: WholeKind, participants: Participants): ParticipantGrid | undefined {
    if (!this.#grids.has(kind)) this.#grids.set(kind, gridOfParticipants(this.#state, participants))
    return this.#grids.get(kind)
  }

  #used(key: string): CollectivePlan | undefined {
    const plan = this.#plans.get(key)
    if (plan !== undefined) plan.lastUse = ++this.#uses
    return plan
  }

  #make(
    key: string,
    algorithm: Algorithm,
    participants: Participants,
    root: number,
    segments: number,
  ): CollectivePlan {
    const shape = this.shapeOf(algorithm, participants, root, segments)
    const plan = new CollectivePlan(algorithm, shape, participants, this.#state)
    plan.lastUse = ++this.#uses
    this.#planBytes += plan.sizeBytes
    while (this.#plans.size > 0 && (this.#plans.size >= mostPlans || this.#planBytes > mostPlanBytes)) {
      this.#forgetOldest()
    }
    this.#plans.set(key, plan)
    return plan
  }

  #forgetOldest(): void {
    let oldest = ''
    let lastUse = Number.POSITIVE_INFINITY
    for (const [key, plan] of this.#plans) {
      if (plan.lastUse >= lastUse) continue
      oldest = key
      lastUse = plan.lastUse
    }
    const plan = this.#plans.get(oldest)!
    this.#plans.delete(oldest)
    this.#planBytes -= plan.sizeBytes
    const { id } = plan.algorithm
    if (this.#lastOf.get(id) === plan) this.#lastOf.delete(id)
  }
}

function bytesOfArrays(record: object): number {
  let bytes = 0
  for (const value of Object.values(record)) {
    if (ArrayBuffer.isView(value)) bytes += value.byteLength
    else if (typeof value === 'object' && value !== null) bytes += bytesOfArrays(value)
  }
  return bytes
}

function isMemoryShared({ runtime, processes, processIndex }: CommContext): boolean {
  const { staging } = runtime
  if (staging === undefined) return false
  for (let i = 0; i < processes.count; i++) {
    if (i !== processIndex && !staging.isSharedWith(processes.processes.at(i))) return false
  }
  return true
}

export interface CollectiveContext extends CommContext {
  readonly collectives: CollectiveEngine
  /** The plans of its collectives, made when the first one needs a plan. */
  readonly plans: CollectivePlans
  /** The online tuning of its calls; undefined unless the world learns from them. */
  readonly online: OnlineCalls | undefined
  /** The mailboxes of ranks, which wait for the request of a collective that they have started. */
  readonly matching: { mailbox(rank: number): OperationOwner }
}
