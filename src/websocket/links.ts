import { RankweaveError } from '../errors.js'
import { type BatchReader, pieceMessageBytes } from './batch.js'
import { RelayChannel, SocketChannel } from './channel.js'
import { Connector, type ConnectorParts } from './connector.js'
import { Link } from './link.js'
import { LinkWatch } from './link-watch.js'
import type { Membership } from './rendezvous/membership.js'

export interface LinksParts extends ConnectorParts {
  readonly membership: Membership
}

/** The services that links need from their process. */
export interface LinksHost {
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
