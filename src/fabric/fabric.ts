import { RankweaveError } from '../errors.js'

/**
 * The one place of a world that orders losses and decisions. If it is lost, the world ends. On `local` it is the
 * session, on `threads` the thread that called `run`, on `websocket` the rendezvous. MPI has none: there a lost process
 * ends the job.
 */
export interface Authority {
  /**
   * Whether it is in the session of the process, whose `quiet` then accounts for its decisions. Otherwise its answers
   * are in flight without being counted, and a wait for it never counts as a deadlock.
   */
  readonly isHere: boolean
  /**
   * Contributes to the decision `key`: once per process of `members`. Every survivor gets the same value, once each
   * member has contributed, is lost or has contributed to the end of the world ({@link concernsEnd}). The promise
   * resolves in a task of the fabric's own, never inside another call, and after `peerLost` of every process in `lost`.
   * Contributing has no effect on frames: they may arrive before or after.
   *
   * @param key at most {@link maxKeyLength} characters; unique among the decisions of the world
   * @param members processes, ascending; the same at each of them, and this process among them. A process that names
   *   others waits alone; of the decision `end` all processes are members
   * @param contribution at most {@link maxContributionBytes}; read before the call returns
   * @throws (by rejection) ERR_PEER_LOST when this process is itself lost to the world, ERR_WORLD_LOST when the
   *   authority is lost, ERR_FABRIC after `close` and for arguments that do not fit
   */
  decide(key: string, members: readonly number[], contribution: Uint8Array): Promise<Decision>
}

export interface Decision {
  /**
   * The contributions in the order of `members`. It is null for processes that were lost before they contributed, and
   * for those at the end of the world, which are not in `lost`.
   */
  readonly contributions: readonly (Uint8Array | null)[]
  /** The processes of the world that were lost before the decision, in the order in which the authority noticed. */
  readonly lost: readonly number[]
}

/**
 * Returns whether a decision is about the end of the world, by its name. A process contributes to one when its ranks
 * have returned, so no other decision waits for it from then on.
 */
export function concernsEnd(key: string): boolean {
  return key === 'end' || key.startsWith('end ')
}

/** The most bytes of a contribution to a decision. */
export const maxContributionBytes = 64
/** The most characters of a decision's name. */
export const maxKeyLength = 128

/**
 * The carrier of frames between processes. A fabric knows processes and nodes, frames and bytes. Ranks, tags and
 * communicators belong to the rooms above, which run unchanged on every fabric. The contract, checked by
 * `fabricConformance`:
 *
 * - **Order.** Frames from one process to another arrive in the order they were sent, each exactly once. Frames of
 *   different senders may interleave in any way.
 * - **Borrowing.** `send` has read header and payload when it returns; the sender may reuse both at once. A sink may
 *   read a delivered header and payload only until its `frame` returns. Under this rule a ring in shared memory, an MPI
 *   receive buffer and a WebSocket message can lend their bytes. So no side needs to allocate.
 * - **Never blocking.** `send` never waits and never refuses. Credits control the flow of payload in the room above
 *   (decision 10), so credits, envelopes and control frames bound the fabric's queue.
 * - **No re-entrance.** `frame` is never called from inside `send`; it is called from `poll`, or from a task of the
 *   fabric's own.
 */
export interface Fabric {
  readonly kind: FabricKind
  /**
   * Whether every process runs this program. If false, other programs may send frames: the rooms above check each
   * frame, charge a message all the memory that it occupies, and bound what waits here.
   */
  readonly isTrusted: boolean
  /** The number of this process, 0-based. */
  readonly process: number
  readonly processes: number
  /** The node label of every process; processes with equal labels are on one node. */
  readonly nodes: readonly string[]
  /**
   * Whether on some node processes outnumber the cores that they may run on. A process that waits for a frame then
   * takes the core from its sender. The same on every process. Default: false.
   */
  readonly isOversubscribed?: boolean
  /** The largest payload of one frame in bytes; larger payloads are cut into several, or go by `bulk`. */
  readonly maxPayloadBytes: number
  readonly counters: Readonly<FabricCounters>
  /** The transfer of large payloads without intermediate copies, if the fabric has one. */
  readonly bulk?: BulkTransfer
  /** The memory that other processes read in place, if there is such memory. */
  readonly sharing?: MemorySharing
  /** The memory for copies that peers read in place, if there is such memory. */
  readonly staging?: StagingMemory
  /** The loans of memory that other processes copy from, wherever it lies, if they can. */
  readonly loans?: MemoryLoans
  /** The limits of large messages that are sent before their receiver asks for them, if asking takes long. */
  readonly ahead?: SendingAhead
  /** The heap of this process, if it hosts only ranks. */
  readonly heap?: ProcessHeap
  /**
   * The authority that orders losses and decisions, as this process reaches it. Without one, the loss of a process
   * cannot be survived.
   */
  readonly authority?: Authority
  /** The effect of a lost process where there is no authority, for the texts of errors. */
  readonly lossEffect?: string

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
   * Returns how many bytes of payload frames to `peer` can carry now without being queued in copies: they are in flight
   * when `send` returns. Exists only if the receiver reads bytes while the sender writes more.
   */
  roomFor?(peer: number): number

