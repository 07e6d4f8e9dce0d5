import type { WaitOptions } from '../base/abort.js'
import { promiseTry } from '../base/turn.js'
import { callTogether } from '../calls/collectives/together.js'
import { PersistentRequest } from '../calls/program/planned-call.js'
import type { CommHandle, CommState } from '../comm/comm-state.js'
import { create, type DupOptions, dup, range } from '../comm/create.js'
import { free } from '../comm/free.js'
import type { SplitOptions } from '../comm/split/split-plan.js'
import { split, splitType } from '../comm/split-communicator.js'
import { revokedError } from '../comm/survive/survivor-errors.js'
import { acknowledgeLosses, agree, lostRanks, survivorSeat } from '../comm/survivor-calls.js'
import type { CommTable } from '../comm/table/distributed-table.js'
import { type Comparison, compareTables, type Group, requireList } from '../comm/table/group.js'
import { RankweaveError, shown, wrongValue } from '../errors.js'
import type { Sendable } from '../messages/datatype/payload.js'
import type { ReceiveBuffer } from '../messages/datatype/strided-view.js'
import type { Message, RecvOptions, Status } from '../messages/mailboxes/arrived.js'
import { ANY_SOURCE, ANY_TAG } from '../messages/mailboxes/envelope.js'
import type { MatchedMessage } from '../messages/p2p/matched-message.js'
import * as p2p from '../messages/p2p/point-to-point.js'
import type { Request } from '../messages/p2p/request.js'
import type { ProcessTopology } from '../topology/process-topology.js'
import {
  type AdjacentOptions,
  type CartOptions,
  createCart,
  createDistGraph,
  createDistGraphAdjacent,
  createGraph,
  createTopology,
  type DistGraphOptions,
} from '../topology-communicator/constructors.js'
import type { LoadHandles, TopologyOptions } from '../topology-communicator/create.js'
import type { CartCommunicator } from './cart-communicator.js'
import { CollectiveCommunicator } from './collective-communicator.js'
import type { TopologyCommunicator } from './topology-communicator.js'

/**
 * A handle of one rank on a communicator: an ordered set of ranks with its own message context (MPI-4.1 §7). Handles
 * are small; the data that the ranks of a process share are stored once behind them.
 *
 * **Forms.** A collective such as `allreduce` returns a promise. `iallreduce` takes the same arguments, starts the call
 * and returns a request, for which the rank waits later. `allreduceInit` binds the call to its buffers, to be started
 * often. {@link together} calls for all ranks of the process, with one promise.
 *
 * **Buffers.** A send or a collective has read its data when its promise resolves; do not change the data before. A
 * receive returns a fresh array, or fills `into`, which belongs to the receive until its promise settles. Results are
 * never shared with another rank.
 *
 * **Errors** common to all methods, not repeated below: ERR_COMM_FREED after `free`; ERR_REVOKED after an aborted or
 * failed collective, or `revoke`; ERR_PEER_LOST when a process the operation needs is gone; ERR_WORLD_ENDED once the
 * world has ended; ERR_ABORTED through `signal`; ERR_RANK, ERR_TAG, ERR_COUNT, ERR_TYPE for arguments, and ERR_ARGUMENT
 * for options that a method does not have, before anything is sent. Methods that return a promise reject; those that
 * return a request throw for wrong arguments.
 */
export class Communicator extends CollectiveCommunicator {
  /**
   * Sends to `dest`. Resolves when the data may be changed again: at once for payloads up to the eager limit, otherwise
   * when the receive has taken it.
   *
   * @throws ERR_CLONE for a value that structured clone rejects
   * @see MPI-4.1 §3.2.1
   */
  send(data: Sendable, dest: number, tag = 0, options?: WaitOptions): Promise<void> {
    return p2p.send(this, data, dest, tag, 'standard', options)
  }

  /**
   * Sends like `send`, but resolves only when a receive has matched.
   *
   * @see MPI-4.1 §3.4 (MPI_Ssend)
   */
  ssend(data: Sendable, dest: number, tag = 0, options?: WaitOptions): Promise<void> {
    return p2p.send(this, data, dest, tag, 'synchronous', options)
  }

  /**
   * Starts a send. It takes its place in the order of messages now; `signal` cancels it.
   * @see MPI-4.1 §3.7.2
   */
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
   * With `into`, element type and length of the message are checked. Without it, `T` is what the caller
   * expects; the sender decides what arrives.
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
  recv<T = unknown>(source?: number, tag?: number, options?: WaitOptions): Promise<Message<T>>
  recv(source: number, tag: number, options: RecvOptions): Promise<Message>
  recv(source = ANY_SOURCE, tag = ANY_TAG, options?: RecvOptions): Promise<Message> {
    return p2p.recv(this, source, tag, options)
  }

