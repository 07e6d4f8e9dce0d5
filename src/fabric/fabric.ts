import type { RankweaveError } from '../errors.js'

/**
 * The one place of a world that orders losses and decisions; its own loss ends the world. On `local` it is
 * the session, on `threads` the thread that called `run`, on `websocket` the rendezvous. MPI has none: there
 * a lost process ends the job.
 */
export interface Authority {
  /**
   * Whether it is in the session of the process, whose `quiet` then accounts for its decisions. Otherwise
   * what it answers is in flight without being counted, and a wait for it never counts as a deadlock.
   */
  readonly isHere: boolean
  /**
   * The contribution of this process to the decision `key`: one per process of `members`. Resolves, at every
   * process that survives, with the same value, once each member has contributed, is lost or has contributed
   * to the end of the world ({@link concernsEnd}); in a task of the fabric's own, never inside another call,
   * and after `peerLost` of every process in `lost`. Contributing has no effect on frames: they may arrive
   * before or after.
   *
   * @param key at most {@link maxKeyLength} characters; unique among the decisions of the world
   * @param members processes, ascending; the same at each of them, and this process among them. A process
   *   that names others waits alone; of the decision `end` all processes are members
   * @param contribution at most {@link maxContributionBytes}; read before the call returns
   * @throws (by rejection) ERR_PEER_LOST when this process is itself lost to the world, ERR_WORLD_LOST when
   *   the authority is lost, ERR_FABRIC after `close` and for arguments that do not fit
   */
  decide(key: string, members: readonly number[], contribution: Uint8Array): Promise<Decision>
}

export interface Decision {
  /**
   * In the order of `members`; null for processes that had not contributed: those that were lost before, and
   * those that had already contributed to the end of the world, which are not in `lost`.
   */
  readonly contributions: readonly (Uint8Array | null)[]
  /**
   * Processes of the world that were lost before the decision, in the order in which the authority noticed.
   */
  readonly lost: readonly number[]
}

/**
 * Whether a decision is about the end of the world, by its name. A process contributes to one when its ranks
 * have returned, so no other decision waits for it from then on.
 */
export function concernsEnd(key: string): boolean {
  return key === 'end' || key.startsWith('end ')
}

/** Longest contribution to a decision. */
export const maxContributionBytes = 64
/** Longest name of a decision. */
export const maxKeyLength = 128

/**
 * What carries frames between processes. A fabric knows processes and nodes, frames and bytes; ranks, tags
 * and communicators are the business of the rooms above, which run unchanged on every fabric.
 *
 * The contract, checked by `fabricConformance`:
 *
 * - **Order.** Frames from one process to another arrive in the order they were sent, each exactly once.
 *   Frames of different senders may interleave in any way.
 * - **Borrowing.** `send` has read header and payload when it returns; the sender may reuse both at once. A
 *   sink may read a delivered header and payload only until its `frame` returns. A ring in shared memory, an
 *   MPI receive buffer and a WebSocket message can all lend their bytes under this rule, so no side needs to
 *   allocate.
 * - **Never blocking.** `send` never waits and never refuses: flow control of payload is done above, by
 *   credits (decision 10), so what a fabric must queue is bounded by the credits, envelopes and control
 *   frames.
 * - **No re-entrance.** `frame` is never called from inside `send`; it is called from `poll`, or from a task
 *   of the fabric's own.
 */
