import { type Clock, realClock } from '../../base/clock.js'
import { isRankweaveError, RankweaveError, reasonText } from '../../errors.js'
import { RemoteAuthority } from '../../fabric/authority.js'
import type { Authority } from '../../fabric/fabric.js'
import { KeepAlive } from '../../fabric/own-handles.js'
import { defaultWorldLimits, protocolVersion, type WorldLimits } from '../protocol/limits.js'
import {
  type BreakCause,
  decodeFromRendezvous,
  encodeControl,
  encodeRelayed,
  type FromRendezvous,
  relayedHeaderBytes,
  relayedProcess,
  requireRelayable,
  type ToRendezvous,
  type Welcome,
} from '../protocol/messages.js'
import { refusalOf } from '../protocol/refusals.js'
import { fromHex, randomBytes, toHex } from '../protocol/secrets.js'
import {
  messageBytes,
  type Socket,
  type SocketTransport,
  socketErrorText,
  socketState,
} from '../socket/socket.js'
import type { StartHeartbeats } from './heartbeats.js'
import { SilenceMonitor } from './heartbeats.js'
import { closeSoon, refusalFrom, worldLost } from './refuse.js'

export interface JoinWorldOptions {
  /** The URL of the rendezvous: `ws:` or `wss:`. */
  readonly url: string
  readonly token: string
  /** The digest of the program, the same at all members. */
  readonly program: string
  /** The version of Rankweave. */
  readonly version: string
  /** The checksum of the tuning file, the same at all members. Default: none. */
  readonly tuning?: string
  /** The node label. */
  readonly node: string
  /** The number to ask for. Default: one that is free when all have joined, by order of joining. */
  readonly process?: number
  /**
   * The URL at which other members dial this process; null if it cannot be dialled, so that they reach it through the
   * rendezvous.
   */
  readonly listenUrl: string | null
  readonly transport: SocketTransport
  /**
   * Starts a thread that sends heartbeats over a separate socket. Default: none; then a process whose event loop does
   * not turn for `silenceMs` is lost.
   */
  readonly startHeartbeats?: StartHeartbeats
  /** The signal that ends the wait for the other members. */
  readonly signal?: AbortSignal
  /** Called once, when this process has been accepted: members so far, and of the complete world. */
  readonly onWaiting?: (joined: number, processes: number) => void
  /** The clock, for tests. */
  readonly clock?: Clock
}

/**
 * The milliseconds until a request that found the rendezvous crowded is made again; their sum exceeds the time that a
 * silent socket may stay.
 */
const pausesMs = [250, 500, 1_000, 2_000, 4_000]

/**
 * Joins a world. Resolves when all its processes have joined. While the rendezvous has too many connections, the
 * request is repeated five times within 8 seconds.
 *
 * @throws ERR_TOKEN, ERR_PROGRAM_MISMATCH, ERR_VERSION_MISMATCH, ERR_TUNING_MISMATCH, ERR_WORLD_FULL, ERR_WORLD,
 *   ERR_REPLAYED and ERR_LIMIT as the rendezvous refuses; ERR_WORLD_LOST when it cannot be reached or goes away, with
 *   the network's reason; ERR_PROTOCOL when it is not a rendezvous; ERR_ABORTED by `signal`; ERR_ARGUMENT for an
 *   invalid URL
 */
export function joinWorld(options: JoinWorldOptions): Promise<Membership> {
  const { signal, clock = realClock } = options
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) {
      reject(aborted(signal))
      return
    }
    const keepAlive = new KeepAlive()
    let giveUp: (error: RankweaveError) => void
    const abort = () => giveUp(aborted(signal!))
    const settled = () => {
      keepAlive.close()
      signal?.removeEventListener('abort', abort)
    }
    const attempt = (n: number) => {
      const joining = new Joining(options, dial(options), (outcome) => {
        const pauseMs = pausesMs[n]
        if (!(outcome instanceof RankweaveError)) {
          settled()
          resolve(outcome)
        } else if (outcome.code === 'ERR_LIMIT' && !joining.wasAccepted && pauseMs !== undefined) {
          keepAlive.ref()
          const cancel = clock.later(pauseMs, () => {
            keepAlive.unref()
            attempt(n + 1)
          })
          giveUp = (error) => {
            cancel()
            settled()
            reject(error)
          }
        } else {
          settled()
          reject(outcome)
        }
      })
      giveUp = (error) => joining.fail(error)
    }
    attempt(0)
    signal?.addEventListener('abort', abort)
  })
}

