import type { Clock } from '../base/clock.js'
import { reasonText } from '../errors.js'
import {
  closeCode,
  dataVersion,
  decodeIntroduction,
  encodeIntroduction,
  type Hello,
  type Meeting,
  newNonce,
  ProofKey,
} from './introduction.js'
import type { IncomingSocket, PeerListener } from './peer-listener.js'
import type { Membership } from './rendezvous/join-world.js'
import {
  drop,
  isPutOff,
  type Socket,
  type SocketTransport,
  socketErrorText,
  socketState,
} from './socket/socket.js'

/** The parts that connect a process to others. */
export interface ConnectorParts {
  readonly membership: Pick<Membership, 'world' | 'process' | 'addresses' | 'peerKeys'>
  readonly transport: Pick<SocketTransport, 'dial'>
  /** The listener; absent if a process cannot listen. */
  readonly listener: PeerListener | undefined
  readonly clock: Clock
}

/** The services that connecting needs from its process. */
interface ConnectorHost {
  /** Returns whether a connection of `peer` may become its link: it has none and never had one. */
  wants(peer: number): boolean
  /** Returns whether frames wait for a connection to `peer`. */
  awaits(peer: number): boolean
  /**
   * Hands over a socket on which both sides have introduced themselves: messages that arrive from now on are batches.
   */
  connected(peer: number, socket: Socket): void
  /** Reports that there will be no connection to `peer`. */
  failed(peer: number, reason: string): void
}

/** A connection that this process dials. */
interface Dial {
  readonly socket: Socket
  readonly nonce: string
}

/** The counts of connections to one peer that did not last. */
interface Tries {
  /** The number that the network, or the program at the peer's address, has ended. */
  readonly failed: number
  /** The number that the peer has closed as `late` or `superseded`, or before their handshake. */
  readonly putOff: number
}

const noTries: Tries = { failed: 0, putOff: 0 }
/** The number of connections that may fail before a peer counts as unreachable. */
const mostFailed = 3
/** The number of connections that a peer may put off: two and a half minutes at least. */
export const mostPutOff = 100
/** The time between two connections, in milliseconds. */
const retryMs = 100
/** The longest wait after a late connection, in milliseconds: each wait is twice the one before. */
const longestRetryMs = 1_600
/**
 * The time for which this side waits for the connection of a peer that dials too before it tries again, in
 * milliseconds.
 */
const supersededMs = 1_600

/**
 * Connects processes in pairs. Both may dial at the same time: then the connection that the lower process has dialed
 * stays, and the other one is closed. Each side decides so alone. The lower process refuses the other's connection as
 * long as it dials itself. The higher one gives up its own once the lower one has proved its identity.
 *
 * There is no limit of time here: a process that computes does not answer, and only the rendezvous decides whether it
 * lives. A peer closes a connection as late or before the handshake because either side computed or too many came at
 * once. Such a connection is dialed again, up to {@link mostPutOff} times.
 *
 * Memory: a key for each other process that has been dialed or has dialed.
 */
export class Connector {
  readonly #parts: ConnectorParts
  readonly #host: ConnectorHost
  readonly #dials = new Map<number, Dial>()
  /** The keys by process, each imported once. */
  readonly #keys = new Map<number, ProofKey>()
  #closed = false

  constructor(parts: ConnectorParts, host: ConnectorHost) {
    this.#parts = parts
    this.#host = host
  }