export interface Fabric {
  readonly kind: FabricKind
  /** This process, 0-based. */
  readonly process: number
  readonly processes: number
  /** Node label of every process; processes with equal labels are on one node. */
  readonly nodes: readonly string[]
  /**
   * Whether on some node processes outnumber the cores that they may run on, so that who waits for a frame
   * takes the core from who sends it. The same on every process. Default: false.
   */
  readonly isOversubscribed?: boolean
  /** Largest payload of one frame in bytes; larger payloads are cut into several, or go by `bulk`. */
  readonly maxPayloadBytes: number
  readonly counters: Readonly<FabricCounters>
  /** Large payloads without intermediate copies, where the fabric can. */
  readonly bulk?: BulkTransfer
  /** Memory that other processes read where it is, where there is such memory. */
  readonly sharing?: MemorySharing
  /** Memory for copies that peers read where they are, where there is such memory. */
  readonly staging?: StagingMemory
  /** Memory that other processes copy from, wherever it lies, where they can. */
  readonly loans?: MemoryLoans
  /** Large messages that go before their receiver asks for them, where asking takes long. */
  readonly ahead?: SendingAhead
  /** The heap of this process, where it hosts ranks and nothing else. */
  readonly heap?: ProcessHeap
  /**
   * What orders losses and decisions, as this process reaches it. None: the loss of a process cannot be
   * survived.
   */
  readonly authority?: Authority

  /** Names the receiver of this process's frames. Called once, before the first frame can arrive. */
  attach(sink: FrameSink): void

  /**
   * Sends one frame. `peer` may be this process itself.
   *
   * @param header at most {@link maxHeaderWords} words, opaque to the fabric
   * @param payload at most `maxPayloadBytes` bytes
   * @throws ERR_FABRIC after `close`, for a peer out of range, or for an oversized header or payload
   */
  send(peer: number, header: Int32Array, payload?: Uint8Array): void

  /**
   * Bytes of payload that frames to `peer` can carry now without being queued in copies: what has room is
   * on its way when `send` returns. Only where the receiver reads them while the sender writes more.
   */
  roomFor?(peer: number): number

  /**
   * Delivers what has arrived without waiting; true if it delivered anything. An unsuccessful poll is cheap.
   */
  poll(): boolean

  /**
   * Polls for some microseconds, for when no rank of this process can continue without a frame. Returns true
   * as soon as anything was delivered, because what follows from it may be a microtask; false when nothing
   * came, or when the event loop must have its turn first. Only where the event loop would take much longer
   * to deliver a frame.
   */
  spin?(): boolean

  /**
   * Polls at most `maxPolls` times; true as soon as one frame was delivered. For a rank that is about to
   * wait: what it does not wait for stays in the fabric. Only where a poll costs next to nothing.
   */
  tryPoll?(maxPolls: number): boolean

  /**
   * Calls `look` with every poll, and before it delivers a frame once that has arrived, until the function
   * that it returns is called. Frames that go in place (`FrameSink.inPlace`) are delivered without. For
   * memory that other processes write: no frame announces a change of it. Only where `staging` is shared and
   * processes poll.
   *
   * @param look true when what it looks for is there; not called from inside `send`
   */
  watch?(look: () => boolean): () => void

  /**
   * `peer` has broken the protocol by what came on another way than in a frame, such as its part of a
   * decision: what ERR_PROTOCOL from the sink does for a frame. Only where peers may run other programs.
   */
  blame?(peer: number, reason: string): void

  /** Keeps the event loop of this process alive while waits are pending; calls nest. */
  ref(): void
  unref(): void
}

export type FabricKind = 'local' | 'threads' | 'websocket' | 'mpi'

export const maxHeaderWords = 16

/** What every fabric takes: words of a header, characters of a decision's name, bytes of a contribution. */
export const fabricLimits = { maxHeaderWords, maxKeyLength, maxContributionBytes } as const

export interface FrameSink {
  /** One frame of process `src`; header and payload are lent for the duration of the call. */
  frame(src: number, header: Int32Array, payload: Uint8Array): void
  /**
   * The same frame before any array was made for it: its header is in `words` from `headerAt`, its payload in
   * `bytes` from `payloadAt`, lent for the duration of the call. True when the sink has taken it; false, and
   * nothing done, when it wants the frame as `frame` gives it. A fabric need not call it.
   */
  inPlace?(
    src: number,
    words: Int32Array,
    headerAt: number,
    bytes: Uint8Array,
    payloadAt: number,
    payloadBytes: number,
  ): boolean
  /**
   * Process `peer` is lost: no frame will come from it, no frame sent to it will arrive. When `peer` is the
   * sink's own process, it is disconnected from all others.
   */
  peerLost(peer: number, reason: string): void
  /**
   * The authority of the world is lost, and the world with it: no frame will come, no frame sent will arrive.
   * `peerLost` of every other process follows; a sink without this knows no more than that.
   */
  worldLost?(error: RankweaveError): void
}

