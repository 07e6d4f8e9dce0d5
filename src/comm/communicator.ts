import { promiseTry } from '../base/promise-try.js'
import { RankweaveError, shown } from '../errors.js'
import { ANY_SOURCE, ANY_TAG } from '../matching/wildcards.js'
import * as collectives from './calls/collectives/collectives.js'
import type { Gathered } from './calls/collectives/gathered.js'
import type { BlocksOptions, IntoOptions } from './calls/collectives/options.js'
import { alloc } from './context/alloc.js'
import type { CommState } from './context/comm-state.js'
import { compare } from './context/compare.js'
import { create } from './context/create.js'
import { type CommDescription, describeComm } from './context/describe.js'
import { dup } from './context/dup.js'
import { free } from './context/free.js'
import type { CommSeat } from './context/handle.js'
import { range } from './context/range.js'
import type { SplitOptions } from './context/split/plan/split-plan.js'
import { split, splitType } from './context/split-communicator.js'
import { groupOf, worldRanks } from './context/world-ranks.js'
import type { TypedArray, TypedArrayConstructor } from './datatype/elements.js'
import type { Operation } from './datatype/operation.js'
import type { OperationName } from './datatype/operation-names.js'
import type { Sendable } from './datatype/payload.js'
import type { ReceiveBuffer, StridedView } from './datatype/strided-view.js'
import type { MatchedMessage } from './p2p/matched-message.js'
import type { Mailbox } from './p2p/message/mailbox.js'
import type { Message, RecvOptions, Status } from './p2p/message/received-message.js'
import type { Matching } from './p2p/message-matching.js'
import * as p2p from './p2p/point-to-point.js'
import type { Request } from './p2p/request.js'
import type { ProcessCounters, RankCounters } from './process/counters.js'
import type { WaitOptions } from './process/wait-options.js'
import type { Comparison, Group } from './table/group.js'

/**
 * One rank's handle on a communicator: an ordered set of ranks with a message context of its own (MPI-4.1 §7).
 * Handles are small; everything the ranks of a process share is in one place behind them.
 *
 * **Buffers.** A send has read its data when its promise resolves, not before; do not change the data until then.
 * A receive gives a fresh array, or fills `into`, which is the receive's until its promise settles. Results are
 * never shared with another rank.
 *
 * **Errors** common to all methods, not repeated below: ERR_COMM_FREED after `free`; ERR_REVOKED after an aborted or
 * failed collective; ERR_PEER_LOST when a process the operation needs is gone; ERR_WORLD_ENDED once the world has
 * ended; ERR_ABORTED through `signal`; ERR_RANK, ERR_TAG, ERR_COUNT, ERR_TYPE for arguments, before anything is sent.
 * Methods that return a promise reject; those that return a request throw what is wrong with their arguments.
 */
export class Communicator {
  readonly rank: number
  readonly size: number
  readonly #state: CommState
  readonly #localIndex: number
  #mailbox: Mailbox | undefined
  #freed = false

  /** Not for users: communicators come from `run`, `split`, `dup`, `create`. */
  constructor(state: CommState, localIndex: number) {
    this.#state = state
    this.#localIndex = localIndex
    this.rank = state.localRanks[localIndex]!
    this.size = state.size
  }