  /** Delivers what has arrived without waiting; true if it delivered anything. An unsuccessful poll is cheap. */
  poll(): boolean

  /**
   * Polls for some microseconds while no rank of this process can continue without a frame. Returns true as soon as a
   * frame was delivered, because its consequence may be a microtask. Returns false when none came, or when the event
   * loop must have its turn first. Exists only if the event loop would take much longer to deliver a frame.
   */
  spin?(): boolean

  /**
   * Polls at most `maxPolls` times; true as soon as one frame was delivered. A rank that is about to wait calls it;
   * frames that the rank does not wait for stay in the fabric. Exists only if a poll costs next to nothing.
   */
  tryPoll?(maxPolls: number): boolean

  /**
   * Calls `look` with every poll, and before it delivers a frame that has arrived, until the returned function is
   * called. Frames that go in place (`FrameSink.inPlace`) are delivered without calling it. It watches memory that
   * other processes write, whose changes no frame announces. Exists only if `staging` is shared and processes poll.
   *
   * @param look true when it has found a change; not called from inside `send`
   */
  watch?(look: () => boolean): () => void

  /**
   * Reports that `peer` has broken the protocol outside of a frame, such as in its part of a decision. The effect is
   * that of ERR_PROTOCOL from the sink for a frame. Exists only if peers may run other programs.
   */
  blame?(peer: number, reason: string): void

  /** Keeps the event loop of this process alive while waits are pending; calls nest. */
  ref(): void
  unref(): void
}

/**
 * The name of a fabric in reports, errors and tuning files. No behavior depends on it: what differs between fabrics is
 * a property of the contract. A fabric from outside has its own name.
 */
export type FabricKind = 'local' | 'threads' | 'websocket' | 'mpi' | (string & {})

/** The places of a fabric's processes: all in one thread, each in its own thread, each in its own OS process. */
export type ProcessLocation = 'one thread' | 'threads' | 'OS processes' | 'anywhere'

export const maxHeaderWords = 16

/** The limits of every fabric: words of a header, characters of a decision's name, bytes of a contribution. */
export const fabricLimits = { maxHeaderWords, maxKeyLength, maxContributionBytes } as const

export interface FrameSink {
  /** Takes one frame of process `src`; header and payload are lent for the duration of the call. */
  frame(src: number, header: Int32Array, payload: Uint8Array): void
  /**
   * Takes a frame before any array was made for it: its header is in `words` from `headerAt`, its payload in `bytes`
   * from `payloadAt`, lent for the duration of the call. Returns true when the sink has taken it. Returns false, and
   * does nothing, when the fabric must deliver it by `frame`. A fabric need not call it.
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
   * Reports that process `peer` is lost: no frame will come from it, no frame sent to it will arrive. When `peer` is
   * the sink's own process, it is disconnected from all others.
   */
  peerLost(peer: number, reason: string): void
  /**
   * Reports that the authority of the world is lost, and the world with it: no frame will come, no frame sent will
   * arrive. `peerLost` of every other process follows; a sink without this method gets only that.
   */
  worldLost?(error: RankweaveError): void
}