  /**
   * Starts a receive; receives match in the order they were started; `signal` cancels it.
   * @see MPI-4.1 §3.7.2
   */
  irecv<B extends ReceiveBuffer>(
    source: number,
    tag: number,
    options: RecvOptions<B> & { readonly into: B },
  ): Request<Message<B>>
  irecv<T = unknown>(source?: number, tag?: number, options?: WaitOptions): Request<Message<T>>
  irecv(source: number, tag: number, options: RecvOptions): Request<Message>
  irecv(source = ANY_SOURCE, tag = ANY_TAG, options?: RecvOptions): Request<Message> {
    return p2p.irecv(this, source, tag, options)
  }

  /** Sends and receives at once, so that rings and shifts cannot deadlock. @see MPI-4.1 §3.10 */
  sendrecv<B extends ReceiveBuffer>(
    data: Sendable,
    dest: number,
    source: number,
    options: p2p.SendrecvTags & RecvOptions<B> & { readonly into: B },
  ): Promise<Message<B>>
  sendrecv<T = unknown>(
    data: Sendable,
    dest: number,
    source: number,
    options?: p2p.SendrecvTags & WaitOptions,
  ): Promise<Message<T>>
  sendrecv(
    data: Sendable,
    dest: number,
    source: number,
    options: p2p.SendrecvTags & RecvOptions,
  ): Promise<Message>
  sendrecv(
    data: Sendable,
    dest: number,
    source: number,
    options: p2p.SendrecvTags & RecvOptions = {},
  ): Promise<Message> {
    return p2p.sendrecv(this, data, dest, source, options)
  }

  /** Waits for a message without receiving it. @see MPI-4.1 §3.8.1 */
  probe(source = ANY_SOURCE, tag = ANY_TAG, options?: WaitOptions): Promise<Status> {
    return p2p.probe(this, source, tag, options)
  }

  /** Polls for a message without waiting; a loop of polls lets timers and I/O run. @see MPI-4.1 §3.8.1 */
  iprobe(source = ANY_SOURCE, tag = ANY_TAG): Promise<Status | null> {
    return p2p.iprobe(this, source, tag)
  }

  /**
   * Waits for a message and takes it out of matching; only `recv` of the result gets it.
   * @see MPI-4.1 §3.8.2
   */
  mprobe(source = ANY_SOURCE, tag = ANY_TAG, options?: WaitOptions): Promise<MatchedMessage> {
    return p2p.mprobe(this, source, tag, options)
  }

  /** Polls for a message and takes it out of matching if there is one. @see MPI-4.1 §3.8.2 */
  improbe(source = ANY_SOURCE, tag = ANY_TAG): Promise<MatchedMessage | null> {
    return p2p.improbe(this, source, tag)
  }

  /**
   * Makes one communicator per color, its ranks ordered by key, ties by rank here. A rank with color null is
   * in none and gets null.
   *
   * @param color 0 to 2^31 - 1, or null (MPI_UNDEFINED)
   * @param key any signed 32-bit number
   * @param options how it is computed and where its rank table is stored; the same on all ranks
   * @throws ERR_COLOR, ERR_TABLE_SIZE before anything is sent
   * @see MPI-4.1 §7.4.2
   */
  split(color: number, key?: number, options?: SplitOptions): Promise<Communicator>
  split(color: number | null, key?: number, options?: SplitOptions): Promise<Communicator | null>
  split(color: number | null, key = 0, options?: SplitOptions): Promise<Communicator | null> {
    return promiseTry(() => split(this, makeHandle, color, key, options))
  }

  /**
   * Makes a communicator of the ranks that share a node.
   *
   * @see MPI-4.1 §7.4.2 (MPI_Comm_split_type)
   */
  splitType(type: 'node', key = 0, options?: WaitOptions): Promise<Communicator> {
    return promiseTry(() => splitType(this, makeHandle, type, key, options))
  }

  /**
   * Makes a communicator of the ranks `first`, `first + stride`, ... up to `last`, in this order; null for other ranks,
   * which need not call. Nothing is sent: each member calls it for itself, and ranks that are in several ranges make
   * them in the same order.
   *
   * Costs O(1) memory if this communicator's table has a closed form; otherwise a table of the range, and a distributed
   * table is fetched first.
   *
   * @throws ERR_RANK, ERR_ARGUMENT for a stride that does not lead from `first` to `last`
   */
  range(first: number, last: number, stride = 1): Promise<Communicator | null> {
    return promiseTry(() => range(this, makeHandle, first, last, stride))
  }

