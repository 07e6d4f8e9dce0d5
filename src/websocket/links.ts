import { isRankweaveError, RankweaveError, reasonText } from '../errors.js'
import {
  type Batch,
  BatchPool,
  type BatchReader,
  batchBytes,
  batchedFrameBytes,
  headBytes,
  pieceMessageBytes,
} from './batch.js'
import { Connector, type ConnectorParts } from './connector.js'
import { closeCode, decodeIntroduction, encodeIntroduction } from './introduction.js'
import { LinkWatch, type WatchedConnection } from './link-watch.js'
import type { BreakCause } from './protocol/messages.js'
import type { Membership } from './rendezvous/join-world.js'
import {
  drop,
  messageBytes,
  type Socket,
  type SocketError,
  socketErrorText,
  socketState,
} from './socket/socket.js'

export interface LinksParts extends ConnectorParts {
  readonly membership: Membership
}

/** The services that links need from their process. */
interface LinksHost {
  /** Returns whether the session has ended, so that arriving messages are dropped. */
  isClosed(): boolean
  isLost(peer: number): boolean
  /** Runs a turn of the process soon, because something waits to be sent. */
  schedule(): void
  /** Reports that the network has taken a message to `peer`. */
  taken(peer: number): void
  message(link: Link, bytes: Uint8Array): void
  /** Handles the current frame of `reader`. @throws ERR_PROTOCOL when the peer is at fault */
  frame(peer: number, reader: BatchReader): void
  /** Reports that this process could not handle a frame of `peer`, whose fault it is not. */
  failed(peer: number, error: unknown): void
}

/** The bytes that a link of 300 MiB/s carries in a round trip of 100 ms. */
const mostWindowBytes = 32 * 2 ** 20

/** The links of one process, each made when it is first needed, and the connector of their sockets. */
export class Links {
  readonly #membership: Membership
  readonly #parts: LinksParts
  readonly #host: LinksHost
  readonly #connector: Connector
  readonly #watch: LinkWatch
  readonly #links: (Link | undefined)[] = []
  /** The links with a batch that has not been handed over. */
  #pending: Link[] = []
  /** The peers to connect to, until there is a receiver of their frames. */
  #unconnected: number[] | undefined = []