/**
 * A payload that goes from the sender's buffer into the receiver's in as few copies as the fabric can do.
 * `messages/` agrees on a transfer by ordinary frames (rendezvous) before either side calls. A transfer id is
 * drawn by the sender and is unique among its transfers to that peer that have not settled on both sides.
 *
 * - **Release.** Once the promise of a side has settled, either way, the fabric neither reads nor writes its
 *   buffer.
 * - **Pairing.** A side waits until the other one has joined. Bytes move only between two sides that both
 *   have: what was on its way to a side that has ended is dropped, and never reaches a later transfer with
 *   the same id.
 * - **Detached buffers.** A side whose buffer is detached meanwhile is cancelled with ERR_FABRIC, and
 *   `details.detached`, when the fabric next touches it. MPI accesses memory while the fabric is not running:
 *   there, the code that takes over the memory of a buffer in transfer must retain it until the transfer has
 *   settled.
 *
 * A side that waits occupies a record here and, for a receiver, one at its sender; both end with it.
 */
export interface BulkTransfer {
  /** Resolves when `buffer` may be reused. Rejects with ERR_PEER_LOST, or with the error of `cancel`. */
  send(peer: number, transferId: number, buffer: Uint8Array): Promise<void>
  /**
   * Fills `into` entirely; its length equals the sender's. Rejects with ERR_PEER_LOST, or with the error of
   * `cancel`.
   */
  receive(peer: number, transferId: number, into: Uint8Array): Promise<void>
  /**
   * Ends this process's side of a transfer: its promise rejects with `error` as soon as the fabric has
   * released the buffer, whether or not bytes were moved. Where a peer must be asked, that takes one exchange
   * with the peer's fabric and the pieces in flight, but no call of the peer's program. No effect on a side
   * that has settled or never joined.
   *
   * The other side is not ended: it waits for a new partner, from the first byte on, until it is cancelled
   * too.
   */
  cancel(role: BulkRole, peer: number, transferId: number, error: RankweaveError): void
}

export type BulkRole = 'sender' | 'receiver'

/**
 * Memory of one process that others can read in place: what `world.alloc()` gives. A frame then carries where
 * the payload is instead of the payload, and the receiver makes the only copy. Who may read or write when is
 * agreed on by frames, in `messages/`.
 */
export interface MemorySharing {
  /** Zeroed memory of this process. @throws RangeError when it cannot be allocated */
  alloc(sizeBytes: number): ArrayBufferLike
  /**
   * How `peer` finds `bytes`; undefined when they are not in memory that it can read. Good for frames that
   * are sent to `peer` from now on, as long as this process holds the buffer.
   */
  locate(peer: number, bytes: Uint8Array): MemoryLocation | undefined
  /** The bytes that process `peer` located for this process, by a frame that has been delivered. */
  reach(peer: number, location: MemoryLocation, sizeBytes: number): Uint8Array
}

/** V8's heap of a process, as far as receives of fresh arrays steer it. */
export interface FreshHeap {
  /** Collects young objects. */
  collectYoung(): void
  /** Bytes of buffers that the heap holds. */
  externalBytes(): number
  /** If V8 has marked its heap since the last call: it marks again only once there is much more in it. */
  makeRoom(): void
}

/** The heap of a process, whose flags and C library are of all threads of the program. */
export interface ProcessHeap {
  /** What steers it; undefined where nothing does, or at this moment. */
  open(): FreshHeap | undefined
  /** Has the C library retain what long arrays free. May be called again. */
  retainFreed(): void
  /** Runs an action unless another process of the world runs one at this moment; whether it ran. */
  alone(action: () => void): boolean
}