  /**
   * Makes a communicator of the same ranks with a separate context.
   *
   * @throws ERR_ARGUMENT for options, such as an unknown design of matching queues
   * @see MPI-4.1 §7.4.2 (MPI_Comm_dup, MPI_Comm_dup_with_info)
   */
  dup(options?: DupOptions): Promise<Communicator> {
    return promiseTry(() => dup(this, makeHandle, options))
  }

  /**
   * Makes a communicator of the group's ranks, in its order; null for ranks outside. Every rank here calls it; each
   * rank of a group passes that group, ranks in no group pass an empty one; groups are disjoint.
   *
   * @throws ERR_GROUP when a group is not a subset of this communicator, or its members passed different ones
   * @see MPI-4.1 §7.4.2
   */
  create(group: Group, options?: WaitOptions): Promise<Communicator | null> {
    return promiseTry(() => create(this, makeHandle, group, options))
  }

  /**
   * Frees the communicator. Collective. This handle is unusable at once. Operations in flight complete, and the context
   * is released when no message of it is in flight. A synchronous or rendezvous send that no rank has received fails
   * with ERR_COMM_FREED. The call is local on a communicator that is revoked or has lost a process; the process
   * releases it when all of its ranks here have freed it.
   *
   * @see MPI-4.1 §7.4.3
   */
  free(options?: WaitOptions): Promise<void> {
    return promiseTry(() => free(this, options))
  }

  /**
   * Returns the ranks of this communicator that this process knows as lost, ascending. Local, except for a distributed
   * rank table, which is fetched first. MPIX_Comm_get_failed.
   *
   * Works, like `ackFailed`, `revoke`, `agree` and `shrink`, on communicators that have failed or are revoked. All
   * other calls but `free` reject there. All five reject with ERR_AUTHORITY on `mpi`, where a lost process ends the
   * job: they need an authority on failures.
   *
   * @throws ERR_PEER_LOST if the rows of lost ranks are lost with a slice of the table; `shrink` needs none
   * @see MPI Forum, User-Level Failure Mitigation
   */
  failed(): Promise<Int32Array> {
    return promiseTry(() => lostRanks(survivorSeat(this, 'failed').state))
  }

  /**
   * Acknowledges for this rank all losses that this process knows. Until then its receives from ANY_SOURCE fail with
   * ERR_PEER_LOST; afterwards they wait for the living ranks. Local; the acknowledgment also counts in `agree` and at
   * the end of the world.
   *
   * @returns how many processes of this communicator this rank has acknowledged as lost, in total
   */
  async ackFailed(): Promise<number> {
    return acknowledgeLosses(survivorSeat(this, 'ackFailed'))
  }

  /**
   * Fails every pending and later operation of this communicator on every living rank, with ERR_REVOKED; except
   * `agree`, `shrink`, `failed`, `ackFailed` and `free`. Not collective: one rank calls it, and resolves at once. Each
   * process that learns of it passes it on, so it reaches all even if its caller is lost meanwhile. Revoking again has
   * no effect.
   */
  async revoke(): Promise<void> {
    const { state, rank } = survivorSeat(this, 'revoke')
    state.collectives.revoke(revokedError(state, rank))
  }

  /**
   * Agrees on the bitwise AND of the flags of the living ranks, the same at each. Collective of the living ranks. Lost
   * ranks contribute the flag that they had passed, or nothing.
   *
   * @param flag -2^31 to 2^31 - 1
   * @throws ERR_PEER_LOST, at every rank alike, when a process of the communicator is lost that some rank had not
   *   acknowledged before its call; `details.flag` is the agreed value. ERR_COLLECTIVE_MISMATCH when others call
   *   `shrink`
   */
  agree(flag: number): Promise<number> {
    return promiseTry(() => agree(this, flag))
  }

  /**
   * Makes the communicator of the survivors, in the order of their ranks here; the same members at each. Collective of
   * the living ranks. Works on a revoked communicator, and when further processes are lost meanwhile. A process that is
   * lost before the decision is left out, one that is lost later is a lost member of the result. Acknowledges the
   * losses it leaves out. A topology is not carried over.
   *
   * Costs one decision of the authority. A distributed rank table is rebuilt as a whole one: two decisions, a message
   * from each process to each, O(size) memory.
   *
   * @throws ERR_AUTHORITY on `mpi`; ERR_COLLECTIVE_MISMATCH when others call `agree`
   * @see MPI Forum, User-Level Failure Mitigation (MPIX_Comm_shrink)
   */
  async shrink(): Promise<Communicator> {
    const { state, localIndex } = survivorSeat(this, 'shrink')
    return makeHandle(await state.survival.shrink(localIndex), localIndex)
  }

