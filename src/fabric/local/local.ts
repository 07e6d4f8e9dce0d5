import { requireEntries } from '../../base/known-options.js'
import { integerOption, type OptionTable, uncheckedOptions } from '../../base/option.js'
import { checkOptions, requireOption } from '../../base/option-table.js'
import { seededRandom } from '../../base/random.js'
import { RankweaveError } from '../../errors.js'
import { detachedInTransfer } from '../bulk-transfers.js'
import type {
  Authority,
  BulkRole,
  BulkTransfer,
  Fabric,
  FabricCounters,
  FabricFactory,
  FabricSession,
  FrameSink,
} from '../fabric.js'
import { alreadyAttached, checkFrame, closedToSends } from '../fabric.js'
import { KeepAlive, Task } from '../own-handles.js'
import { Queue } from '../queue.js'
import { LocalAuthority } from './local-authority.js'
import { checkFaults, FaultPlan, type LocalFaults } from './local-faults.js'
import { type DeliveryOrder, LocalInbox, RandomOrder } from './local-inbox.js'
import type { VirtualTime } from './virtual-time.js'
import { TimedFrames } from './virtual-time.js'

export interface LocalOptions {
  /** The number of logical processes. Default: as many as `nodes` or `ranksPerProcess` has entries, else 1. */
  readonly processes?: number
  /**
   * The node label of every process, or a number of nodes over which processes are distributed in blocks. Default: 1
   * node.
   */
  readonly nodes?: number | readonly string[]
  /** The ranks of every process, for `run`. Default: ranks are distributed evenly. */
  readonly ranksPerProcess?: readonly number[]
  /** The seed of a random order of delivery. Default: frames are delivered in the order of sending. */
  readonly seed?: number
  /** The largest payload of one frame. Default 1 MiB. */
  readonly maxPayloadBytes?: number
  /** Whether the fabric offers `bulk`. Default true. */
  readonly bulk?: boolean
  /**
   * Whether header and payload are overwritten when a sink returns, so that tests detect a sink that retains what it
   * was lent. Default false.
   */
  readonly scribble?: boolean
  readonly faults?: LocalFaults
  /**
   * The clocks by which frames take time: they are delivered in the order of their arrival, one per task. Excludes a
   * seed and faults; `bulk` is false then. Default: none.
   */
  readonly virtualTime?: VirtualTime
}

const maxProcesses = 4096
const count = { code: 'ERR_WORLD', least: 1 } as const

const localOptions = {
  processes: integerOption({ ...count, most: maxProcesses }),
  ...uncheckedOptions('nodes', 'ranksPerProcess'),
  seed: integerOption({ code: 'ERR_WORLD', least: Number.MIN_SAFE_INTEGER }),
  maxPayloadBytes: integerOption({ ...count, most: 2 ** 30 }),
  ...uncheckedOptions('bulk', 'scribble', 'faults', 'virtualTime'),
} satisfies OptionTable<LocalOptions>

/**
 * Returns a fabric of logical processes in one event loop. Frames between them pass the same interface as on any
 * fabric, in a seeded order and with injected faults if wanted. Distributed algorithms are thus tested
 * deterministically.
 *
 * @throws ERR_WORLD for numbers that are out of range or do not agree
 * @throws ERR_ARGUMENT for options that are not an object, and for malformed faults
 */
export function local(options: LocalOptions = {}): LocalFactory {
  checkOptions('local', localOptions, options)
  const { ranksPerProcess, maxPayloadBytes = 2 ** 20, scribble = false, seed, faults, virtualTime } = options
  const { bulk = virtualTime === undefined } = options
  const processes =
    options.processes ??
    (typeof options.nodes === 'object' ? options.nodes.length : undefined) ??
    ranksPerProcess?.length ??
    1
  requireOption('local', 'processes', localOptions.processes, processes)
  const nodes = nodeLabels(options.nodes ?? 1, processes)
  requireEntries('local', { ranksPerProcess }, processes)
  if (faults !== undefined) checkFaults(faults, processes)
  if (virtualTime !== undefined && (bulk || seed !== undefined || faults !== undefined))
    throw new RankweaveError('ERR_WORLD', 'local: virtualTime excludes bulk, a seed and faults')
  const resolved = { processes, nodes, maxPayloadBytes, bulk, scribble, seed, faults, virtualTime }
  return {
    kind: 'local',
    processes,
    places: 'one thread',
    ...(ranksPerProcess === undefined ? {} : { ranksPerProcess }),
    open: async () => new LocalSession(resolved),
  }
}