/** The member's end of the socket to the rendezvous, from the request to join to the last message. */
class Joining {
  readonly #options: JoinWorldOptions
  readonly #socket: Socket
  readonly #clock: Clock
  readonly #settle: (outcome: JoinedMember | RankweaveError) => void
  #member: JoinedMember | undefined
  #isSettled = false
  /** Whether the request was granted: the world waits for others, or has begun. */
  wasAccepted = false
  /** The last error of the network. */
  #lastError = ''
  /** Whether arriving messages are no longer read. */
  #isOver = false
  #silence: SilenceMonitor<Socket>
  #cancelBeat: (() => void) | undefined
  #stopHeartbeats: (() => void) | undefined

  constructor(
    options: JoinWorldOptions,
    socket: Socket,
    settle: (outcome: JoinedMember | RankweaveError) => void,
  ) {
    this.#options = options
    this.#socket = socket
    this.#clock = options.clock ?? realClock
    this.#settle = settle
    socket.binaryType = 'arraybuffer'
    this.#silence = this.#watched(defaultWorldLimits)
    socket.addEventListener('open', () => socket.send(encodeControl(this.#request())))
    socket.addEventListener('message', ({ data }) => this.#message(data))
    socket.addEventListener('error', (event) => {
      this.#lastError = socketErrorText(event)
    })
    socket.addEventListener('close', ({ code, reason }) => this.#closed(code, reason))
  }

  /** Ends it; the first error is the one that counts. */
  fail(error: RankweaveError): void {
    this.#stop()
    this.#settleOnce(error)
    if (this.#member !== undefined) this.#member.fail(error)
    else closeSoon(this.#socket, this.#clock, 1000, 'gave up')
  }

  #request() {
    const { token, program, version, tuning, node, process = null, listenUrl } = this.#options
    return {
      ...({ kind: 'join', protocol: protocolVersion, nonce: toHex(randomBytes(16)) } as const),
      ...{ token, program, library: version, node, process, address: listenUrl },
      ...(tuning === undefined ? {} : { tuning }),
    }
  }

  #message(data: unknown): void {
    if (this.#isOver) return
    this.#silence.heard(this.#socket)
    try {
      const bytes = messageBytes(data)
      if (bytes === undefined) this.#control(decodeFromRendezvous(data as string))
      else if (this.#member !== undefined) this.#member.relayed(bytes)
      else throw new RankweaveError('ERR_PROTOCOL', `expected 'welcome' of the rendezvous, got bytes`)
    } catch (error) {
      this.fail(refusalFrom(error))
    }
  }

  #control(message: FromRendezvous): void {
    if (this.#member !== undefined) this.#member.control(message)
    else if (message.kind === 'welcome') this.#begin(message)
    else if (message.kind === 'refused') this.fail(new RankweaveError(message.code, message.message))
    else if (message.kind === 'waiting') {
      this.wasAccepted = true
      this.#silence.forget(this.#socket)
      this.#silence = this.#watched(message)
      this.#beat(message.heartbeatMs)
      this.#options.onWaiting?.(message.joined, message.processes)
    } else if (message.kind !== 'beat') {
      throw new RankweaveError('ERR_PROTOCOL', `expected 'welcome' of the rendezvous, got '${message.kind}'`)
    }
  }

  #begin(welcome: Welcome): void {
    const { world, process, heartbeatKey, limits, nodes, addresses, peerKeys } = welcome
    if (process >= nodes.length || [addresses, peerKeys].some(({ length }) => length !== nodes.length)) {
      throw new RankweaveError(
        'ERR_PROTOCOL',
        `'welcome': expected ${nodes.length} addresses and keys, and a process below`,
      )
    }
    this.#member = new JoinedMember(this.#socket, welcome, this.#clock, () => this.#stop())
    const { url, startHeartbeats } = this.#options
    if (startHeartbeats !== undefined) {
      const request = {
        kind: 'heartbeat',
        protocol: protocolVersion,
        world,
        process,
        secret: heartbeatKey,
      } as const
      const { heartbeatMs, silenceMs } = limits
      const heartbeats = startHeartbeats(
        { url, request: encodeControl(request), heartbeatMs, silenceMs },
        (reason) => this.fail(worldLost(reason)),
      )
      this.#stopHeartbeats = () => heartbeats.stop()
    }
    this.#settleOnce(this.#member)
  }

  /**
   * Beats from this event loop, whether or not a thread sends beats too: they detect a socket that is dead while that
   * of the thread lives.
   */
  #beat(everyMs: number): void {
    this.#cancelBeat?.()
    this.#cancelBeat = this.#clock.later(everyMs, () => {
      if (this.#socket.readyState === socketState.open) this.#socket.send(beat)
      this.#beat(everyMs)
    })
  }

  #watched(limits: { readonly heartbeatMs: number; readonly silenceMs: number }): SilenceMonitor<Socket> {
    const monitor = new SilenceMonitor<Socket>(limits, this.#clock, () =>
      this.fail(worldLost(`the rendezvous has been silent for ${limits.silenceMs} ms`)),
    )
    monitor.heard(this.#socket)
    return monitor
  }

  #closed(code: number, reason: string): void {
    this.#stop()
    const error = closedError(this.#options.url, code, reason || this.#lastError, this.#isSettled)
    if (this.#member === undefined) this.#settleOnce(error)
    else this.#member.closed(error)
  }

  #stop(): void {
    this.#isOver = true
    this.#silence.forget(this.#socket)
    this.#cancelBeat?.()
    this.#stopHeartbeats?.()
    this.#stopHeartbeats = undefined
  }

  #settleOnce(outcome: JoinedMember | RankweaveError): void {
    if (this.#isSettled) return
    this.#isSettled = true
    this.#settle(outcome)
  }
}

const beat = encodeControl({ kind: 'beat' })

function dial({ url, transport }: JoinWorldOptions): Socket {
  try {
    return transport.dial(url)
  } catch (error) {
    if (isRankweaveError(error)) throw error
    throw new RankweaveError('ERR_ARGUMENT', `joinWorld: expected a URL of ws: or wss:, got '${url}'`, {
      cause: reasonText(error),
    })
  }
}

function closedError(url: string, code: number, reason: string, hasJoined: boolean): RankweaveError {
  const refusal = refusalOf(code)
  if (refusal !== undefined) return new RankweaveError(refusal, `the rendezvous refused: ${reason}`)
  if (code === 1009) {
    return new RankweaveError('ERR_MESSAGE_TOO_LARGE', 'a message was longer than the rendezvous permits')
  }
  const what = hasJoined ? 'is lost' : 'cannot be reached, or is no rendezvous'
  const why = `code ${code}${reason === '' ? '' : `, ${reason}`}`
  return worldLost(`the rendezvous at ${url} ${what} (${why})${hasJoined ? '' : remedyOf(url, reason)}`)
}

/** Returns a remedy for a process that did not reach the rendezvous; empty if none is known. */
function remedyOf(url: string, reason: string): string {
  if (/certificate/i.test(reason)) return '; ca, or --ca FILE, is the certificate to trust'
  if (/EAI_AGAIN|ENOTFOUND/.test(reason)) return '; use the IP address of its host'
  return /hang up|ECONNRESET/.test(reason) && url.startsWith('ws:')
    ? '; with TLS its URL begins with wss:'
    : ''
}

function aborted(signal: AbortSignal): RankweaveError {
  return new RankweaveError('ERR_ABORTED', 'joinWorld was aborted', { cause: signal.reason })
}

/** A process of a world that has begun, over its socket to the rendezvous; `joinWorld` makes it. */
class JoinedMember implements Membership {
  readonly world: string
  readonly process: number
  readonly processes: number
  readonly nodes: readonly string[]
  readonly addresses: readonly (string | null)[]
  readonly peerKeys: readonly (Uint8Array | null)[]
  readonly limits: WorldLimits
  readonly settings: string
  readonly #socket: Socket
  readonly #clock: Clock
  readonly #lost = new Set<number>()
  readonly #authority: RemoteAuthority
  readonly #closed: Promise<void>
  #resolveClosed!: () => void
  #state: 'joined' | 'leaving' | 'ended' = 'joined'
  #events: MembershipEvents | undefined
  /** The events before `attach`. */
  #early: ((events: MembershipEvents) => void)[] = []
  #relayedBytes = 0
  /** Called once when this process leaves or the world is lost. */
  readonly #ended: () => void

  constructor(socket: Socket, welcome: Welcome, clock: Clock, ended: () => void) {
    this.world = welcome.world
    this.process = welcome.process
    this.processes = welcome.nodes.length
    this.nodes = welcome.nodes
    this.addresses = welcome.addresses
    this.peerKeys = welcome.peerKeys.map((key) => (key === null ? null : fromHex(key)))
    this.limits = welcome.limits
    this.settings = welcome.settings
    this.#socket = socket
    this.#clock = clock
    this.#ended = ended
    // Waits keep the event loop alive. This socket must not, so that an empty event loop is noticed.
    socket.unref?.()
    this.#closed = new Promise((resolve) => {
      this.#resolveClosed = resolve
    })
    this.#authority = new RemoteAuthority((key, members, contribution) =>
      this.#send({ kind: 'decide', key, members: [...members], contribution: toHex(contribution) }),
    )
  }

  get authority(): Authority {
    return this.#authority
  }

  get relayBufferedBytes(): number {
    return this.#relayedBytes
  }

  attach(events: MembershipEvents): void {
    // The call runs in a separate task, like all later events; events until then follow it.
    queueMicrotask(() => {
      const early = this.#early
      this.#early = []
      this.#events = events
      for (const deliver of early) deliver(events)
    })
  }

  reportBroken(peer: number, reason: string, cause: BreakCause): void {
    if (this.#lost.has(peer)) return
    this.#send({ kind: 'broken', process: peer, cause, reason: reason.slice(0, 500) })
  }

  probe(peer: number): void {
    this.#send({ kind: 'probe', process: peer })
  }

  relay(to: number, message: Uint8Array): void {
    requireRelayable(message.byteLength, this.limits.maxMessageBytes)
    if (this.#state !== 'joined' || this.#lost.has(to)) return
    const relayed = encodeRelayed(to, message)
    this.#relayedBytes += relayed.byteLength
    this.#socket.send(relayed)
  }

  async leave(failure?: string): Promise<void> {
    if (this.#state === 'joined') {
      this.#send({ kind: 'leave', ...(failure === undefined ? {} : { failure: failure.slice(0, 500) }) })
      this.#socket.ref?.()
      this.#end('leaving', new RankweaveError('ERR_FABRIC', 'this process has left its world'))
      // The rendezvous closes the socket; if it does not, this side does.
      const cancel = this.#clock.later(leaveMs, () => closeSoon(this.#socket, this.#clock, 1000, 'left'))
      this.#socket.addEventListener('close', cancel)
    }
    await this.#closed
  }

  control(message: FromRendezvous): void {
    if (this.#state !== 'joined') return
    switch (message.kind) {
      case 'lost':
        this.#lost.add(message.process)
        this.#deliver((events) => events.lost(message.process, message.reason))
        break
      case 'decided': {
        const { key, lost } = message
        const contributions = message.contributions.map((text) => (text === null ? null : fromHex(text)))
        this.#authority.decided(key, { contributions, lost })
        break
      }
      case 'handed':
        this.#relayedBytes -= message.bytes
        break
      case 'refused':
        this.fail(new RankweaveError(message.code, message.message))
        break
      case 'probe':
        this.#deliver((events) => {
          events.probed?.(message.process)
          this.#send({ kind: 'present', process: message.process })
        })
        break
      case 'present':
        this.#deliver((events) => events.present?.(message.process))
        break
      case 'beat':
        break
      default:
        throw new RankweaveError('ERR_PROTOCOL', `expected no '${message.kind}' after 'welcome'`)
    }
  }

  /** Handles a message of another member. */
  relayed(relayed: Uint8Array): void {
    if (this.#state !== 'joined') return
    const from = relayedProcess(relayed, this.processes, this.limits.maxMessageBytes)
    if (this.#lost.has(from)) return
    const message = relayed.subarray(relayedHeaderBytes)
    this.#deliver((events) => events.relayed(from, message))
  }

  /** Notes that the world is lost to this process. Later failures follow from the first. */
  fail(error: RankweaveError): void {
    if (this.#state !== 'joined') return
    this.#end('ended', error)
    closeSoon(this.#socket, this.#clock, 1000, 'ended')
    this.#deliver((events) => events.worldLost(error))
  }

  /** Notes that the socket has closed. */
  closed(error: RankweaveError): void {
    this.fail(error)
    this.#resolveClosed()
  }

  #end(state: 'leaving' | 'ended', error: RankweaveError): void {
    this.#state = state
    this.#authority.fail(error)
    this.#ended()
  }

  #deliver(deliver: (events: MembershipEvents) => void): void {
    if (this.#events === undefined) this.#early.push(deliver)
    else deliver(this.#events)
  }

  #send(message: ToRendezvous): void {
    if (this.#state !== 'joined' || this.#socket.readyState !== socketState.open) return
    this.#socket.send(encodeControl(message))
  }
}

/** The time within which the rendezvous must close the socket of a process that leaves, in milliseconds. */
const leaveMs = 2_000

/** The state of a process's world, kept current by the rendezvous. */
export interface Membership {
  /** The name of the world among those of its rendezvous; not secret. */
  readonly world: string
  /** The number of this process, 0-based. */
  readonly process: number
  readonly processes: number
  /** The node label of every process. */
  readonly nodes: readonly string[]
  /** The URL to dial each process; null if it is reached only through the rendezvous (`relay`). */
  readonly addresses: readonly (string | null)[]
  /**
   * The keys shared with each other process, 32 random bytes each, which only the two know: they key the proofs on data
   * connections (HMAC-SHA-256). null: there is no data connection with it.
   */
  readonly peerKeys: readonly (Uint8Array | null)[]
  readonly limits: WorldLimits
  /** The text that the creator of the world passes to all its processes; '' if there is none. */
  readonly settings: string
  /** Names the receiver of events. Called once; earlier events arrive first, in a separate task. */
  attach(events: MembershipEvents): void
  /**
   * Reports that the data socket to `peer` broke while no report said that `peer` was lost. The rendezvous collects
   * such reports for `limits.verdictMs` and then decides which process is lost; until then nothing is known.
   *
   * @param cause the fault, as far as this process knows
   */
  reportBroken(peer: number, reason: string, cause: BreakCause): void
  /** Asks `peer`, through the rendezvous, whether it is present: the answer is the event `present`, or its loss. */
  probe(peer: number): void
  /**
   * Sends a message through the rendezvous; it may be reused at once. Drops it if the receiver is lost or has left.
   *
   * @throws ERR_MESSAGE_TOO_LARGE for more than `limits.maxMessageBytes`
   */
  relay(to: number, message: Uint8Array): void
  /**
   * The relayed bytes that the rendezvous has not yet handed on, for pacing. A process that lets them grow beyond
   * `limits.maxRelayedBytes` is disconnected. Falls to 0 when nothing is in flight.
   */
  readonly relayBufferedBytes: number
  readonly authority: Authority
  /**
   * Announces that this process is done, so that it is not lost when its sockets close. Ends all events.
   *
   * @param failure why its ranks have failed, for the host of the world; truncated to 500 characters
   */
  leave(failure?: string): Promise<void>
}

export interface MembershipEvents {
  /** Reports a loss, to every member in the same order. */
  lost(process: number, reason: string): void
  /** Reports that the rendezvous is lost or has expelled this process: for it the world has failed. The last event. */
  worldLost(error: RankweaveError): void
  /** Reports that another member asks whether this process is present. When this returns, that member learns it. */
  probed?(from: number): void
  /** Reports that `peer` has answered `probe`: its event loop turns. */
  present?(peer: number): void
  /** Takes a relayed message, which the receiver may keep. */
  relayed(from: number, message: Uint8Array): void
}
