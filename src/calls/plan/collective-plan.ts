import { rangeAt } from '../../base/search.js'
import { whenThere } from '../../base/turn.js'
import type { Algorithm, CombinationOrder, Shape } from '../../collective/patterns/algorithm.js'
import type { ParticipantGrid } from '../../collective/patterns/participant-grid.js'
import { scheduleOf } from '../../collective/patterns/schedule-of.js'
import type { OperationOwner } from '../../messages/mailboxes/pending-operation.js'
import type { CommContext, RankHandle } from '../../messages/process/comm-context.js'
import type { Scratch } from '../../messages/process/process-memory.js'
import { lowerInRounds } from '../../schedule/lower/lower.js'
import { roundsByPhase } from '../../schedule/lower/rounds.js'
import { memoryOptionsOf, type ValueMemory, valueMemory } from '../../schedule/lower/value-memory.js'
import type { Collective } from '../../schedule/specification.js'
import type { Exchange } from '../exchange/exchange.js'
import type { CollectiveEngine } from '../matching/collective-engine.js'
import type { PlannedCall } from '../program/planned-call.js'
import { PlannedProgram, type ProgramRun, type ProgramStore } from '../program/run-program.js'
import { MachineChoices } from './machine-choices.js'
import type { OnlineCalls } from './online-calls.js'
import {
  gridOfParticipants,
  type ParticipantKind,
  type Participants,
  participantsFor,
  participantsOf,
  pathParticipants,
  type WholeKind,
} from './participants.js'
import { leftToRule, TunedCalls, type TunedLeaf } from './tuned-calls.js'

/** The algorithm of a call, and the number of segments into which it cuts every unit of data. */
export interface Resolution {
  readonly algorithm: Algorithm
  readonly segments: number
  /** Undefined for a choice that came with the root's message. */
  readonly choice?: PlanChoice
}

/** The reason an algorithm carries out a call. */
export interface PlanChoice {
  /** The source of the choice: the call itself, the machine of the world, the tuning file, or the rule. */
  readonly by: 'call' | 'machine' | 'file' | 'rule'
  /** The reason of the rule, or the class of calls for which the machine has chosen, in words. */
  readonly why?: string
  readonly leaf?: TunedLeaf | undefined
  /** The reason the setting of this leaf cannot serve the call, so that the rule has chosen. */
  readonly refusal?: string | undefined
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
  /** The reason it was chosen the last time; undefined for a choice that came with the root's message. */
  choice: PlanChoice | undefined
  /** The time of its last use, as a count of uses of all plans of its communicator. */
  lastUse = 0
  readonly #memory: (ValueMemory | undefined)[] = []
  /** A copy of the program for a second run in one call, with other steps than the first. */
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

  get segments(): number {
    return this.shape.segments ?? 1
  }