  /**
   * Compares two communicators. `ident`: the same context; `congruent`: same ranks, same order; `similar`: same ranks,
   * other order. Local.
   *
   * @see MPI-4.1 §7.4.1
   */
  compare(other: Communicator): Promise<Comparison> {
    return promiseTry(() => {
      const { state } = this.seat()
      if (other instanceof Communicator) return compare(state, other.seat().state)
      throw wrongValue('ERR_ARGUMENT', 'compare: expected a communicator', other)
    })
  }

  /**
   * Returns the world ranks of the given ranks. With a distributed table this queries their hosts, one message for each
   * of them, and caches the answers (`cacheRows`). Sending to those ranks then needs no look-up.
   *
   * @throws ERR_RANK for a rank that is not here; ERR_PEER_LOST when a host is gone
   * @see MPI-4.1 §7.3.1 (MPI_Group_translate_ranks)
   */
  worldRanks(ranks: ArrayLike<number>): Promise<Int32Array> {
    return worldRanks(this, ranks)
  }

  /**
   * Returns the ranks of this communicator as a group; fetches all of a distributed table.
   *
   * @see MPI-4.1 §7.3.2
   */
  async group(): Promise<Group> {
    const { state } = this.seat()
    await state.place()
    return state.group
  }

  /**
   * Creates a grid over the first ranks; null for ranks beyond it. Costs one small exchange, because every process
   * computes the grid.
   *
   * @throws ERR_DIMS for a malformed grid, or one with more ranks than there are
   * @throws ERR_COLLECTIVE_MISMATCH when ranks pass different grids, strategies or machines
   * @see MPI-4.1 §8.5.1
   */
  createCart(dims: readonly number[], options?: CartOptions): Promise<CartCommunicator | null> {
    return promiseTry(() => createCart(this, topologyHandles, dims, options))
  }

  /**
   * Creates a communicator from a graph that every rank passes entirely: the neighbors of rank r are `edges[index[r -
   * 1] .. index[r] - 1]`, both as sources and as destinations. Null for ranks beyond `index.length`.
   *
   * @throws ERR_TOPOLOGY for a malformed graph, or an edge without the opposite one
   * @see MPI-4.1 §8.5.3
   */
  createGraph(
    index: ArrayLike<number>,
    edges: ArrayLike<number>,
    options?: TopologyOptions,
  ): Promise<TopologyCommunicator | null> {
    return promiseTry(() => createGraph(this, topologyHandles, index, edges, options))
  }

  /**
   * Creates a communicator from the neighbors that every rank passes, in the order of the blocks in its buffers. Costs:
   * every process gets the lists of all ranks and plans for all, in a graph of up to 65,536 edges (strategy `direct`)
   * or 1,048,576 (`common-neighbor`). In larger ones, and with the engine `distributed`, each process plans for its own
   * ranks, in memory for their neighborhoods. The parts are proved to fit together before this resolves; see
   * `planFrom`.
   *
   * @throws ERR_RANK, ERR_COUNT, ERR_ARGUMENT for arguments, before anything is sent
   * @throws ERR_TOPOLOGY on every rank, naming the edge, when one rank lists an edge and the other does not
   * @throws ERR_PLAN_MISMATCH on every rank, when processes that plan from neighbors do not fit together
   * @see MPI-4.1 §8.5.4
   */
  createDistGraphAdjacent(options: AdjacentOptions): Promise<TopologyCommunicator> {
    return promiseTry(() => createDistGraphAdjacent(this, topologyHandles, options))
  }

  /**
   * Creates a communicator from edges. Every rank passes any edges, also those of other ranks. The neighbors of a rank
   * are in the order of the ranks that passed the edges, and then in the order of each rank. Costs: every process gets
   * all edges.
   *
   * @throws ERR_RANK, ERR_COUNT for arguments, before anything is sent
   * @see MPI-4.1 §8.5.4
   */
  createDistGraph(options: DistGraphOptions): Promise<TopologyCommunicator> {
    return promiseTry(() => createDistGraph(this, topologyHandles, options))
  }

  /**
   * Creates a communicator from a topology that every rank passes entirely: a generated one, or that of a matrix. Costs
   * one small exchange. Ownership: the object is shared by the ranks of a process; do not change its arrays.
   *
   * @throws ERR_TOPOLOGY for a malformed topology, or one with another number of ranks
   * @throws ERR_COLLECTIVE_MISMATCH when ranks pass different ones
   */
  createTopology(topology: ProcessTopology, options?: TopologyOptions): Promise<TopologyCommunicator> {
    return promiseTry(() => createTopology(this, topologyHandles, topology, options))
  }