  /** @throws ERR_FABRIC when the world refuses messages as large as ours */
  constructor(parts: LinksParts, host: LinksHost) {
    const { maxMessageBytes } = parts.membership.limits
    if (maxMessageBytes < pieceMessageBytes) {
      throw new RankweaveError(
        'ERR_FABRIC',
        `messages of processes have up to ${pieceMessageBytes} bytes, but the world limits them to ${maxMessageBytes}`,
      )
    }
    this.#parts = parts
    this.#membership = parts.membership
    this.#host = host
    const { limits } = parts.membership
    this.#watch = new LinkWatch(limits, parts.clock, {
      probe: (peer) => this.#membership.probe(peer),
      silent: (peer) => this.of(peer).break(silentReason(peer, limits.silenceMs), 'silent'),
    })
    this.#connector = new Connector(parts, {
      wants: (peer) => {
        const { state } = this.of(peer)
        return state === 'waiting' || (state === 'idle' && !host.isClosed())
      },
      awaits: (peer) => this.of(peer).state === 'waiting',
      connected: (peer, socket) => {
        const link = this.of(peer)
        const channel = new SocketChannel(socket, {
          message: (bytes) => host.message(link, bytes),
          ended: () => link.end(),
          broken: (reason, cause) => link.break(reason, cause),
        })
        link.open(channel)
        if (link.state === 'open') this.#watch.add(peer, channel)
      },
      failed: (peer, reason) => this.of(peer).break(reason, 'closed'),
    })
  }

  /** The number of batches that wait to be handed over. */
  get waiting(): number {
    return this.#pending.length + this.#links.filter((link) => link?.hasPending === true).length
  }

  /**
   * The window for messages sent ahead: half of what a link may queue. The other half remains for all other messages.
   */
  get windowBytes(): number {
    return Math.min(mostWindowBytes, this.#membership.limits.maxQueuedBytes >> 1)
  }

  /**
   * Returns the bytes that may be sent ahead to `peer`: the rest of the window, which all links share, because the
   * network would take no more at a time. It is 0 through the rendezvous, which would have to store them.
   */
  spaceFor(peer: number): number {
    const { addresses, process } = this.#membership
    if (peer === process || addresses[peer] === null || addresses[process] === null) return 0
    return this.#links.reduce((space, link) => space - (link?.queuedBytes ?? 0), this.windowBytes)
  }

  of(peer: number): Link {
    return this.#links[peer] ?? this.#made(peer)
  }

  /** Connects from now on, because there is a receiver of frames. */
  begin(): void {
    this.#connector.listen()
    this.#connectAll()
  }

  /** Hands over what waits. */
  flush(): void {
    if (this.#pending.length === 0) return
    const pending = this.#pending
    this.#pending = []
    for (const link of pending) link.flush()
  }

  /** Answers `peer`, which asks whether this process is present. */
  probed(peer: number): void {
    this.#watch.probed(peer)
  }

  /** Notes that `peer` has answered that it is present. */
  present(peer: number): void {
    this.#watch.present(peer)
  }

  /** Ends the link to `peer`, which is lost. */
  end(peer: number): void {
    this.#connector.abandon(peer)
    this.of(peer).end()
  }

  /** Ends all links, because the process itself is lost to all others. */
  endAll(): void {
    const { process, processes } = this.#membership
    for (let peer = 0; peer < processes; peer++) if (peer !== process) this.end(peer)
  }

  /** Resolves when what was sent has been handed to the peers, and all connections are closed. */
  async close(): Promise<void> {
    this.#connectAll()
    // Frames may also wait for the connection of a peer that dials.
    await Promise.all(this.#links.map((link) => link?.close()))
    this.#connector.close()
    await this.#parts.listener?.close()
  }

  #made(peer: number): Link {
    const host = this.#host
    const link = new Link(peer, {
      maxQueuedBytes: this.#membership.limits.maxQueuedBytes,
      maxMessageBytes: this.#membership.limits.maxMessageBytes,
      connect: (to) => this.#connect(to),
      pending: (begun) => {
        this.#pending.push(begun)
        host.schedule()
      },
      taken: (to) => host.taken(to),
      frame: (from, reader) => host.frame(from, reader),
      failed: (from, error) => host.failed(from, error),
      ended: (to) => this.#watch.forget(to),
      broken: (to, reason, cause) => {
        if (!host.isClosed() && !host.isLost(to)) this.#membership.reportBroken(to, reason, cause)
      },
    })
    this.#links[peer] = link
    if (host.isLost(peer)) link.end()
    return link
  }

  #connect(peer: number): void {
    if (this.#unconnected !== undefined) {
      this.#unconnected.push(peer)
      return
    }
    const { addresses, process } = this.#membership
    // The two sides must choose the same way.
    if (addresses[peer] !== null && addresses[process] !== null) this.#connector.dial(peer)
    else this.of(peer).open(new RelayChannel(this.#membership, peer))
  }

  #connectAll(): void {
    const peers = this.#unconnected ?? []
    this.#unconnected = undefined
    for (const peer of peers) this.#connect(peer)
  }
}

function silentReason(peer: number, silenceMs: number): string {
  return `nothing came on it for ${silenceMs} ms, although process ${peer} answers on another way`
}

/** The services that a link needs from its process. */
interface LinkHost {
  /** The most bytes that a link may hold; beyond that it breaks. */
  readonly maxQueuedBytes: number
  /** The most bytes of a message of the peer; a longer one breaks the link. */
  readonly maxMessageBytes: number
  /** Requests a channel, because a link has its first frame to send. */
  connect(peer: number): void
  /** Reports that a batch has been begun and has to be sent soon. */
  pending(link: Link): void
  /** Reports that the network has taken a message: there may be space for a piece. */
  taken(peer: number): void
  /** Handles the current frame of `reader`. @throws ERR_PROTOCOL when the peer is at fault */
  frame(peer: number, reader: BatchReader): void
  /** Reports that this process could not handle a frame of `peer`, whose fault it is not. */
  failed(peer: number, error: unknown): void
  /** Reports that the link has no channel from now on. */
  ended(peer: number): void
  /** Reports that frames were lost, so that no later one may be delivered. */
  broken(peer: number, reason: string, cause: BreakCause): void
}

/**
 * The state of a link:
 * - `idle`: no frame was ever sent;
 * - `waiting`: messages wait for a channel;
 * - `open`;
 * - `ended`: later frames are dropped. A link never opens twice, because frames could be lost in between.
 */
type LinkState = 'idle' | 'waiting' | 'open' | 'ended'

/** The bytes in the socket from which on pieces of bulk transfers are held back. */
const fullFromBytes = 2 ** 20
/** The number of pieces sent before the event loop gets its turn, however fast the network takes them. */
const piecesPerTurn = 16

const batches = new BatchPool(batchBytes, 64)
const pieces = new BatchPool(pieceMessageBytes, 16)

/**
 * The messages that one process sends to one peer and receives from it: batches of frames, numbered in each direction.
 * Memory: frames that wait for the channel or the network, at most `maxQueuedBytes`; of bulk transfers `fullFromBytes`
 * and a piece.
 */
export class Link {
  readonly peer: number
  state: LinkState = 'idle'
  readonly #host: LinkHost
  #channel: Channel | undefined
  #batch: Batch | undefined
  /** The complete messages that wait for the channel. */
  #waiting: Uint8Array<ArrayBuffer>[] = []
  #waitingBytes = 0
  #sent = 0
  #received = 0
  #piecesInTurn = 0
  #onOpenOrEnded: (() => void) | undefined
  readonly #taken = () => this.#host.taken(this.peer)

  constructor(peer: number, host: LinkHost) {
    this.peer = peer
    this.#host = host
  }

  /** The number of bytes that wait here or in the socket. */
  get queuedBytes(): number {
    const begun = this.#batch === undefined ? 0 : this.#batch.length - headBytes
    return begun + this.#waitingBytes + (this.#channel?.bufferedBytes ?? 0)
  }

  /** Whether anything waits to be handed to the channel. */
  get hasPending(): boolean {
    return this.#waiting.length > 0 || (this.#batch !== undefined && !this.#batch.isEmpty)
  }

  /** Whether the channel must be polled, since it does not report what was sent. */
  get needsWatch(): boolean {
    return this.#channel?.reportsSent === false
  }

  /** Appends a frame to the current batch. */
  post(kind: number, header: Int32Array, payload: Uint8Array | undefined, payloadBytes: number): void {
    if (this.state === 'ended') return
    let batch = this.#batch
    if (batch !== undefined && !batch.hasSpaceFor(header.length, payloadBytes)) {
      this.flush()
      batch = undefined
    }
    if (batch === undefined) {
      batch = this.#batch ?? batches.take()
      this.#batch = batch
    }
    if (batch.isEmpty) this.#host.pending(this)
    batch.add(kind, header, payload, 0, payloadBytes)
    if (this.state === 'idle') this.#connect()
  }

  /** Sends a piece of a bulk transfer in a separate message; false when there is no space for it now. */
  postPiece(kind: number, header: Int32Array, payload: Uint8Array, from: number, to: number): boolean {
    if (this.state === 'ended') return true
    // Earlier frames must not be overtaken.
    this.flush()
    const size = batchedFrameBytes(header.length, to - from)
    if (this.#piecesInTurn >= piecesPerTurn || this.queuedBytes + size > fullFromBytes) return false
    this.#piecesInTurn++
    const piece = pieces.take()
    piece.add(kind, header, payload, from, to)
    this.#send(piece, pieces)
    if (this.state === 'idle') this.#connect()
    return true
  }

  /** Allows further pieces, because a new turn has begun. */
  newTurn(): void {
    this.#piecesInTurn = 0
  }

  /** Sends the current batch. */
  flush(): void {
    const batch = this.#batch
    if (batch === undefined || batch.isEmpty) return
    this.#batch = undefined
    this.#send(batch, batches)
  }

  /** Opens the channel and sends the messages that have waited. */
  open(channel: Channel): void {
    if (this.state === 'ended') {
      channel.drop()
      return
    }
    this.state = 'open'
    this.#channel = channel
    const waiting = this.#waiting
    this.#waiting = []
    this.#waitingBytes = 0
    for (const message of waiting) channel.send(message)
    this.flush()
    this.#onOpenOrEnded?.()
    this.#host.taken(this.peer)
  }

  /** Delivers the frames of a peer's message; breaks the link when it is malformed. */
  receive(message: Uint8Array, reader: BatchReader): void {
    if (this.state === 'ended') return
    const { maxMessageBytes } = this.#host
    if (message.length > maxMessageBytes) {
      this.break(
        `a message has ${message.length} bytes: at most ${maxMessageBytes} are accepted`,
        'too large',
      )
      return
    }
    try {
      reader.open(message, this.#received)
      this.#received = (this.#received + 1) >>> 0
      while (!this.#hasEnded() && reader.next()) this.#host.frame(this.peer, reader)
    } catch (error) {
      // The peer is at fault if it breaks the protocol; every other error is a failure here.
      if (isRankweaveError(error, 'ERR_PROTOCOL')) this.break(reasonText(error), 'malformed')
      else {
        this.end()
        this.#host.failed(this.peer, error)
      }
    }
    reader.close()
  }

  /** Breaks the link: frames were lost, or must not be delivered. */
  break(reason: string, cause: BreakCause): void {
    if (this.state === 'ended') return
    this.end()
    this.#host.broken(this.peer, reason, cause)
  }

  /** Drops the messages that wait, and those that are posted from now on. */
  end(): void {
    this.state = 'ended'
    this.#host.ended(this.peer)
    this.#channel?.drop()
    this.#channel = undefined
    this.#batch = undefined
    this.#waiting = []
    this.#waitingBytes = 0
    this.#onOpenOrEnded?.()
  }

  /** Resolves when everything posted has been handed over, or the link has ended. */
  async close(): Promise<void> {
    this.flush()
    if (this.state === 'waiting' && this.hasPending) {
      await new Promise<void>((resolve) => {
        this.#onOpenOrEnded = resolve
      })
    }
    const channel = this.#channel
    if (channel !== undefined) await channel.close()
    if (this.state !== 'ended') this.end()
  }

  /** Returns whether the link has ended: handling a frame may end it. */
  #hasEnded(): boolean {
    return this.state === 'ended'
  }

  #connect(): void {
    this.state = 'waiting'
    this.#host.connect(this.peer)
  }

  #send(batch: Batch, pool: BatchPool): void {
    const message = batch.seal(this.#sent)
    this.#sent = (this.#sent + 1) >>> 0
    const channel = this.#channel
    if (channel === undefined) {
      this.#waiting.push(message)
      this.#waitingBytes += message.length
    } else {
      channel.send(message, pool === pieces ? this.#taken : undefined)
      if (channel.bufferedBytes === 0) {
        pool.give(batch)
        return
      }
    }
    const { queuedBytes } = this
    if (queuedBytes > this.#host.maxQueuedBytes) {
      this.break(
        `${queuedBytes} bytes are queued for process ${this.peer}, which does not take them: at most ${this.#host.maxQueuedBytes} may be`,
        'unread',
      )
    }
  }
}

/** The carrier of the messages of a link: a socket, or the relay of the rendezvous. */
interface Channel {
  /** The number of bytes taken and not yet on the network. */
  readonly bufferedBytes: number
  /** Whether `taken` is called when the network has taken a message; else the caller has to check `bufferedBytes`. */
  readonly reportsSent: boolean
  /**
   * Sends a message. Its memory may be reused once `bufferedBytes` is 0.
   *
   * @param taken called when the memory may be reused, if the channel reports that; perhaps never when it fails
   */
  send(message: Uint8Array<ArrayBuffer>, taken?: () => void): void
  /** Resolves when what was sent has been handed over and the channel is closed. */
  close(): Promise<void>
  /** Closes at once. */
  drop(): void
}

interface ChannelEvents {
  message(bytes: Uint8Array): void
  /** Notes that the peer has ended its session. */
  ended(): void
  broken(reason: string, cause: BreakCause): void
}

/** A data socket on which both sides have introduced themselves. */
class SocketChannel implements Channel, WatchedConnection {
  readonly reportsSent: boolean
  readonly #socket: Socket
  readonly #closed: Promise<void>
  #events: ChannelEvents | undefined
  #closing = false
  /** Whether the peer has announced its end: whatever closes the socket then, nothing is lost. */
  #peerHasEnded = false
  #sentBytes = 0

  constructor(socket: Socket, events: ChannelEvents) {
    this.#socket = socket
    this.#events = events
    this.reportsSent = socket.reportsSent === true
    if (socket.receive !== undefined) socket.receive((data) => this.#arrived(data))
    else socket.addEventListener('message', ({ data }) => this.#arrived(messageBytes(data) ?? data))
    let lastError = ''
    socket.addEventListener('error', (event) => {
      lastError = socketErrorText(event)
      if (isTooLarge(event))
        this.#break(`a message has more than the bytes that are accepted: ${lastError}`, 'too large')
    })
    this.#closed = new Promise((resolve) => {
      socket.addEventListener('close', ({ code, reason }) => {
        if (this.#peerHasEnded) this.#events?.ended()
        else if (!this.#closing) {
          const said = [`the connection was closed (${code})`, reason, lastError].filter(Boolean).join(': ')
          this.#break(said, 'closed')
        }
        this.#events = undefined
        resolve()
      })
    })
    if (socket.readyState === socketState.closed) this.#break('the connection was closed', 'closed')
  }

  get bufferedBytes(): number {
    return this.#socket.bufferedAmount
  }

  get receivedBytes(): number | undefined {
    return this.#socket.receivedBytes
  }

  get takenBytes(): number {
    return this.#sentBytes - this.#socket.bufferedAmount
  }

  ping(): void {
    if (this.#socket.readyState === socketState.open) this.#socket.ping?.()
  }

  send(message: Uint8Array<ArrayBuffer>, taken?: () => void): void {
    this.#sentBytes += message.length
    this.#socket.send(message, taken)
  }

  close(): Promise<void> {
    this.#closing = true
    if (this.#socket.readyState === socketState.open) {
      this.#socket.send(encodeIntroduction<'end'>({ kind: 'end' }))
      // The handshake follows what was sent; a ref'd socket lives until it is done.
      this.#socket.close(closeCode.ended)
    }
    return this.#socket.readyState === socketState.closed ? Promise.resolve() : this.#closed
  }

  drop(): void {
    this.#events = undefined
    drop(this.#socket, closeCode.malformed, 'dropped')
  }

  /** @param data bytes, or a text */
  #arrived(data: unknown): void {
    if (!(data instanceof Uint8Array)) this.#peerSaid(data)
    else if (this.#peerHasEnded) this.#break('a batch of frames after the last', 'malformed')
    else this.#events?.message(data)
  }

  #peerSaid(text: unknown): void {
    try {
      decodeIntroduction(text, 'end')
      this.#peerHasEnded = true
    } catch {
      this.#break('a text message among batches of frames', 'malformed')
    }
  }

  #break(reason: string, cause: BreakCause): void {
    const events = this.#events
    this.#events = undefined
    events?.broken(reason, cause)
  }
}

/** Returns whether the socket refused a message for its size. */
function isTooLarge({ error }: SocketError): boolean {
  return (error as { readonly code?: unknown } | undefined)?.code === 'WS_ERR_UNSUPPORTED_MESSAGE_LENGTH'
}

/** A channel through the rendezvous, to a process that cannot be dialed or cannot dial. */
class RelayChannel implements Channel {
  readonly reportsSent = false
  readonly #membership: Pick<Membership, 'relay' | 'relayBufferedBytes'>
  readonly #peer: number

  constructor(membership: Pick<Membership, 'relay' | 'relayBufferedBytes'>, peer: number) {
    this.#membership = membership
    this.#peer = peer
  }

  /** The number of buffered bytes of all relayed peers together. */
  get bufferedBytes(): number {
    return this.#membership.relayBufferedBytes
  }

  send(message: Uint8Array<ArrayBuffer>, taken?: () => void): void {
    this.#membership.relay(this.#peer, message)
    taken?.()
  }

  /** Resolves at once: the rendezvous gets what was sent before it learns that this process leaves. */
  close(): Promise<void> {
    return Promise.resolve()
  }

  drop(): void {}
}
