import type { Clock } from '../../base/clock.js'
import { RankweaveError } from '../../errors.js'
import { RemoteAuthority } from '../../fabric/authority.js'
import type { Authority } from '../../fabric/fabric.js'
import { encodeControl } from '../protocol/control-codec.js'
import type { WorldLimits } from '../protocol/limits.js'
import type { BreakCause, FromRendezvous, ToRendezvous, Welcome } from '../protocol/messages.js'
import { encodeRelayed, relayedHeaderBytes, relayedProcess, requireRelayable } from '../protocol/relayed.js'
import { fromHex, toHex } from '../protocol/secrets.js'
import { type Socket, socketState } from '../socket/socket.js'
import type { Membership, MembershipEvents } from './membership.js'
import { closeSoon } from './refuse.js'

/** A process of a world that has begun, over its socket to the rendezvous; `joinWorld` makes it. */
export class JoinedMember implements Membership {
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