  /** The number of parts into which a unit of data is cut. */
  get parts(): number {
    return this.algorithm.parts?.(this.shape) ?? this.segments
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
  movePlan(chosen: Resolution, root = 0): CollectivePlan {
    return this.#plan(chosen, this.participants('processes')!, root)
  }

  /**
   * Returns the plan of a reduction; a promise if addresses have to be looked up for it. Unless {@link isUnplaced}, it
   * needs the location of every rank.
   *
   * @param order in which it must be combined
   * @param root rank
   */
  reductionPlan(
    chosen: Resolution,
    order: CombinationOrder,
    root: number,
  ): CollectivePlan | Promise<CollectivePlan> {
    const kind = participantsFor(chosen.algorithm, order)
    if (kind === 'path') {
      const key = keyOf(chosen, kind, root)
      const known = this.#plans.get(key)
      if (known !== undefined) return this.#used(known, chosen)
      return whenThere(pathParticipants(this.#state, root), (participants) => {
        const rootIndex = rangeAt(participants.firstRank!, root)
        return this.#used(this.#plans.get(key) ?? this.#make(key, chosen, participants, rootIndex), chosen)
      })
    }
    const participants = this.participants(kind)!
    const at = kind === 'processes' ? this.#state.processOfRank(root) : rangeAt(participants.firstRank!, root)
    return whenThere(at, (index) => this.#plan(chosen, participants, index))
  }

  /** @param root participant */
  #plan(chosen: Resolution, participants: Participants, root: number): CollectivePlan {
    const { id } = chosen.algorithm
    let plan = this.#lastOf.get(id)
    if (plan?.participants !== participants || !plan.isOf(root, chosen.segments)) {
      const key = keyOf(chosen, participants.kind, root)
      plan = this.#plans.get(key) ?? this.#make(key, chosen, participants, root)
      this.#lastOf.set(id, plan)
    }
    return this.#used(plan, chosen)
  }

  #used(plan: CollectivePlan, { choice }: Resolution): CollectivePlan {
    plan.lastUse = ++this.#uses
    if (choice !== undefined) plan.choice = choice
    return plan
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

  #make(
    key: string,
    { algorithm, segments }: Resolution,
    participants: Participants,
    root: number,
  ): CollectivePlan {
    const shape = this.shapeOf(algorithm, participants, root, segments)
    const plan = new CollectivePlan(algorithm, shape, participants, this.#state)
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

/** Returns the name of a plan among those of its communicator. */
function keyOf({ algorithm, segments }: Resolution, kind: ParticipantKind, root: number): string {
  return `${algorithm.id} ${kind} ${root} ${segments}`
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

export type CollectiveHandle = RankHandle<CollectiveContext>

/** An algorithm that has carried out calls of a collective on a communicator, in this process. */
export interface AlgorithmUse {
  readonly collective: Collective
  /** Its id, as `schedule --list` has it; null for messages that the collective writes without a plan. */
  readonly algorithm: string | null
  /** The number of segments into which it cuts every unit of data. */
  readonly segments: number
  /** The number of its participants: processes, or pieces of ranks in the order of a reduction. */
  readonly participants: number
  /** The number of calls since its plan was made, except those of persistent operations. */
  readonly calls: number
  /** The reason the last of these calls used it. */
  readonly why: string
}

/**
 * Returns the algorithms that have run, most calls first, from the plans that are retained, at most 32 per
 * communicator. Plans for several roots count together.
 */
export function algorithmUses(plans: CollectivePlans): AlgorithmUse[] {
  const uses = new Map<string, AlgorithmUse>()
  for (const { algorithm, shape, calls, choice, participants } of plans.retained) {
    if (calls === 0) continue
    const { collective, id } = algorithm
    const { segments = 1 } = shape
    const key = `${collective} ${id} ${segments} ${participants.process.length}`
    const found = uses.get(key)
    uses.set(key, {
      ...{ collective, algorithm: id, segments, participants: participants.process.length },
      calls: calls + (found?.calls ?? 0),
      why: whyOf(choice),
    })
  }
  if (plans.inlineBcasts > 0) {
    uses.set('bcast', {
      ...{ collective: 'bcast', algorithm: null, segments: 1, participants: 0, calls: plans.inlineBcasts },
      why: `short data travel with the head of the call${plans.inlineChoice === undefined ? '' : unservedText(plans.inlineChoice)}`,
    })
  }
  return [...uses.values()].sort((a, b) => b.calls - a.calls)
}

function whyOf(choice: PlanChoice | undefined): string {
  if (choice === undefined) return 'chosen by the root'
  if (choice.by === 'call') return 'named by the call'
  if (choice.by === 'machine') return `the machine of the world: ${choice.why}`
  if (choice.by === 'file') return `tuning file: ${choice.leaf!.conditions()}`
  const instead = choice.instead === undefined ? '' : `; ${choice.instead}`
  return `rule: ${choice.why}${instead}${unservedText(choice)}`
}

/** Returns why the rule decided although the tuning file has a leaf. */
function unservedText({ leaf, refusal }: PlanChoice): string {
  if (refusal === leftToRule) return `; the tuning file leaves it to the rule: ${leaf!.conditions()}`
  return leaf === undefined ? '' : `; not ${leaf.line} of the tuning file (${leaf.conditions()}): ${refusal}`
}