/**
 * A transfer of payload from the sender's buffer into the receiver's in as few copies as the fabric can do. `messages/`
 * agrees on a transfer by ordinary frames (rendezvous) before either side calls. The sender draws the transfer id. It
 * is unique among its transfers to that peer that have not settled on both sides.
 *
 * - **Release.** Once the promise of a side has settled, either way, the fabric neither reads nor writes its buffer.
 * - **Pairing.** A side waits until the other one has joined. Bytes move only between two sides that both have. Bytes
 *   in flight to a side that has ended are dropped, and never reach a later transfer with the same id.
 * - **Detached buffers.** A side whose buffer is detached meanwhile is cancelled with ERR_FABRIC, and
 *   `details.detached`, when the fabric next touches it. MPI accesses memory while the fabric is not running: there,
 *   the code that takes over the memory of a buffer in transfer must retain it until the transfer has settled.
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
   * Ends this process's side of a transfer: its promise rejects with `error` as soon as the fabric has released the
   * buffer, whether or not bytes were moved. Asking a peer takes one exchange with the peer's fabric and the pieces in
   * flight, but no call of the peer's program. A side that has settled or never joined is not affected. The other side
   * does not end: it waits for a new partner, from the first byte on, until it is cancelled too.
   */
  cancel(role: BulkRole, peer: number, transferId: number, error: RankweaveError): void
}

export type BulkRole = 'sender' | 'receiver'

/**
 * The memory of one process that others can read in place: the result of `world.alloc()`. A frame then carries the
 * place of the payload instead of the payload, and the receiver makes the only copy. Processes agree by frames, in
 * `messages/`, on when each may read or write.
 */
export interface MemorySharing {
  /** Allocates zeroed memory of this process. @throws RangeError when it cannot be allocated */
  alloc(sizeBytes: number): ArrayBufferLike
  /**
   * Returns where `peer` finds `bytes`; undefined if `peer` cannot read their memory. The location holds for frames
   * that are sent to `peer` from now on, as long as this process holds the buffer.
   */
  locate(peer: number, bytes: Uint8Array): MemoryLocation | undefined
  /** Returns the bytes that process `peer` located for this process, by a frame that has been delivered. */
  reach(peer: number, location: MemoryLocation, sizeBytes: number): Uint8Array
}

/** The controls of V8's heap of a process for receives into fresh arrays. */
export interface FreshHeap {
  collectYoung(): void
  /** Returns the bytes of buffers that the heap holds. */
  externalBytes(): number
  /** Makes room if V8 has marked its heap since the last call: it marks again only once the heap holds much more. */
  makeRoom(): void
}

/** The heap of a process; its flags and C library are shared by all threads of the program. */
export interface ProcessHeap {
  /** Opens the controls of the heap; undefined if there are none, or not at this moment. */
  open(): FreshHeap | undefined
  /** Has the C library retain the memory of freed long arrays. May be called again. */
  retainFreed(): void
  /** Runs an action unless another process of the world runs one at this moment; returns whether it ran. */
  alone(action: () => void): boolean
}

/**
 * Copies between processes that the receiver makes, out of the memory that a message has at its sender. A loan ends
 * before its lender changes or releases the memory, and a copy that it did not cover is invalid.
 */
export interface MemoryLoans {
  /**
   * Returns where `peer` finds `bytes` until the loan ends; undefined if it cannot copy them, or too much is lent. The
   * caller holds the buffer meanwhile.
   */
  lend(peer: number, bytes: Uint8Array): MemoryLocation | undefined
  end(location: MemoryLocation): void
  /** Fills `into` from memory that `peer` has lent; false if it could not, or the loan has ended meanwhile. */
  copy(peer: number, location: MemoryLocation, into: Uint8Array): boolean
}

/**
 * The memory of one process for copies of payloads that peers read in place. Processes agree by frames, in `messages/`,
 * on what may be read and until when. Peers do not write it.
 */
export interface StagingMemory {
  /**
   * Returns the memory, always the same, which the first call allocates. Its length bounds what a process stages at a
   * time; it may be 0.
   */
  memory(): Uint8Array
  /**
   * Returns whether this process and `peer` can read each other's memory. The relation is the same in both directions.
   */
  isSharedWith(peer: number): boolean
  /** Returns where `peer` finds `bytes`, which are in this memory; undefined if it cannot read it. */
  locate(peer: number, bytes: Uint8Array): MemoryLocation | undefined
  /** Returns the bytes that process `peer` located for this process, by a frame that has been delivered. */
  reach(peer: number, location: MemoryLocation, sizeBytes: number): Uint8Array
}

