import type { Exchange } from '../calls/exchange/exchange.js'
import { returnCharge } from '../calls/exchange/frame-exchange.js'
import { CollectiveEngine } from '../calls/matching/collective-engine.js'
import { CollectivePlans } from '../calls/plan/collective-plan.js'
import { OnlineCalls } from '../calls/plan/online-calls.js'
import { RankweaveError } from '../errors.js'
import { Matching } from '../messages/p2p/message-matching.js'
import type { ListedHandles, MadeBy, RankHandle, Seat } from '../messages/process/comm-context.js'
import { KnownLosses } from '../messages/process/failures.js'
import type { EagerSink, FrameContext, RetiredFrames } from '../messages/process/frame-router.js'
import { type ContextId, envelopeWord, frameKind, headerWord } from '../messages/process/frames.js'
import type { MailboxDesign } from '../messages/process/matching-options.js'
import type { ProcessPort } from '../messages/process/process-port.js'
import { Runtime } from '../messages/process/runtime.js'
import { Transfers } from '../messages/process/transfers.js'
import { processOf } from '../messages/process/world-layout.js'
import type { SplitOutcome } from './split/run-split.js'
import type { PlannedSplit, SplitOrigin } from './split/split-call.js'
import { Survival } from './survive/survival.js'
import type { CommTable } from './table/distributed-table.js'
import { Group } from './table/group.js'
import type { ProcessList, TableContext } from './table/process-table.js'
import { ProcessTable, processTable, ranksHostedBy } from './table/process-table.js'
import { type LocalRankTable, rankTable } from './table/rank-table.js'
import { SharedTables } from './table/shared-tables.js'
import { SliceService } from './table/slice-service.js'

/** The lowest kind of frames that belong to collectives; lower ones belong to point-to-point messages. */
const firstCollectiveKind = 16

/** The designs that ranks of a process have chosen for their mailboxes, by world rank. */
type MatchingDesigns = ReadonlyMap<number, MailboxDesign>

/** A process of a world with its communicators, which it opens and drops. */
export class CommRuntime extends Runtime<CommState> {
  readonly slices = new SliceService(this)

  /** @param matchingDesigns those of the communicator from which it is made, or of the call that makes it */
  createContext(
    id: ContextId,
    table: CommTable,
    processes?: ProcessList,
    matchingDesigns?: MatchingDesigns,
  ): CommState {
    return this.router.open(id, () => new CommState(this, id, table, processes, matchingDesigns))
  }

  /** Reserves a name; returns false if a communicator of this name is open here, was retired or will be opened. */
  reserveContext(id: ContextId): boolean {
    return this.router.reserve(id)
  }

  hasFailed(id: ContextId): boolean {
    return this.router.hasRetired(id) || this.router.find(id)?.collectives.hasFailed === true
  }

  /** Drops a communicator. The caller has made sure that no frame of it is in flight to this process. */
  dropContext(id: ContextId): void {
    const state = this.router.close(id)
    state?.releaseTable()
    if (state !== undefined) this.staging?.release(state)
  }

  /** Drops a communicator that has failed; frames of it that still arrive have no effect. */
  retireContext(id: ContextId, rest: RetiredContext): void {
    this.router.find(id)?.releaseTable()
    this.router.retire(id, rest)
  }
}

/**
 * A communicator in one process, shared by all its ranks here: table, matching, collectives. A rank's `Communicator` is
 * a small handle on it.
 */
export class CommState implements TableContext, FrameContext {
  readonly runtime: CommRuntime
  readonly id: ContextId
  /** The index of this process in `processes`. */
  readonly processIndex: number
  /** The ranks of this communicator hosted here, ascending. A rank's position in it is its local index. */
  readonly localRanks: Int32Array
  readonly collectives: CollectiveEngine
  readonly losses: KnownLosses
  readonly matchingDesigns: MatchingDesigns | undefined
  /** The name that a rank here gave it; empty without. */
  label = ''
  listedHandles: ListedHandles | undefined
  freedHandles = 0
  made: MadeBy | undefined
  origin: SplitOrigin | undefined
  /** The plan and costs of its last split that completed, also if no rank of this process became a member. */
  lastSplit: SplitOrigin | undefined
  /** The last split that its ranks called. They share its plan and its call. */
  plannedSplit: PlannedSplit | undefined
  ranges: RangeContexts<CommState> | undefined
  /** The groups that were found to hold ranks of it only. Ranks that pass one group check it once. */
  subsets: WeakSet<Group> | undefined
  readonly wasDistributed: boolean
  #table: CommTable
  #processes: ProcessTable
  #placing: Promise<LocalRankTable> | undefined
  #group: Group | undefined
  #matching: Matching | undefined
  #tables: SharedTables | undefined
  #transfers: Transfers | undefined
  #plans: CollectivePlans | undefined
  #online: OnlineCalls | undefined
  #survival: Survival<CommState> | undefined
  #isReleased = false
  /** The number of ranks here that have called `free`. */
  #freedRanks = 0
  #failed: RankweaveError | undefined