/**
 * Copies between processes that the receiver makes, out of the memory that a message has at its sender.
 *
 * A loan ends before its lender changes or releases the memory, and a copy that it did not cover is no copy.
 */
export interface MemoryLoans {
  /**
   * How `peer` finds `bytes` until the loan ends; undefined when it cannot copy them, or too much is lent. The
   * caller holds the buffer meanwhile.
   */
  lend(peer: number, bytes: Uint8Array): MemoryLocation | undefined
  end(location: MemoryLocation): void
  /** Fills `into` from what `peer` has lent; false where it could not, or the loan has ended meanwhile. */
  copy(peer: number, location: MemoryLocation, into: Uint8Array): boolean
}

/**
 * Memory of one process for copies of payloads that peers are to read in place. Who may read what until when
 * is agreed on by frames, in `messages/`. Peers do not write it.
 */
export interface StagingMemory {
  /**
   * Always the same, allocated by the first call. Its length bounds what a process stages at a time; it may
   * be 0.
   */
  memory(): Uint8Array
  /**
   * Whether `peer` can read this memory, and this process that of `peer`: processes that can, can pairwise.
   */
  isSharedWith(peer: number): boolean
  /** How `peer` finds `bytes`, which are in this memory; undefined when it cannot read it. */
  locate(peer: number, bytes: Uint8Array): MemoryLocation | undefined
  /** The bytes that process `peer` located for this process, by a frame that has been delivered. */
  reach(peer: number, location: MemoryLocation, sizeBytes: number): Uint8Array
}

/**
 * Where a question and its answer take long, a collective sends large messages without waiting for their
 * receiver to ask.
 */
export interface SendingAhead {
  /**
   * What is worth having on its way to one peer, in bytes: bandwidth times round trip. Credit is by default
   * at least this.
   */
  readonly windowBytes: number
  /** The most that may be queued for one peer, in bytes: a peer that takes nothing beyond that is lost. */
  readonly queueBytes: number
  /** The largest message that may go to `peer` ahead now, in bytes: what the fabric queues stays bounded. */
  spaceFor(peer: number): number
}

export interface MemoryLocation {
  /** 1 to 2^31 - 1, of its process. */
  readonly segment: number
  readonly byteOffset: number
}

/** Frames and bytes (headers included) of this process since it started; frames to itself count too. */
export interface FabricCounters {
  framesSent: number
  bytesSent: number
  framesReceived: number
  bytesReceived: number
}

/**
 * The part of a started world that one thread of execution sees: all processes for `local`, one for fabrics
 * whose processes have an event loop of their own.
 */
export interface FabricSession {
  readonly kind: FabricKind
  readonly processes: number
  readonly nodes: readonly string[]
  /** The processes hosted here, ascending by `process`. */
  readonly hosted: readonly Fabric[]
  /**
   * True when no frame between processes is in flight as far as this session can know. Deadlock detection
   * depends on it. A fabric that cannot see its peers reports for itself alone: whether frames are in flight
   * between sessions is determined in `world/`, where all processes compare how many they have sent and
   * received.
   */
  quiet(): boolean
  /**
   * Ends the session: no more frames are delivered here, and every handle and process of it is released.
   * What was sent before to processes of other sessions still arrives there. Closing again has no effect.
   */
  close(): Promise<void>
}

/**
 * How to start a session: what `run({ fabric })` accepts, and what `fabricConformance` is a function of.
 * `ranksPerProcess` is for `run`; a fabric does not interpret it.
 */
export interface FabricFactory {
  readonly kind: FabricKind
  readonly processes: number
  readonly ranksPerProcess?: readonly number[]
  /**
   * Every process loads the program for itself: `run` takes the URL of a module, not a function. Default:
   * false.
   */
  readonly needsModule?: boolean
  open(): Promise<FabricSession>
}
