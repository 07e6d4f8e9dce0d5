import { addMethods } from '../base/methods.js'
import { promiseTry } from '../base/turn.js'
import { RankweaveError, shown } from '../errors.js'
import type { WaitOptions } from '../messages/process/abort.js'
import { blockingCalls, type CollectiveCalls, type StartedCalls, startedCalls } from './collective-calls.js'
import type { CommState } from './comm-state.js'
import { create, dup } from './create.js'
import { free } from './free.js'
import type { CommHandle } from './handle.js'
import { range } from './range.js'
import type { SplitOptions } from './split/split-plan.js'
import { split, splitType } from './split-communicator.js'
import { SurvivorCommunicator } from './survivor-communicator.js'
import type { CommTable } from './table/distributed-table.js'
import { type Comparison, compareTables, type Group, requireList } from './table/group.js'

export async function groupOf(comm: CommHandle): Promise<Group> {
  const { state } = comm.seat()
  await state.place()
  return state.group
}

export async function worldRanks(comm: CommHandle, ranks: ArrayLike<number>): Promise<Int32Array> {
  const { table } = comm.seat().state
  const found = Array.from(requireList(ranks, 'worldRanks'), (rank) => {
    if (Number.isInteger(rank) && rank >= 0 && rank < table.size) return table.lookup(rank)
    const message = `worldRanks: expected ranks from 0 to ${table.size - 1}, got ${shown(rank)}`
    throw new RankweaveError('ERR_RANK', message)
  })
  // Most tables answer at once: a promise is made only when a look-up is remote.
  const isHere = (each: number | Promise<number>) => typeof each === 'number'
  return Int32Array.from(found.every(isHere) ? (found as number[]) : await Promise.all(found))
}

export async function compare(a: CommState, b: CommState): Promise<Comparison> {
  if (a === b) return 'ident'
  if (sameRows(a.table, b.table)) return 'congruent'
  const ranks = compareTables(await a.place(), await b.place())
  return ranks === 'ident' ? 'congruent' : ranks
}

/** Whether two tables are the same part of one distributed table, as of a communicator and its dup. */
function sameRows(a: CommTable, b: CommTable): boolean {
  return a.kind === 'distributed' && b.kind === 'distributed' && a.slices === b.slices && a.start === b.start
}

/**
 * One rank's handle on a communicator: an ordered set of ranks with its own message context (MPI-4.1
 * §7). Handles are small; what the ranks of a process share is stored once behind them. Messages are in
 * {@link MessageCommunicator}, collectives in {@link CollectiveCalls}, {@link StartedCalls} and
 * {@link PersistentCommunicator}; what survivors of lost processes do is in {@link SurvivorCommunicator}.
 *
 * **Buffers.** A send or a collective has read its data when its promise resolves; do not change the data
 * before. A receive returns a fresh array, or fills `into`, which belongs to the receive until its promise
 * settles. Results are never shared with another rank.
 *
 * **Errors** common to all methods, not repeated below: ERR_COMM_FREED after `free`; ERR_REVOKED after an
 * aborted or failed collective, or `revoke`; ERR_PEER_LOST when a process the operation needs is gone;
 * ERR_WORLD_ENDED once the world has ended; ERR_ABORTED through `signal`; ERR_RANK, ERR_TAG, ERR_COUNT,
 * ERR_TYPE for arguments, before anything is sent. Methods that return a promise reject; those that return a
 * request throw for wrong arguments.
 */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the methods are added below
export class Communicator extends SurvivorCommunicator {
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

  /** The ranks that share a node. @see MPI-4.1 §7.4.2 (MPI_Comm_split_type) */
  splitType(type: 'node', key = 0, options?: WaitOptions): Promise<Communicator> {
    return promiseTry(() => splitType(this, makeHandle, type, key, options))
  }

  /**
   * The ranks `first`, `first + stride`, ... up to `last`, in this order; null for other ranks, which need
   * not call. Nothing is sent: each member calls it for itself, and ranks that are in several ranges make
   * them in the same order.
   *
   * Costs O(1) memory where this communicator's table has a closed form; else a table of the range, and a
   * distributed table is fetched first.
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
   * A communicator of the group's ranks, in its order; null for ranks outside. Every rank here calls it; each
   * rank of a group passes that group, ranks in no group pass an empty one; groups are disjoint.
   *
   * @throws ERR_GROUP when a group is not a subset of this communicator, or its members passed different ones
   * @see MPI-4.1 §7.4.2
   */
  create(group: Group, options?: WaitOptions): Promise<Communicator | null> {
    return promiseTry(() => create(this, makeHandle, group, options))
  }

  /**
   * Collective. This handle is unusable at once; operations in flight complete, and the context is released
   * when no message of it is in flight. A synchronous or rendezvous send that no rank has received fails with
   * ERR_COMM_FREED. Local on a communicator that is revoked or has lost a process: the process releases it
   * when all of its ranks here have freed it.
   *
   * @see MPI-4.1 §7.4.3
   */
  free(options?: WaitOptions): Promise<void> {
    return promiseTry(() => free(this, options))
  }

  /**
   * Collective of the ranks that live: the communicator of the survivors, in the order of their ranks here;
   * the same members at each. Works on a revoked communicator, and when further processes are lost meanwhile:
   * a process that is lost before the decision is left out, one that is lost later is a lost member of the
   * result. Acknowledges the losses it leaves out. A topology is not carried over.
   *
   * Costs one decision of the authority. A distributed rank table is rebuilt as a whole one: two decisions, a
   * message from each process to each, O(size) memory.
   *
   * @throws ERR_AUTHORITY on `mpi`; ERR_COLLECTIVE_MISMATCH when others call `agree`
   * @see MPI Forum, User-Level Failure Mitigation (MPIX_Comm_shrink)
   */
  async shrink(): Promise<Communicator> {
    const { state, localIndex } = this.seatToShrink()
    return makeHandle(await state.survival.shrink(localIndex), localIndex)
  }

  /**
   * `ident`: the same context; `congruent`: same ranks, same order; `similar`: same ranks, other order.
   * Local.
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
   * World ranks of the given ranks. With a distributed table this queries their hosts, one message for each
   * of them, and caches the answers (`cacheRows`), so sending to those ranks needs no look-up.
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
}

// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the methods are added below
export interface Communicator extends CollectiveCalls<'blocking'>, StartedCalls {}

addMethods(Communicator.prototype, blockingCalls)
addMethods(Communicator.prototype, startedCalls, 'i')

/** Makes the communicators that a communicator's methods return. */
function makeHandle(state: CommState, localIndex: number): Communicator {
  return new Communicator(state, localIndex)
}