  /** @internal The shared state and this rank's place in it; throws once the communicator cannot be used. */
  seat(): CommSeat {
    this.#requireUsable()
    return { state: this.#state, localIndex: this.#localIndex, rank: this.rank, handle: this }
  }

  /** @internal This rank's mailbox; throws once the communicator cannot be used. */
  mailbox(): Mailbox {
    this.#requireUsable()
    this.#mailbox ??= this.#state.matching.mailbox(this.rank)
    return this.#mailbox
  }

  /** @internal The point-to-point messages of this communicator in this process. */
  get matching(): Matching {
    return this.#state.matching
  }

  #requireUsable(): void {
    if (this.#freed) throw new RankweaveError('ERR_COMM_FREED', 'this communicator has been freed')
    const failed = this.#state.failed
    if (failed !== undefined) throw failed
  }

  /** @internal Marks this handle as freed; pending operations still complete. */
  markFreed(): void {
    this.#freed = true
  }

  // -- point-to-point (MPI-4.1 §3) ---------------------------------------------------------------------------

  /**
   * Sends to `dest`. Resolves when the data may be changed again: at once for payloads up to the eager limit,
   * else when the receive has taken it.
   *
   * @throws ERR_CLONE for a value that structured clone refuses
   * @see MPI-4.1 §3.2.1
   */
  send(data: Sendable, dest: number, tag = 0, options?: WaitOptions): Promise<void> {
    return p2p.send(this, data, dest, tag, 'standard', options)
  }

  /** Like `send`, but resolves only when a receive has matched. @see MPI-4.1 §3.4 (MPI_Ssend) */
  ssend(data: Sendable, dest: number, tag = 0, options?: WaitOptions): Promise<void> {
    return p2p.send(this, data, dest, tag, 'synchronous', options)
  }

  /** Starts a send. Its place in the order of messages is taken now; `signal` cancels it. @see MPI-4.1 §3.7.2 */
  isend(data: Sendable, dest: number, tag = 0, options?: WaitOptions): Request<void> {
    return p2p.isend(this, data, dest, tag, 'standard', options)
  }

  /** Starts a synchronous send. @see MPI-4.1 §3.7.2 (MPI_Issend) */
  issend(data: Sendable, dest: number, tag = 0, options?: WaitOptions): Request<void> {
    return p2p.isend(this, data, dest, tag, 'synchronous', options)
  }

  /**
   * Receives the earliest message that matches `source` and `tag`. Messages of one sender that match the same
   * receive never overtake each other.
   *
   * @throws ERR_TRUNCATE when `into` is too small; the message is consumed, `into` is untouched
   * @throws ERR_TYPE_MISMATCH when `into` has another element type than was sent
   * @see MPI-4.1 §3.2.4, §3.5
   */
  recv<B extends ReceiveBuffer>(
    source: number,
    tag: number,
    options: RecvOptions<B> & { readonly into: B },
  ): Promise<Message<B>>
  recv<T = unknown>(source?: number, tag?: number, options?: RecvOptions): Promise<Message<T>>
  recv(source = ANY_SOURCE, tag = ANY_TAG, options?: RecvOptions): Promise<Message> {
    return p2p.recv(this, source, tag, options)
  }

  /** Starts a receive; receives match in the order they were started; `signal` cancels it. @see MPI-4.1 §3.7.2 */
  irecv<B extends ReceiveBuffer>(
    source: number,
    tag: number,
    options: RecvOptions<B> & { readonly into: B },
  ): Request<Message<B>>
  irecv<T = unknown>(source?: number, tag?: number, options?: RecvOptions): Request<Message<T>>
  irecv(source = ANY_SOURCE, tag = ANY_TAG, options?: RecvOptions): Request<Message> {
    return p2p.irecv(this, source, tag, options)
  }

  /** Sends and receives at once, so that rings and shifts cannot deadlock. @see MPI-4.1 §3.10 */
  sendrecv<T = unknown>(
    data: Sendable,
    dest: number,
    source: number,
    options: { readonly sendTag?: number; readonly recvTag?: number } & RecvOptions = {},
  ): Promise<Message<T>> {
    return p2p.sendrecv(this, data, dest, source, options) as Promise<Message<T>>
  }

  /** Waits for a message without receiving it. @see MPI-4.1 §3.8.1 */
  probe(source = ANY_SOURCE, tag = ANY_TAG, options?: WaitOptions): Promise<Status> {
    return p2p.probe(this, source, tag, options)
  }

  /** Looks for a message without waiting; polling it in a loop lets timers and I/O run. @see MPI-4.1 §3.8.1 */
  iprobe(source = ANY_SOURCE, tag = ANY_TAG): Promise<Status | null> {
    return p2p.iprobe(this, source, tag)
  }

  /** Waits for a message and takes it out of matching; only `recv` of the result can get it. @see MPI-4.1 §3.8.2 */
  mprobe(source = ANY_SOURCE, tag = ANY_TAG, options?: WaitOptions): Promise<MatchedMessage> {
    return p2p.mprobe(this, source, tag, options)
  }

  improbe(source = ANY_SOURCE, tag = ANY_TAG): Promise<MatchedMessage | null> {
    return p2p.improbe(this, source, tag)
  }

  /**
   * Memory for messages, zeroed. On `threads`, what is sent from it and is longer than the eager limit is copied once,
   * by the receiver, straight from here; on other fabrics it is ordinary memory. Sending is the same everywhere: any
   * view of the memory can be sent or received into, and a send's data may be changed when it has resolved.
   *
   * Shapes: `alloc(sizeBytes)` gives a Uint8Array, `alloc(Float64Array, countElems)` an array of that type.
   *
   * Ownership: yours alone, although the buffer may be a SharedArrayBuffer; other ranks get copies. It is freed like
   * any array when nothing refers to it, at the latest when the world has ended.
   *
   * @throws ERR_COUNT for a length that is no integer from 0, or that no memory holds; ERR_TYPE for another constructor
   * @see MPI-4.1 §9.2 (MPI_Alloc_mem)
   */
  alloc(sizeBytes: number): Uint8Array
  alloc<C extends TypedArrayConstructor>(type: C, countElems: number): InstanceType<C>
  alloc(typeOrBytes: TypedArrayConstructor | number, countElems?: number): TypedArray {
    return alloc(this, typeOrBytes, countElems)
  }

  // -- collectives (MPI-4.1 §6): every rank calls them in the same order; they may be started concurrently -------

  /** Resolves when every rank has called it. @see MPI-4.1 §6.3 */
  barrier(options?: WaitOptions): Promise<void> {
    return collectives.barrier(this, options)
  }

  /**
   * `data` of `root` for everyone; the root gets back what it passed, the others a fresh copy or `into`. What
   * other ranks pass as `data` is ignored.
   *
   * @throws ERR_TRUNCATE, ERR_TYPE_MISMATCH when `into` does not fit
   * @see MPI-4.1 §6.4
   */
  bcast<T extends Sendable>(data: T | null, root = 0, options?: IntoOptions): Promise<T> {
    return collectives.bcast(this, data, root, options) as Promise<T>
  }

  /**
   * Element-wise reduction to `root`; null elsewhere. Every rank passes the same type and length. The order of
   * combination depends on rank order and size only, so floating-point results have the same bits on every
   * layout; operations need to be associative, not commutative.
   *
   * @see MPI-4.1 §6.9
   */
  reduce<T extends TypedArray>(
    data: StridedView<T>,
    op: OperationName | Operation<T>,
    root?: number,
    options?: IntoOptions,
  ): Promise<T | null>
  reduce<T extends Sendable>(
    data: T,
    op: OperationName | Operation<T>,
    root?: number,
    options?: IntoOptions,
  ): Promise<T | null>
  reduce(data: Sendable, op: unknown, root = 0, options?: IntoOptions): Promise<unknown> {
    return collectives.reduce(this, data, op, root, options)
  }

  /** `reduce` with the result on every rank. @see MPI-4.1 §6.9.6 */
  allreduce<T extends TypedArray>(
    data: StridedView<T>,
    op: OperationName | Operation<T>,
    options?: IntoOptions,
  ): Promise<T>
  allreduce<T extends Sendable>(data: T, op: OperationName | Operation<T>, options?: IntoOptions): Promise<T>
  allreduce(data: Sendable, op: unknown, options?: IntoOptions): Promise<unknown> {
    return collectives.allreduce(this, data, op, options)
  }

  /**
   * Concatenation of equally long arrays in rank order at `root`, null elsewhere. Other values come as an array of
   * `size` values.
   *
   * @see MPI-4.1 §6.5
   */
  gather<T extends TypedArray>(
    data: T | StridedView<T>,
    root?: number,
    options?: IntoOptions,
  ): Promise<T | null>
  gather<T>(data: T, root?: number, options?: IntoOptions): Promise<T[] | null>
  gather(data: Sendable, root = 0, options?: IntoOptions): Promise<unknown> {
    return collectives.gather(this, data, root, options)
  }

  /** `gather` of arrays of any lengths; counts are asked for by nobody, they travel along. @see MPI-4.1 §6.5 */
  gatherv<T extends TypedArray>(
    data: T | StridedView<T>,
    root = 0,
    options?: BlocksOptions,
  ): Promise<Gathered<T> | null> {
    return collectives.gatherv(this, data, root, options) as Promise<Gathered<T> | null>
  }

  /** Block r of the root's array to rank r; its length must be a multiple of `size`. @see MPI-4.1 §6.6 */
  scatter<T extends TypedArray>(
    data: T | StridedView<T> | null,
    root?: number,
    options?: IntoOptions,
  ): Promise<T>
  scatter<T>(data: readonly T[] | null, root?: number, options?: IntoOptions): Promise<T>
  scatter(data: Sendable, root = 0, options?: IntoOptions): Promise<unknown> {
    return collectives.scatter(this, data, root, options)
  }

  /** `counts[r]` elements from `displs[r]` (default: packed) of the root's array to rank r. @see MPI-4.1 §6.6 */
  scatterv<T extends TypedArray>(
    data: T | StridedView<T> | null,
    counts: ArrayLike<number> | null,
    root = 0,
    options?: IntoOptions & { readonly displs?: ArrayLike<number> },
  ): Promise<T> {
    return collectives.scatterv(this, data, counts, root, options) as Promise<T>
  }

  /** `gather` with the result on every rank. @see MPI-4.1 §6.7 */
  allgather<T extends TypedArray>(data: T | StridedView<T>, options?: IntoOptions): Promise<T>
  allgather<T>(data: T, options?: IntoOptions): Promise<T[]>
  allgather(data: Sendable, options?: IntoOptions): Promise<unknown> {
    return collectives.allgather(this, data, options)
  }

  /** `gatherv` with the result on every rank. @see MPI-4.1 §6.7 */
  allgatherv<T extends TypedArray>(data: T | StridedView<T>, options?: BlocksOptions): Promise<Gathered<T>> {
    return collectives.allgatherv(this, data, options) as Promise<Gathered<T>>
  }

  /** Block j of my array becomes block `rank` of rank j's result; all blocks have one length. @see MPI-4.1 §6.8 */
  alltoall<T extends TypedArray>(data: T | StridedView<T>, options?: IntoOptions): Promise<T>
  alltoall<T>(data: readonly T[], options?: IntoOptions): Promise<T[]>
  alltoall(data: Sendable, options?: IntoOptions): Promise<unknown> {
    return collectives.alltoall(this, data, options)
  }

  /**
   * `sendCounts[j]` elements from `sendDispls[j]` (default: packed) to rank j. Receive counts travel along; when
   * given in `counts` they are checked (ERR_COUNT).
   *
   * @see MPI-4.1 §6.8
   */
  alltoallv<T extends TypedArray>(
    data: T | StridedView<T>,
    sendCounts: ArrayLike<number>,
    options?: BlocksOptions & { readonly sendDispls?: ArrayLike<number> },
  ): Promise<Gathered<T>> {
    return collectives.alltoallv(this, data, sendCounts, options) as Promise<Gathered<T>>
  }

  /**
   * Reduction whose block r, `counts[r]` elements (default: equal blocks), goes to rank r.
   *
   * @see MPI-4.1 §6.10
   */
  reduceScatter<T extends TypedArray>(
    data: T | StridedView<T>,
    op: OperationName | Operation<T>,
    options?: IntoOptions & { readonly counts?: ArrayLike<number> },
  ): Promise<T> {
    return collectives.reduceScatter(this, data, op, options) as Promise<T>
  }

  /** Reduction over ranks 0 to mine. @see MPI-4.1 §6.11.1 */
  scan<T extends TypedArray>(
    data: StridedView<T>,
    op: OperationName | Operation<T>,
    options?: IntoOptions,
  ): Promise<T>
  scan<T extends Sendable>(data: T, op: OperationName | Operation<T>, options?: IntoOptions): Promise<T>
  scan(data: Sendable, op: unknown, options?: IntoOptions): Promise<unknown> {
    return collectives.scan(this, data, op, options)
  }

  /** Reduction over the ranks below mine; null on rank 0, where MPI leaves it undefined. @see MPI-4.1 §6.11.2 */
  exscan<T extends TypedArray>(
    data: StridedView<T>,
    op: OperationName | Operation<T>,
    options?: IntoOptions,
  ): Promise<T | null>
  exscan<T extends Sendable>(
    data: T,
    op: OperationName | Operation<T>,
    options?: IntoOptions,
  ): Promise<T | null>
  exscan(data: Sendable, op: unknown, options?: IntoOptions): Promise<unknown> {
    return collectives.exscan(this, data, op, options)
  }

  // -- communicators (MPI-4.1 §7) -----------------------------------------------------------------------------

  /**
   * One new communicator per color, its ranks ordered by key, ties by rank here. Color null: not a member of any.
   *
   * @param color 0 to 2^31 - 1, or null (MPI_UNDEFINED)
   * @param key any signed 32-bit number
   * @param options how it is computed and where its rank table is kept; the same on all ranks
   * @throws ERR_COLOR, ERR_TABLE_SIZE before anything is sent
   * @see MPI-4.1 §7.4.2
   */
  split(color: number, key?: number, options?: SplitOptions): Promise<Communicator>
  split(color: number | null, key?: number, options?: SplitOptions): Promise<Communicator | null>
  split(color: number | null, key = 0, options?: SplitOptions): Promise<Communicator | null> {
    return promiseTry(() => split(this, makeHandle, color, key, options))
  }

  /** The ranks that share a node. @see MPI-4.1 §7.4.2 (MPI_Comm_split_type) */
  splitType(type: 'node', key = 0, options?: WaitOptions): Promise<Communicator> {
    return promiseTry(() => splitType(this, makeHandle, type, key, options))
  }

  /**
   * The ranks `first`, `first + stride`, ... up to `last`, in this order. Nothing is sent: each of them calls it for
   * itself, and a rank in several makes them in one order with the others. Null for ranks that are not in it, which need not call. O(1)
   * memory where this communicator's table has a closed form; else a table of the range, and a distributed table is
   * fetched first.
   *
   * @throws ERR_RANK, ERR_ARGUMENT for a stride that does not lead from `first` to `last`
   */
  range(first: number, last: number, stride = 1): Promise<Communicator | null> {
    return promiseTry(() => range(this, makeHandle, first, last, stride))
  }

  /** The same ranks with a context of their own. @see MPI-4.1 §7.4.2 */
  dup(options?: WaitOptions): Promise<Communicator> {
    return promiseTry(() => dup(this, makeHandle, options))
  }

  /**
   * A communicator of the group's ranks, in its order; null for ranks outside. Every rank here calls it; each rank of
   * a group passes that group, ranks in no group pass an empty one; groups are disjoint.
   *
   * @throws ERR_GROUP when a group is not a subset of this communicator, or its members passed different ones
   * @see MPI-4.1 §7.4.2
   */
  create(group: Group, options?: WaitOptions): Promise<Communicator | null> {
    return promiseTry(() => create(this, makeHandle, group, options))
  }

  /**
   * Collective. This handle is unusable at once; operations in flight complete, and the context is given back when
   * no message of it is under way. A synchronous or rendezvous send that nobody received fails with ERR_COMM_FREED.
   *
   * @see MPI-4.1 §7.4.3
   */
  free(options?: WaitOptions): Promise<void> {
    return promiseTry(() => free(this, options))
  }

  /**
   * `ident`: the same context; `congruent`: same ranks, same order; `similar`: same ranks, other order. Local.
   *
   * @see MPI-4.1 §7.4.1
   */
  compare(other: Communicator): Promise<Comparison> {
    return promiseTry(() => {
      const { state } = this.seat()
      if (other instanceof Communicator) return compare(state, other.seat().state)
      throw new RankweaveError('ERR_ARGUMENT', `compare: expected a communicator, got ${shown(other)}`)
    })
  }

  /**
   * World ranks of the given ranks. With a distributed table this asks their hosts, one message for each of them, and
   * remembers the answers (`cacheRows`), so it also prepares for sending to those ranks.
   *
   * @throws ERR_RANK for a rank that is not here; ERR_PEER_LOST when a host is gone
   * @see MPI-4.1 §7.3.1 (MPI_Group_translate_ranks)
   */
  worldRanks(ranks: ArrayLike<number>): Promise<Int32Array> {
    return worldRanks(this, ranks)
  }

  /** The ranks of this communicator as a group; fetches all of a distributed table. @see MPI-4.1 §7.3.2 */
  group(): Promise<Group> {
    return groupOf(this)
  }

  // -- the world ----------------------------------------------------------------------------------------------

  /** Ends the world: every rank's pending and later calls fail, and `run` rejects with ERR_WORLD_ABORTED. */
  abort(reason: unknown): void {
    this.#state.runtime.abort(this.#state.worldRank(this.#localIndex), reason)
  }

  /** Live counters of this rank and of the process that hosts it. */
  get counters(): { readonly rank: Readonly<RankCounters>; readonly process: Readonly<ProcessCounters> } {
    const { runtime } = this.#state
    return {
      rank: runtime.rankCounters(this.#state.worldRank(this.#localIndex)),
      process: runtime.processCounters,
    }
  }

  /** Where this communicator's time and memory went in this process: its split, its rank table, its look-ups. Local. */
  describe(): CommDescription {
    return describeComm(this.#state)
  }

  /** Process that hosts this rank, and its node's number (equal numbers: same node). */
  get location(): { readonly process: number; readonly node: number } {
    const { runtime } = this.#state
    return { process: runtime.process, node: runtime.layout.nodeOfProcess[runtime.process]! }
  }
}

/** What makes the communicators that a communicator's methods return. */
function makeHandle(state: CommState, localIndex: number): Communicator {
  return new Communicator(state, localIndex)
}