export interface LocalFactory extends FabricFactory {
  readonly kind: 'local'
  open(): Promise<LocalSession>
}

interface ResolvedOptions extends ProcessOptions {
  readonly seed: number | undefined
  readonly faults: LocalFaults | undefined
  readonly virtualTime: VirtualTime | undefined
}

/** The number of frames delivered in one task, so that timers and I/O run in between. */
const batchFrames = 1024
const noPayload = new Uint8Array(0)

/** A running local world: all its processes, and the task that delivers their frames. */
export class LocalSession implements FabricSession {
  readonly kind = 'local'
  readonly processes: number
  readonly nodes: readonly string[]
  readonly hosted: readonly Fabric[]
  readonly #members: readonly LocalProcess[]
  readonly #inboxes: readonly LocalInbox[]
  /**
   * The draws of the process to deliver to, one per frame in flight. A draw outlives its frame when `poll` has
   * delivered it.
   */
  readonly #turns: DeliveryOrder<number>
  readonly #faults: FaultPlan | undefined
  /** The frames in flight in virtual time, instead of inboxes. */
  readonly #timed: TimedFrames | undefined
  readonly #bulk: LocalBulk
  readonly #authority: LocalAuthority
  readonly #keepAlive = new KeepAlive()
  readonly #dead = new Set<number>()
  #unreported: { readonly process: number; readonly reason: string }[] = []
  #inFlight = 0
  #turn = 0
  readonly #pump = new Task(() => this.#deliverBatch())
  #closed = false

  /** Users do not call this: sessions come from `local(...).open()`. */
  constructor(options: ResolvedOptions) {
    const { processes, nodes, seed, faults, virtualTime } = options
    this.processes = processes
    this.nodes = nodes
    const random = seed === undefined ? undefined : seededRandom(seed)
    const order = (): DeliveryOrder<number> => (random === undefined ? new Queue() : new RandomOrder(random))
    this.#turns = order()
    this.#inboxes = Array.from({ length: processes }, () => new LocalInbox(order()))
    this.#faults = faults === undefined ? undefined : new FaultPlan(faults, processes, seed ?? 0)
    this.#timed = virtualTime === undefined ? undefined : new TimedFrames(virtualTime, nodes)
    this.#bulk = new LocalBulk(
      () => this.#schedule(),
      (process) => (this.#dead.has(process) ? lostError(process) : undefined),
    )
    this.#authority = new LocalAuthority(processes, () => this.#schedule())
    this.#members = Array.from({ length: processes }, (_, p) => new LocalProcess(this, p, options))
    this.hosted = this.#members
  }

  quiet(): boolean {
    return (
      this.#inFlight === 0 &&
      this.#bulk.ready === 0 &&
      this.#authority.isQuiet &&
      this.#unreported.length === 0
    )
  }