  /**
   * Starts the persistent requests of all ranks of this process that one init has returned, once each; resolves when
   * the receive buffers of all are filled. Costs one call for all of them, once their init is complete.
   *
   * @throws ERR_ARGUMENT unless they are those; ERR_REQUEST while a start is active, and after `free`; ERR_TYPE when a
   *   buffer has been detached
   * @see MPI-4.1 §3.9 (MPI_Startall)
   */
  static startAll(requests: readonly PersistentRequest[]): Promise<void> {
    return PersistentRequest.startAll(requests)
  }
}

/**
 * Makes one collective call for all ranks of this process, for hosted programs: `together(worlds, (world, k) =>
 * world.allreduce(values[k], 'sum'))`. To other processes it is the call of single ranks: they may call either way.
 * Results, checks, errors and bits are those of that call.
 *
 * Shapes: `comms` are the handles of all ranks of one communicator in this process, each once, in any order. The result
 * is a list in that order; a barrier has none.
 *
 * Ownership: what the calls borrow is borrowed until the promise settles.
 *
 * Costs one promise, and one place in the order of calls, instead of one for each rank.
 *
 * @param call makes one collective call of the handle and returns its promise: any method of the communicator that
 *   returns the promise of one collective. It runs for each handle in turn, before anything is sent. Persistent requests
 *   are started by `Communicator.startAll`.
 * @throws ERR_ARGUMENT for handles that are not those of all ranks here, or a function that does anything but one such
 *   call; the error of a call's arguments, which names the rank. Nothing has been sent then. Otherwise the error of the
 *   first rank that fails
 */
export function together<C extends Communicator>(
  comms: ArrayLike<C>,
  call: (comm: C, k: number) => Promise<void>,
): Promise<void>
export function together<C extends Communicator, R>(
  comms: ArrayLike<C>,
  call: (comm: C, k: number) => Promise<R>,
): Promise<R[]>
export function together(
  comms: ArrayLike<Communicator>,
  call: (comm: Communicator, k: number) => Promise<unknown>,
): Promise<unknown> {
  return promiseTry(() => {
    if (typeof call !== 'function') throw wrongValue('ERR_ARGUMENT', 'together: expected a function', call)
    return callTogether(comms, call)
  })
}

/** Makes the communicators that a communicator's methods return. */
function makeHandle(state: CommState, localIndex: number): Communicator {
  return new Communicator(state, localIndex)
}

/** Makes the communicators with a topology. Their classes are loaded for the first one, because many programs make none. */
const topologyHandles = async () => (loaded ??= await loadTopologyHandles())
let loaded: TopologyHandles | undefined

type TopologyHandles = Awaited<ReturnType<LoadHandles<TopologyCommunicator, CartCommunicator>>>

async function loadTopologyHandles(): Promise<TopologyHandles> {
  const { CartCommunicator } = await import('./cart-communicator.js')
  const { TopologyCommunicator } = await import('./topology-communicator.js')
  return {
    graphHandle: (...made) => new TopologyCommunicator(...made),
    cartHandle: (...made) => new CartCommunicator(...made),
  }
}

async function worldRanks(comm: CommHandle, ranks: ArrayLike<number>): Promise<Int32Array> {
  const { table } = comm.seat().state
  const found = Array.from(requireList(ranks, 'worldRanks'), (rank) => {
    if (Number.isInteger(rank) && rank >= 0 && rank < table.size) return table.lookup(rank)
    const message = `worldRanks: expected ranks from 0 to ${table.size - 1}, got ${shown(rank)}`
    throw new RankweaveError('ERR_RANK', message)
  })
  // Most tables answer at once, so a promise is made only when a look-up is remote.
  const isHere = (each: number | Promise<number>) => typeof each === 'number'
  return Int32Array.from(found.every(isHere) ? (found as number[]) : await Promise.all(found))
}

async function compare(a: CommState, b: CommState): Promise<Comparison> {
  if (a === b) return 'ident'
  if (sameRows(a.table, b.table)) return 'congruent'
  const ranks = compareTables(await a.place(), await b.place())
  return ranks === 'ident' ? 'congruent' : ranks
}

/** Tells whether two tables are the same part of one distributed table, as of a communicator and its dup. */
function sameRows(a: CommTable, b: CommTable): boolean {
  return a.kind === 'distributed' && b.kind === 'distributed' && a.slices === b.slices && a.start === b.start
}