  /** Accepts connections of peers from now on. */
  listen(): void {
    this.#parts.listener?.attach((incoming) => {
      this.#greet(incoming).catch(() => this.#refuse(incoming.socket, closeCode.malformed))
    })
  }

  dial(peer: number): void {
    this.#dial(peer, noTries)
  }

  #dial(peer: number, tries: Tries): void {
    const { transport, membership } = this.#parts
    const { world, process: from } = membership
    let socket: Socket
    try {
      socket = transport.dial(membership.addresses[peer] ?? '')
    } catch (error) {
      this.#host.failed(peer, `cannot be dialed: ${reasonText(error)}`)
      return
    }
    socket.binaryType = 'arraybuffer'
    const dial: Dial = { socket, nonce: newNonce() }
    this.#dials.set(peer, dial)
    let lastError = ''
    let isPutOffEarly = false
    socket.addEventListener('open', () => {
      const hello: Hello = {
        ...{ kind: 'hello', version: dataVersion, world, from, to: peer, nonce: dial.nonce },
      }
      socket.unref?.()
      socket.send(encodeIntroduction<'hello'>(hello))
    })
    socket.addEventListener('error', (event) => {
      lastError = socketErrorText(event)
      isPutOffEarly = isPutOff(event)
    })
    socket.addEventListener('close', ({ code, reason }) => {
      if (this.#dials.get(peer)?.socket !== socket) return
      const ending = isPutOffEarly ? closeCode.late : code
      const next = triesAfter(tries, ending)
      if (next.failed < mostFailed && next.putOff < mostPutOff) this.#dialAgain(peer, next, ending)
      else this.#fail(peer, socket, unreachable(next, code, [reason, lastError]))
    })
    const answered = ({ data }: { readonly data: unknown }) => {
      socket.removeEventListener('message', answered)
      this.#prove(peer, dial, data).catch((error) => this.#fail(peer, socket, reasonText(error)))
    }
    socket.addEventListener('message', answered)
  }

  /** Gives up the connections that are not complete yet. */
  close(): void {
    this.#closed = true
    for (const peer of [...this.#dials.keys()]) this.abandon(peer)
  }

  /** Gives up the own connection to `peer`, if it is not complete. */
  abandon(peer: number): void {
    const dial = this.#dials.get(peer)
    this.#dials.delete(peer)
    if (dial !== undefined) drop(dial.socket, closeCode.superseded, 'superseded')
  }

  async #prove(peer: number, dial: Dial, data: unknown): Promise<void> {
    const { socket } = dial
    const answer = decodeIntroduction(data, 'answer')
    const { world, process: from } = this.#parts.membership
    const meeting: Meeting = { world, from, nonceFrom: dial.nonce, to: peer, nonceTo: answer.nonce }
    const key = this.#keyWith(peer)
    if ((await key?.check('accepted', meeting, answer.proof)) !== true) throw new Error('its proof is wrong')
    const proof = await key!.make('dialed', meeting)
    if (this.#dials.get(peer) !== dial || socket.readyState !== socketState.open) return
    // Batches may follow `ready` in the same turn, so nothing may be awaited after this point.
    const ready = ({ data: text }: { readonly data: unknown }) => {
      socket.removeEventListener('message', ready)
      try {
        decodeIntroduction(text, 'ready')
      } catch (error) {
        this.#fail(peer, socket, reasonText(error))
        return
      }
      if (this.#dials.get(peer) !== dial) return
      this.#dials.delete(peer)
      this.#host.connected(peer, socket)
    }
    socket.addEventListener('message', ready)
    socket.send(encodeIntroduction<'proof'>({ kind: 'proof', proof }))
  }

  #fail(peer: number, socket: Socket, reason: string): void {
    if (this.#dials.get(peer)?.socket !== socket) return
    this.abandon(peer)
    this.#host.failed(peer, reason)
  }

  /** Dials again unless the peer has connected, or is lost, meanwhile. */
  #dialAgain(peer: number, tries: Tries, code: number): void {
    this.#dials.delete(peer)
    this.#parts.clock.later(pauseMs(tries, code), () => {
      if (!this.#closed && !this.#dials.has(peer) && this.#host.awaits(peer)) this.#dial(peer, tries)
    })
  }

  async #greet({ socket, hello }: IncomingSocket): Promise<void> {
    const { world, process: to } = this.#parts.membership
    const { from } = hello
    if (hello.version !== dataVersion) {
      const reason = `expected version ${dataVersion} of data connections, got ${hello.version}`
      this.#refuse(socket, closeCode.malformed, reason)
      return
    }
    const key = this.#keyWith(from)
    if (hello.world !== world || hello.to !== to || key === undefined) {
      this.#refuse(socket, closeCode.malformed)
      return
    }
    if (!this.#admits(from, socket)) return
    socket.binaryType = 'arraybuffer'
    const meeting: Meeting = { world, from, nonceFrom: hello.nonce, to, nonceTo: newNonce() }
    const proof = await key.make('accepted', meeting)
    if (socket.readyState !== socketState.open) return
    const proved = ({ data }: { readonly data: unknown }) => {
      socket.removeEventListener('message', proved)
      void this.#decide(socket, key, meeting, data)
    }
    socket.addEventListener('message', proved)
    socket.send(encodeIntroduction<'answer'>({ kind: 'answer', nonce: meeting.nonceTo, proof }))
  }

  async #decide(socket: Socket, key: ProofKey, meeting: Meeting, data: unknown): Promise<void> {
    const isPeer = await isProof(key, meeting, data)
    if (!isPeer) this.#refuse(socket, closeCode.proof)
    else if (socket.readyState === socketState.open && this.#admits(meeting.from, socket)) {
      this.#adopt(meeting.from, socket)
    }
  }

  /** Refuses a connection that is not to be the link to `peer`. */
  #admits(peer: number, socket: Socket): boolean {
    if (this.#closed || !this.#host.wants(peer)) {
      this.#refuse(socket, closeCode.occupied)
      return false
    }
    if (this.#dials.has(peer) && this.#parts.membership.process < peer) {
      this.#refuse(socket, closeCode.superseded)
      return false
    }
    return true
  }

  #adopt(peer: number, socket: Socket): void {
    this.abandon(peer)
    this.#parts.listener?.introduced(socket)
    socket.send(encodeIntroduction<'ready'>({ kind: 'ready' }))
    this.#host.connected(peer, socket)
  }

  #refuse(socket: Socket, code: number, reason?: string): void {
    // If the peer does not answer, its time limit drops it.
    socket.close(code, reason)
  }

  /** Returns the key; undefined if there may be no connection with `peer`, or `peer` is not another process. */
  #keyWith(peer: number): ProofKey | undefined {
    const known = this.#keys.get(peer)
    if (known !== undefined) return known
    const peerKey = this.#parts.membership.peerKeys[peer] ?? undefined
    if (peerKey === undefined) return undefined
    const key = new ProofKey(peerKey)
    this.#keys.set(peer, key)
    return key
  }
}

function triesAfter({ failed, putOff }: Tries, code: number): Tries {
  if (code === closeCode.late || code === closeCode.superseded) return { failed, putOff: putOff + 1 }
  const isFinal = code === closeCode.malformed || code === closeCode.proof
  return { failed: isFinal ? mostFailed : failed + 1, putOff }
}

function pauseMs({ putOff }: Tries, code: number): number {
  // The peer dials too, and its connection stays. Either it arrives, or the peer has ended and no longer dials.
  if (code === closeCode.superseded) return supersededMs
  return code === closeCode.late ? Math.min(retryMs * 2 ** (putOff - 1), longestRetryMs) : retryMs
}

function unreachable({ putOff }: Tries, code: number, details: readonly string[]): string {
  const first = putOff < mostPutOff ? '' : ` after ${putOff} connections that it put off`
  return [`cannot be reached${first} (${code})`, ...details].filter(Boolean).join(': ')
}

async function isProof(key: ProofKey, meeting: Meeting, data: unknown): Promise<boolean> {
  try {
    return await key.check('dialed', meeting, decodeIntroduction(data, 'proof').proof)
  } catch {
    return false
  }
}