/**
 * The limits of messages that are sent ahead: where a round trip takes long, a collective sends large messages without
 * waiting for their receiver to ask.
 */
export interface SendingAhead {
  /**
   * The bytes that are worth having in flight to one peer: bandwidth times round trip. Credit is by default at least
   * this.
   */
  readonly windowBytes: number
  /** The most bytes that may be queued for one peer; a peer that takes nothing beyond that is lost. */
  readonly queueBytes: number
  /** Returns the bytes of the largest message that may go to `peer` ahead now: the fabric's queue stays bounded. */
  spaceFor(peer: number): number
}

export interface MemoryLocation {
  /** The number of the segment in its process, 1 to 2^31 - 1. */
  readonly segment: number
  readonly byteOffset: number
}

/** The frames and bytes (headers included) of this process since it started; frames to itself count too. */
export interface FabricCounters {
  framesSent: number
  bytesSent: number
  framesReceived: number
  bytesReceived: number
}

/**
 * The part of a started world that one thread of execution sees: all processes for `local`, one for fabrics whose
 * processes have separate event loops.
 */
export interface FabricSession {
  readonly kind: FabricKind
  readonly processes: number
  readonly nodes: readonly string[]
  /** The processes hosted here, ascending by `process`. */
  readonly hosted: readonly Fabric[]
  /**
   * Returns true when no frame between processes is in flight as far as this session can know. Deadlock detection
   * depends on it. A fabric that cannot see its peers reports only its own frames. `world/` determines whether frames
   * are in flight between sessions: all processes compare how many they have sent and received.
   */
  quiet(): boolean
  /**
   * Ends the session: no more frames are delivered here, and every handle and process of it is released. Frames sent
   * before to processes of other sessions still arrive there. Closing again has no effect.
   */
  close(): Promise<void>
}

/**
 * The parameters and the opening of a session: `run({ fabric })` accepts it, and `fabricConformance` is a function of
 * it. `ranksPerProcess` is for `run`; a fabric does not interpret it.
 */
export interface FabricFactory {
  readonly kind: FabricKind
  readonly processes: number
  readonly ranksPerProcess?: readonly number[]
  /**
   * Whether every process loads the program itself: `run` then takes the URL of a module, not a function. Default:
   * false.
   */
  readonly needsModule?: boolean
  /**
   * Whether the processes are those of a job that a launcher such as mpirun has started: each makes the same calls, and
   * process 0 reports. Default: false.
   */
  readonly isJob?: boolean
  /** The location of the processes. Default: anywhere. */
  readonly places?: ProcessLocation
  open(): Promise<FabricSession>
}

/**
 * Rejects a frame that no fabric sends.
 *
 * @throws ERR_FABRIC for a peer out of range, or for an oversized header or payload
 */
export function checkFrame(
  peer: number,
  processes: number,
  headerWords: number,
  payloadBytes: number,
  maxPayloadBytes: number,
): void {
  const isPeer = peer >= 0 && peer < processes && Number.isInteger(peer)
  if (isPeer && headerWords <= maxHeaderWords && payloadBytes <= maxPayloadBytes) return
  throw refusal(isPeer, peer, processes, headerWords, payloadBytes, maxPayloadBytes)
}

/** Returns the error of a second receiver: a process has one receiver of frames for all its life. */
export function alreadyAttached(process: number): RankweaveError {
  return new RankweaveError('ERR_FABRIC', `process ${process} already has a receiver of frames`)
}

export function closedToSends(): RankweaveError {
  return new RankweaveError('ERR_FABRIC', 'the session is closed: nothing can be sent')
}

function refusal(
  isPeer: boolean,
  peer: number,
  processes: number,
  headerWords: number,
  payloadBytes: number,
  maxPayloadBytes: number,
): RankweaveError {
  const expected = !isPeer
    ? `expected a process in 0..${processes - 1}, got ${peer}`
    : headerWords > maxHeaderWords
      ? `a header has at most ${maxHeaderWords} words, got ${headerWords}`
      : `a payload has at most ${maxPayloadBytes} bytes, got ${payloadBytes}`
  return new RankweaveError('ERR_FABRIC', expected)
}