  /**
   * Ends a process as a crash would: frames in flight from it and to it are lost. A task of the fabric's own reports
   * the loss to every other process. The process itself, whose code runs on, learns of no other loss.
   */
  kill(process: number, reason = 'killed'): void {
    if (this.#closed || this.#dead.has(process)) return
    this.#dead.add(process)
    this.#inFlight -= this.#inboxes[process].drop()
    for (const inbox of this.#inboxes) this.#inFlight -= inbox.drop(process)
    this.#inFlight -= this.#timed?.drop(process) ?? 0
    this.#bulk.fail(lostError(process), process)
    this.#authority.lose(process)
    this.#unreported.push({ process, reason })
    this.#schedule()
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    this.#keepAlive.close()
    this.#pump.cancel()
    for (const inbox of this.#inboxes) inbox.drop()
    this.#timed?.drop()
    this.#turns.clear()
    this.#inFlight = 0
    this.#unreported = []
    this.#bulk.fail(new RankweaveError('ERR_FABRIC', 'the session was closed during a bulk transfer'))
    this.#authority.close()
  }

  /** @internal */
  enqueue(src: number, dst: number, header: Int32Array, payload: Uint8Array | undefined): void {
    if (this.#closed) throw closedToSends()
    if (this.#dead.has(src) || this.#dead.has(dst)) return
    const fate = this.#faults?.next(src, dst)
    const copy = payload === undefined || payload.byteLength === 0 ? noPayload : payload.slice()
    if (this.#timed !== undefined) {
      this.#timed.send(src, dst, header.slice(), copy)
      this.#inFlight++
      this.#schedule()
    } else if (fate?.lost !== true) {
      const dueTurn = fate === undefined || fate.delayTurns === 0 ? 0 : this.#turn + 1 + fate.delayTurns
      this.#inboxes[dst].push(src, { header: header.slice(), payload: copy, dueTurn })
      this.#turns.push(dst)
      this.#inFlight++
      this.#schedule()
    }
    if (this.#faults?.kills(src, this.#members[src].counters.framesSent) === true) this.kill(src)
  }

  /** @internal */
  drain(process: number): boolean {
    const inbox = this.#inboxes[process]
    let delivered = false
    if (this.#timed !== undefined) {
      while (this.#deliverTimed(this.#timed.takeArrived(process))) delivered = true
      return delivered
    }
    for (let left = inbox.size; left > 0 && this.#deliver(process, inbox); left--) delivered = true
    return delivered
  }

  /** @internal */
  bulkOf(process: number): BulkTransfer {
    return {
      send: (peer, transferId, buffer) => this.#bulk.join(process, peer, transferId, 'sender', buffer),
      receive: (peer, transferId, into) => this.#bulk.join(peer, process, transferId, 'receiver', into),
      cancel: (role, peer, transferId, error) => {
        if (role === 'sender') this.#bulk.cancel(process, peer, transferId, role, error)
        else this.#bulk.cancel(peer, process, transferId, role, error)
      },
    }
  }

  /** @internal */
  authorityOf(process: number): Authority {
    return this.#authority.of(process)
  }

  /** @internal */
  ref(): void {
    this.#keepAlive.ref()
  }

  /** @internal */
  unref(): void {
    this.#keepAlive.unref()
  }

  #schedule(): void {
    if (!this.#closed) this.#pump.schedule()
  }

  #deliverBatch(): void {
    this.#turn++
    this.#inboxes.forEach((inbox, process) => {
      for (let n = inbox.release(); n > 0; n--) this.#turns.push(process)
    })
    const unreported = this.#unreported
    this.#unreported = []
    for (const { process, reason } of unreported)
      for (const member of this.#members)
        if (member.process === process || !this.#dead.has(member.process)) member.lose(process, reason)
    this.#authority.deliver()
    // Deliver only frames that were in flight before: frames sent in answer wait for the next turn, so I/O is never
    // starved.
    try {
      if (this.#timed !== undefined) this.#deliverTimed(this.#timed.takeFirst())
      for (let left = Math.min(this.#turns.size, batchFrames); left > 0 && !this.#closed; left--) {
        const process = this.#turns.take()!
        this.#deliver(process, this.#inboxes[process])
      }
    } finally {
      this.#bulk.copy()
      if (this.#inFlight > 0) this.#schedule()
    }
  }

  #deliverTimed(frame: ReturnType<TimedFrames['takeFirst']>): boolean {
    if (frame === undefined) return false
    this.#inFlight--
    this.#members[frame.dst].deliver(frame.src, frame.header, frame.payload)
    return true
  }

  #deliver(process: number, inbox: LocalInbox): boolean {
    const next = inbox.take(this.#turn)
    if (next === undefined) return false
    this.#inFlight--
    this.#members[process].deliver(next.src, next.frame.header, next.frame.payload)
    return true
  }
}

function lostError(process: number): RankweaveError {
  return new RankweaveError('ERR_PEER_LOST', `process ${process} is lost`, { details: { process } })
}

function nodeLabels(nodes: number | readonly string[], processes: number): readonly string[] {
  if (typeof nodes !== 'number') {
    requireEntries('local', { nodes }, processes)
    return [...nodes]
  }
  requireOption('local', 'nodes', integerOption({ ...count, most: processes }), nodes)
  return Array.from({ length: processes }, (_, p) => `node${Math.floor((p * nodes) / processes)}`)
}

/** The services that a logical process needs from its session. */
interface Network {
  enqueue(src: number, dst: number, header: Int32Array, payload: Uint8Array | undefined): void
  /** Delivers every frame that is due to one process; true if there was one. */
  drain(process: number): boolean
  bulkOf(process: number): BulkTransfer
  authorityOf(process: number): Authority
  ref(): void
  unref(): void
}

interface ProcessOptions {
  readonly processes: number
  readonly nodes: readonly string[]
  readonly maxPayloadBytes: number
  readonly bulk: boolean
  readonly scribble: boolean
}

/** The end of the fabric at one logical process. */
class LocalProcess implements Fabric {
  readonly kind = 'local'
  readonly isTrusted = true
  readonly process: number
  readonly processes: number
  readonly nodes: readonly string[]
  readonly maxPayloadBytes: number
  readonly counters: FabricCounters = { framesSent: 0, bytesSent: 0, framesReceived: 0, bytesReceived: 0 }
  readonly bulk?: BulkTransfer
  readonly authority: Authority
  readonly #network: Network
  readonly #scribble: boolean
  #sink: FrameSink | undefined
  #delivering = false

  constructor(network: Network, process: number, options: ProcessOptions) {
    this.#network = network
    this.process = process
    this.processes = options.processes
    this.nodes = options.nodes
    this.maxPayloadBytes = options.maxPayloadBytes
    this.#scribble = options.scribble
    this.authority = network.authorityOf(process)
    if (options.bulk) this.bulk = network.bulkOf(process)
  }

  attach(sink: FrameSink): void {
    if (this.#sink !== undefined) throw alreadyAttached(this.process)
    this.#sink = sink
  }

  send(peer: number, header: Int32Array, payload?: Uint8Array): void {
    const payloadBytes = payload === undefined ? 0 : payload.byteLength
    checkFrame(peer, this.processes, header.length, payloadBytes, this.maxPayloadBytes)
    this.counters.framesSent++
    this.counters.bytesSent += header.byteLength + payloadBytes
    this.#network.enqueue(this.process, peer, header, payload)
  }

  /**
   * Delivers the frames that are due. Frames that arrive while one is being delivered wait: a sink is never re-entered.
   */
  poll(): boolean {
    return !this.#delivering && this.#network.drain(this.process)
  }

  ref(): void {
    this.#network.ref()
  }

  unref(): void {
    this.#network.unref()
  }

  deliver(src: number, header: Int32Array, payload: Uint8Array): void {
    this.counters.framesReceived++
    this.counters.bytesReceived += header.byteLength + payload.byteLength
    this.#delivering = true
    try {
      const sink = this.#sink
      if (sink?.inPlace?.(src, header, 0, payload, 0, payload.length) !== true)
        sink?.frame(src, header, payload)
    } finally {
      this.#delivering = false
    }
    if (!this.#scribble) return
    header.fill(0x5d5d5d5d)
    payload.fill(0x5d)
  }

  lose(peer: number, reason: string): void {
    this.#sink?.peerLost(peer, reason)
  }
}

interface Side {
  readonly buffer: Uint8Array
  readonly sizeBytes: number
  readonly resolve: () => void
  readonly reject: (error: RankweaveError) => void
}

interface Transfer {
  readonly src: number
  readonly dst: number
  readonly transferId: number
  sender?: Side
  receiver?: Side
}

/**
 * Moves large payloads between the processes of a local session: one copy, once both sides have joined. A buffer is
 * accessed during that copy only, so a cancelled side is released at once.
 */
class LocalBulk {
  /** The transfers that have a side which has not settled. */
  readonly #transfers = new Map<string, Transfer>()
  /** The transfers that both sides have joined; some may have been cancelled since. */
  #ready: Transfer[] = []
  readonly #onReady: () => void
  readonly #lost: (process: number) => RankweaveError | undefined

  /**
   * @param onReady called when there is something to copy; a task of the fabric's own then calls `copy`
   * @param lost why a process can no longer be reached
   */
  constructor(onReady: () => void, lost: (process: number) => RankweaveError | undefined) {
    this.#onReady = onReady
    this.#lost = lost
  }

  /** The number of transfers that both sides have joined and that are not yet copied. */
  get ready(): number {
    return this.#ready.length
  }

  join(src: number, dst: number, transferId: number, role: BulkRole, buffer: Uint8Array) {
    return new Promise<void>((resolve, reject) => {
      const lost = this.#lost(src) ?? this.#lost(dst)
      if (lost !== undefined) return reject(lost)
      const key = keyOf(src, dst, transferId)
      const transfer = this.#transfers.get(key) ?? { src, dst, transferId }
      if (transfer[role] !== undefined) return reject(errorOf(transfer, `already has a ${role}`))
      transfer[role] = { buffer, sizeBytes: buffer.byteLength, resolve, reject }
      this.#transfers.set(key, transfer)
      if (transfer.sender === undefined || transfer.receiver === undefined) return
      this.#ready.push(transfer)
      this.#onReady()
    })
  }

  cancel(src: number, dst: number, transferId: number, role: BulkRole, error: RankweaveError): void {
    const transfer = this.#transfers.get(keyOf(src, dst, transferId))
    if (transfer !== undefined) this.#end(transfer, role, error)
  }

  copy(): void {
    const ready = this.#ready
    this.#ready = []
    for (const transfer of ready) {
      for (const role of roles) {
        const side = transfer[role]
        if (side === undefined || side.buffer.byteLength === side.sizeBytes) continue
        const peer = role === 'sender' ? transfer.dst : transfer.src
        this.#end(transfer, role, detachedInTransfer({ role, peer, transferId: transfer.transferId }))
      }
      const { sender, receiver } = transfer
      if (sender === undefined || receiver === undefined) continue
      if (sender.sizeBytes !== receiver.sizeBytes) {
        const sizes = `expected ${receiver.sizeBytes} bytes, the sender sends ${sender.sizeBytes}`
        for (const role of roles) this.#end(transfer, role, errorOf(transfer, `: the receiver ${sizes}`))
        continue
      }
      this.#transfers.delete(keyOf(transfer.src, transfer.dst, transfer.transferId))
      if (sender.sizeBytes > 0) receiver.buffer.set(sender.buffer)
      sender.resolve()
      receiver.resolve()
    }
  }

  /** Fails every transfer that `process` takes part in, or all of them. */
  fail(error: RankweaveError, process?: number): void {
    for (const transfer of [...this.#transfers.values()]) {
      if (process !== undefined && transfer.src !== process && transfer.dst !== process) continue
      for (const role of roles) this.#end(transfer, role, error)
    }
  }

  /** Ends one side; the other one waits for a new partner. */
  #end(transfer: Transfer, role: BulkRole, error: RankweaveError): void {
    const side = transfer[role]
    if (side === undefined) return
    delete transfer[role]
    this.#ready = this.#ready.filter((each) => each !== transfer)
    if (transfer.sender === undefined && transfer.receiver === undefined)
      this.#transfers.delete(keyOf(transfer.src, transfer.dst, transfer.transferId))
    side.reject(error)
  }
}

const roles = ['sender', 'receiver'] as const

const keyOf = (src: number, dst: number, transferId: number): string => `${src} ${dst} ${transferId}`

function errorOf({ src, dst, transferId }: Transfer, what: string): RankweaveError {
  const transfer = `transfer ${transferId} from process ${src} to ${dst}`
  return new RankweaveError('ERR_FABRIC', `${transfer}${what.startsWith(':') ? '' : ' '}${what}`)
}