  /**
   * @param processes world processes that host ranks, that of rank 0 first: for a distributed table, which does not
   *   have them, and for one that was distributed, so that every process uses the same numbers
   */
  constructor(
    runtime: CommRuntime,
    id: ContextId,
    table: CommTable,
    processes?: ProcessList,
    matchingDesigns?: MatchingDesigns,
  ) {
    this.runtime = runtime
    this.id = id
    this.matchingDesigns = matchingDesigns
    this.#table = table
    this.wasDistributed = processes !== undefined
    if (table.kind === 'distributed') {
      table.slices.retain()
      this.#processes = new ProcessTable(processes!, undefined, runtime.layout)
      this.localRanks = table.localRanks
    } else {
      this.#processes = processTable(table, runtime.layout, processes)
      this.localRanks = ranksHostedBy(runtime.process, table, runtime.layout)
    }
    this.processIndex = this.indexOfProcess(runtime.process)
    this.losses = new KnownLosses(this.localRanks.length, (peer) => runtime.lostPeer(peer)!)
    for (const peer of runtime.lostPeers) {
      if (this.#processes.processes.includes(peer)) this.losses.add(peer)
    }
    this.collectives = new CollectiveEngine(this)
    this.#shareRanks()
  }

  get table(): CommTable {
    return this.#table
  }

  /** The world rank of rank 0. */
  get leader(): number {
    return this.id.leader < 0 ? this.wholeTable.lookup(0) : this.id.leader
  }

  get processes(): ProcessTable {
    return this.#processes
  }

  /** Returns the index in `processes` of a world process that hosts ranks of this communicator. */
  indexOfProcess(process: number): number {
    return this.#processes.processes.indexOf(process)
  }

  processOfRank(rank: number): number | Promise<number> {
    // Process 0 hosts rank 0.
    if (rank === 0) return 0
    const found = this.#table.lookup(rank)
    return typeof found === 'number'
      ? this.#indexOfHost(found)
      : found.then((each) => this.#indexOfHost(each))
  }

  async processesOfRanks(ranks: Int32Array): Promise<Int32Array> {
    const table = this.#table
    const worldRanks =
      table.kind === 'distributed' ? await table.lookupAll(ranks) : ranks.map((rank) => table.lookup(rank))
    return worldRanks.map((worldRank) => this.#indexOfHost(worldRank))
  }

  async prefetch(ranks: ArrayLike<number>): Promise<void> {
    if (this.#table.kind === 'distributed') await this.#table.prefetch(ranks)
  }

  #indexOfHost(worldRank: number): number {
    return this.indexOfProcess(processOf(this.runtime.layout, worldRank))
  }

  get size(): number {
    return this.#table.size
  }

  /** Whether the location of every rank is known here. Collectives that gather or scatter by rank need it. */
  get isPlaced(): boolean {
    return this.#table.kind !== 'distributed'
  }

  /**
   * Returns the whole table, fetched from its hosts unless it is here: O(size) memory, a message per slice, once. From
   * then on it replaces the communicator's part of the distributed one.
   */
  place(): Promise<LocalRankTable> {
    const table = this.#table
    if (table.kind !== 'distributed') return Promise.resolve(table)
    this.#placing ??= table.worldRanks().then((worldRanks) => {
      const placed = rankTable(worldRanks)
      this.#processes = processTable(placed, this.runtime.layout, this.#processes.processes)
      this.releaseTable()
      this.#table = placed
      this.#shareRanks()
      return placed
    })
    return this.#placing
  }

  get wholeTable(): LocalRankTable {
    if (this.#table.kind !== 'distributed') return this.#table
    throw new Error('this communicator must be placed first')
  }

  /** The ranks of the communicator: one object for all of them here. */
  get group(): Group {
    this.#group ??= Group.ofTable(this.wholeTable)
    return this.#group
  }

  /** Releases its share in a distributed table, once. */
  releaseTable(): void {
    if (this.#table.kind !== 'distributed' || this.#isReleased) return
    this.#isReleased = true
    this.#table.slices.release()
  }

  worldRank(localIndex: number): number {
    const table = this.#table
    if (table.kind === 'distributed') return table.localWorldRanks[localIndex]
    return table.lookup(this.localRanks[localIndex])
  }

  /** The reason this communicator can no longer be used: revoked, freed, or the world ended. */
  get failed(): RankweaveError | undefined {
    return this.#failed ?? this.runtime.ended
  }

  hostedIndex(localIndex: number): number {
    return this.worldRank(localIndex) - this.runtime.firstRank
  }

  /** Made when the first payload is offered or fetched. */
  get transfers(): Transfers {
    this.#transfers ??= new Transfers(this.runtime, this.id)
    return this.#transfers
  }

  get online(): OnlineCalls | undefined {
    const { online } = this.runtime
    if (online !== undefined) this.#online ??= new OnlineCalls(online, this)
    return this.#online
  }

  /** The online tuning, as the engine of collectives sees it. */
  get callWatch(): OnlineCalls | undefined {
    return this.online
  }

  get plans(): CollectivePlans {
    this.#plans ??= new CollectivePlans(this)
    return this.#plans
  }

  get survival(): Survival<CommState> {
    const { runtime } = this
    this.#survival ??= new Survival(
      this,
      () => runtime.drawCounter(),
      (id, table) => {
        const survivors = runtime.createContext(id, table, undefined, this.matchingDesigns)
        survivors.made = { call: 'shrink()', parent: this.id, at: '' }
        return survivors
      },
      (id) => runtime.reserveContext(id),
    )
    return this.#survival
  }

  /** The agreements of its survivors, if a rank here has called one. */
  get openedSurvival(): Survival<CommState> | undefined {
    return this.#survival
  }

  /**
   * The messages between ranks, made when the first one is sent, received or waited for. Many communicators have none.
   */
  get matching(): Matching {
    this.#matching ??= this.#newMatching()
    return this.#matching
  }

  #newMatching(): Matching {
    const matching = new Matching(this)
    if (this.#failed !== undefined) matching.fail(this.#failed)
    return matching
  }

  /** The messages between ranks, if they have been made. */
  get openedMatching(): Matching | undefined {
    return this.#matching
  }

  get eagerSink(): EagerSink {
    return this.matching.short
  }

  frame(src: number, header: Int32Array, payload: Uint8Array): void {
    const kind = header[headerWord.kind]
    if (kind < firstCollectiveKind) {
      // Payload that belongs to collectives only must not make a matching.
      if (this.#matching === undefined && Transfers.concerns(header))
        this.transfers.frame(src, header, payload)
      else this.matching.frame(src, header, payload)
    } else if (kind === frameKind.sharedTableRequest || kind === frameKind.sharedTable)
      this.tables.frame(src, header, payload)
    else if (kind === frameKind.survivorRows) this.survival.frame(src, header, payload)
    else this.collectives.frame(src, header, payload)
  }

  get tables(): SharedTables {
    this.#tables ??= new SharedTables(this)
    return this.#tables
  }

  /** Whether frames about tables may be in flight; checked when the communicator is freed. */
  get sharesTables(): boolean {
    return this.#tables !== undefined
  }

  /** Shares a replicated rank table, which need not be in every process of a node. */
  #shareRanks(): void {
    const table = this.#table
    if (table.kind !== 'replicated') return
    this.tables.share('ranks', { worldRanks: table.worldRanks }, (shared) => table.adopt(shared.worldRanks))
  }

  /** Fails every pending and later operation on this communicator, in this process only. */
  fail(error: RankweaveError): void {
    this.#failed ??= error
    this.#matching?.fail(error)
    this.#transfers?.fail(error)
    this.#failCollectives(error)
    if (this.runtime.ended !== undefined) this.#survival?.worldEnded(error)
    this.#retireIfFreed()
  }

  /**
   * Frees it for a rank here. Returns true if that is all, because it has failed and collectives can no longer complete
   * on it. When the last rank here frees it, the process releases it.
   */
  freeIfFailed(): boolean {
    this.#freedRanks++
    const hasFailed = this.failed !== undefined || this.collectives.hasFailed
    if (hasFailed && this.failed === undefined && this.#freedRanks === this.localRanks.length) {
      const { leader, counter } = this.id
      this.fail(
        new RankweaveError('ERR_COMM_FREED', `communicator ${leader}.${counter} was freed after a loss`),
      )
    } else this.#retireIfFreed()
    return hasFailed
  }

  #retireIfFreed(): void {
    const { runtime } = this
    if (this.failed === undefined || runtime.ended !== undefined) return
    if (this.#freedRanks === this.localRanks.length)
      runtime.retireContext(this.id, new RetiredContext(runtime, this.#transfers))
  }

  peerLost(peer: number, error: RankweaveError): void {
    if (!this.processes.processes.includes(peer)) return
    this.losses.add(peer)
    this.#survival?.peerLost()
    this.#matching?.peerLost(peer, error)
    this.#transfers?.fail(error, peer)
    this.#failCollectives(error)
  }

  #failCollectives(error: RankweaveError): void {
    this.collectives.fail(error)
    this.runtime.slices.parentFailed(this.id)
  }
}

/** A rank and its position in the state of its communicator. */
export type CommSeat = Seat<CommState>

/** A communicator's handle, as the functions behind its methods see it. */
export type CommHandle = RankHandle<CommState>

/** Makes the handle of the rank with this local index. All ranks of a process pass the same function. */
export type MakeHandle<H> = (state: CommState, localIndex: number) => H

/** Describes how the collective of an exchange on `parent` made a communicator. */
export function madeIn({ id, collectives }: CommState, { seq }: Exchange): MadeBy {
  return { parent: id, seq, ...collectives.callOf(seq) }
}

/** Makes the contexts of a split, and the handle of every local rank of the parent, or null. */
export function handlesOf<H>(
  parent: CommState,
  exchange: Exchange,
  make: MakeHandle<H>,
  { parts, origin }: SplitOutcome,
): (H | null)[] {
  parent.lastSplit = origin
  const made = madeIn(parent, exchange)
  const handles: (H | null)[] = new Array(parent.localRanks.length).fill(null)
  for (const { id, table, hosted, processes } of parts) {
    const state = parent.runtime.createContext(id, table, processes, parent.matchingDesigns)
    state.origin = origin
    state.made = made
    for (let index = 0; index < hosted.length; index++) {
      handles[hosted[index]] = make(state, index)
    }
  }
  return handles
}

/**
 * The remains of a communicator that was revoked and that all of its ranks here have freed, until the world ends. No
 * process learns when the last frame of a revoked communicator has arrived. It answers late frames as the failed
 * communicator would: messages are dropped and their charges returned, and transfers in progress end on both sides.
 *
 * Memory: this object, and the transfers that were in progress.
 */
class RetiredContext implements RetiredFrames {
  readonly #runtime: ProcessPort
  readonly #transfers: Transfers | undefined

  constructor(runtime: ProcessPort, transfers: Transfers | undefined) {
    this.#runtime = runtime
    this.#transfers = transfers
  }

  frame(src: number, header: Int32Array, payload: Uint8Array): void {
    if (header[headerWord.kind] === frameKind.eager) {
      this.#runtime.credit.consumed(src, header[envelopeWord.sizeBytes] >>> 0)
    } else if (Transfers.concerns(header)) this.#transfers?.frame(src, header, payload)
    else returnCharge(this.#runtime, src, header)
  }
}

/** The ranks `first`, `first + stride`, ... of a parent, `size` of them. */
export interface RankInterval {
  readonly first: number
  readonly size: number
  readonly stride: number
}

/** The record of one range in a process, for the parent's lifetime, because names must not repeat. */
interface Made<S> {
  /** The number of times that each local rank of the parent has made it. */
  readonly times: Map<number, number>
  /** The communicators that some local members have yet to make, by how many were made before. */
  readonly open: Map<number, { readonly context: S; missing: number }>
}

/** The communicators of ranges of one parent: ranks of a process that make the same one share its context. */
export class RangeContexts<S extends { readonly localRanks: Int32Array }> {
  readonly #made = new Map<string, Made<S>>()

  /**
   * Returns the context of the next communicator that this rank makes of the range.
   *
   * @param create called for the first rank, with how many communicators of the range were made before
   */
  next({ first, size, stride }: RankInterval, localIndex: number, create: (nth: number) => S): S {
    const key = `${first}:${size}:${stride}`
    let made = this.#made.get(key)
    if (made === undefined) {
      made = { times: new Map(), open: new Map() }
      this.#made.set(key, made)
    }
    const nth = made.times.get(localIndex) ?? 0
    made.times.set(localIndex, nth + 1)
    let open = made.open.get(nth)
    if (open === undefined) {
      const context = create(nth)
      open = { context, missing: context.localRanks.length }
      made.open.set(nth, open)
    }
    if (--open.missing === 0) made.open.delete(nth)
    return open.context
  }
}
