import type { CommSeat, CommState } from '../comm/comm-state.js'
import { type CommDescription, describeComm } from '../comm/describe.js'
import { RankweaveError, wrongValue } from '../errors.js'
import type { Machine } from '../machine/machine.js'
import {
  newArray,
  type TypedArray,
  type TypedArrayConstructor,
  typeCodeOfConstructor,
} from '../messages/datatype/elements.js'
import type { Mailbox } from '../messages/mailboxes/mailbox.js'
import type { Matching } from '../messages/p2p/message-matching.js'
import type { RankHandle } from '../messages/process/comm-context.js'
import type { ProcessCounters, RankCounters } from '../messages/process/counters.js'

/** The most characters of a name: MPI_MAX_OBJECT_NAME of most implementations, less its end. */
const longestName = 127

/** A rank's place in a communicator, its memory and its counters. */
export abstract class RankCommunicator {
  readonly rank: number
  readonly size: number
  readonly #state: CommState
  readonly #localIndex: number
  #mailbox: Mailbox | undefined
  #freed = false

  /** Makes a handle. Programs get communicators from `run`, `split`, `dup` and `create`. */
  constructor(state: CommState, localIndex: number) {
    this.#state = state
    this.#localIndex = localIndex
    this.rank = state.localRanks[localIndex]
    this.size = state.size
  }

  /** @internal Returns the shared state and this rank's place in it; throws once the communicator cannot be used. */
  seat(): CommSeat {
    this.#requireUsable()
    return { state: this.#state, localIndex: this.#localIndex, rank: this.rank, handle: this }
  }

  /** @internal Returns the seat for `free`, which a communicator that has failed accepts. */
  seatToFree(): CommSeat {
    this.#requireUnfreed()
    return { state: this.#state, localIndex: this.#localIndex, rank: this.rank, handle: this }
  }

  /**
   * @internal Returns this rank's place among those of `state` here; -1 if its communicator is another one. Throws once
   *   this handle has been freed.
   */
  placeIn(state: object): number {
    this.#requireUnfreed()
    return this.#state === state ? this.#localIndex : -1
  }

  /** @internal Returns this rank's mailbox; throws once the communicator cannot be used. */
  mailbox(): Mailbox {
    this.#requireUsable()
    this.#mailbox ??= this.#state.matching.mailbox(this.rank)
    return this.#mailbox
  }

  /** @internal The point-to-point messages of this communicator in this process. */
  get matching(): Matching {
    return this.#state.matching
  }

  #requireUnfreed(): void {
    if (this.#freed) throw new RankweaveError('ERR_COMM_FREED', 'this communicator has been freed')
  }

  #requireUsable(): void {
    this.#requireUnfreed()
    const failed = this.#state.failed
    if (failed !== undefined) throw failed
  }

  /** @internal Marks this handle as freed; pending operations still complete. */
  markFreed(): void {
    this.#freed = true
    this.#state.listedHandles = undefined
    this.#state.freedHandles++
  }

  /**
   * Allocates memory for messages, zeroed. On `threads`, a message from it above the eager limit is copied once, by the
   * receiver; on other fabrics it is ordinary memory. The rules of sending are the same. Any view of the memory can be
   * sent or received into, and a send's data may change once the send has resolved.
   *
   * Shapes: `alloc(sizeBytes)` returns a Uint8Array, `alloc(Float64Array, countElems)` an array of that type.
   *
   * Ownership: the memory is this rank's alone, although the buffer may be a SharedArrayBuffer; other ranks get copies.
   * It is freed like any array when nothing refers to it, at the latest when the world has ended.
   *
   * @throws ERR_COUNT unless the length is an integer from 0 for which there is memory; ERR_TYPE for another
   *   constructor
   * @see MPI-4.1 §9.2 (MPI_Alloc_mem)
   */
  alloc(sizeBytes: number): Uint8Array
  alloc<C extends TypedArrayConstructor>(type: C, countElems: number): InstanceType<C>
  alloc(typeOrBytes: TypedArrayConstructor | number, countElems?: number): TypedArray {
    return alloc(this, typeOrBytes, countElems)
  }

  /** The name that `setName` gave this communicator; otherwise `world` for the world, and empty for others. */
  get name(): string {
    const { label, made } = this.#state
    return label === '' && made === undefined ? 'world' : label
  }

  /**
   * Names this communicator in messages, reports and `describe`. Local: the ranks of a process share the name, and the
   * last call counts. A communicator that is made from this one has no name.
   *
   * @param name at most 127 characters, no control characters; empty: none
   * @throws ERR_ARGUMENT
   * @see MPI-4.1 §7.8 (MPI_Comm_set_name)
   */
  setName(name: string): void {
    this.#requireUsable()
    if (typeof name !== 'string' || name.length > longestName || /\p{C}/u.test(name)) {
      const expected = `a text of at most ${longestName} characters without control characters`
      throw wrongValue('ERR_ARGUMENT', `setName: expected ${expected}`, name)
    }
    this.#state.label = name
  }

  /**
   * Ends the world: every rank's pending and later calls fail, and `run` rejects with ERR_WORLD_ABORTED.
   *
   * @see MPI-4.1 §9.3 (MPI_Abort)
   */
  abort(reason: unknown): void {
    this.#state.runtime.abort(this.#state.worldRank(this.#localIndex), reason)
  }

  /** The live counters of this rank and of the process that hosts it. */
  get counters(): { readonly rank: Readonly<RankCounters>; readonly process: Readonly<ProcessCounters> } {
    const { runtime } = this.#state
    return {
      rank: runtime.rankCounters(this.#state.worldRank(this.#localIndex)),
      process: runtime.processCounters,
    }
  }

  /**
   * Describes the time and memory of this communicator in this process: its split, its rank table, its look-ups; and
   * its machine. Local.
   */
  describe(): CommDescription {
    return describeComm(this.#state, this.givenMachine)
  }

  /** @internal The machine that the options of its topology name. */
  protected get givenMachine(): Machine | undefined {
    return undefined
  }

  /** The process that hosts this rank, and the number of its node (equal numbers: same node). */
  get location(): { readonly process: number; readonly node: number } {
    const { runtime } = this.#state
    return { process: runtime.process, node: runtime.layout.nodeOfProcess[runtime.process] }
  }
}

// Implements `Communicator.alloc`, where it is documented.
function alloc(
  comm: RankHandle,
  typeOrBytes: TypedArrayConstructor | number,
  countElems: number | undefined,
): TypedArray {
  const { sharing } = comm.seat().state.runtime.fabric
  const bytes = typeof typeOrBytes === 'number'
  const type = typeCodeOfConstructor(bytes ? Uint8Array : typeOrBytes)
  const count = bytes ? typeOrBytes : countElems
  if (!Number.isSafeInteger(count) || count! < 0) {
    const expected = `alloc: ${bytes ? 'sizeBytes' : 'countElems'} must be an integer from 0`
    throw wrongValue('ERR_COUNT', expected, count)
  }
  return newArray(type, count!, (sizeBytes) => sharing?.alloc(sizeBytes))
}
