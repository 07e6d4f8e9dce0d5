import type { Clock } from '../../base/clock.js'
import type { CommRuntime } from '../../comm/comm-state.js'
import { RankweaveError } from '../../errors.js'
import type { Communicator } from '../../handles/communicator.js'
import { endGraceMs } from '../../launch/processes/process-protocol.js'
import { hostMember } from '../../launch/websocket/member.js'
import { type MountedWorld, openWorld } from '../../launch/websocket/rendezvous.js'
import { ownVersion } from '../../package-paths.js'
import { joinWorld } from '../../websocket/rendezvous/join-world.js'
import type { Membership } from '../../websocket/rendezvous/membership.js'
import type { Rendezvous } from '../../websocket/rendezvous/rendezvous.js'
import {
  type Socket,
  type SocketClose,
  type SocketError,
  type SocketMessage,
  socketState,
} from '../../websocket/socket/socket.js'
import { openWebSocket } from '../../websocket/websocket.js'
import { summedWaiting, type WaitingMessages, type WorldHost, waitingIn } from './world-host.js'

/**
 * The bytes that a process may have sent to another one that has not received them. Members receive no data, so the
 * messages of a program to one stay here. This bounds them, and leaves much more than calls that make communicators
 * need.
 */
const creditBytes = 2 ** 20

interface MixedHostOptions {
  readonly rendezvous: Rendezvous
  /** The number of members that ask: processes 0 to `members - 1`, one rank each. */
  readonly members: number
  /** The number of processes that run programs: those after the members, one rank each. */
  readonly programs: number
  readonly clock: Clock
}

/**
 * A world of members that drive their ranks by requests, and of processes that run programs, on a rendezvous. A process
 * in this one represents each member; it joins over a connection in memory when all members are present. It accepts no
 * connections and makes none, so addresses that programs state lead nowhere: all messages between members and programs
 * are relayed.
 */
export class MixedHost implements WorldHost {
  readonly programs: { readonly count: number; readonly token: string }
  readonly #members: number
  readonly #clock: Clock
  readonly #world: MountedWorld
  /** The sockets to the rendezvous, by process. */
  #sockets: readonly Socket[] = []
  /** The processes of members, once the world runs. */
  readonly #running: CommRuntime[] = []
  /** The start, until all processes have joined. */
  #starting: AbortController | undefined
  /** The processes that are lost by {@link lose}. */
  readonly #gone = new Set<number>()
  #lost: (worldRank: number, reason: string) => void = () => {}
  #hasFailed = false

  /**
   * @throws ERR_WORLD for too many processes, ERR_LIMIT for too many worlds, ERR_WORLD_LOST when the
   *   rendezvous is closed
   */
  constructor({ rendezvous, members, programs, clock }: MixedHostOptions) {
    this.#members = members
    this.#clock = clock
    this.#world = openWorld(rendezvous, {
      ...{ ranks: members + programs, own: members, creditBytes },
      onLost: (process, reason) => {
        if (process >= members) this.#lost(process, reason)
      },
    })
    this.programs = { count: programs, token: this.#world.token }
  }

  async run(
    begin: (world: Communicator) => Promise<void>,
    lost: (worldRank: number, reason: string) => void,
  ): Promise<void> {
    this.#lost = lost
    const starting = new AbortController()
    this.#starting = starting
    const pairs = Array.from({ length: this.#members }, () => socketPair())
    this.#sockets = pairs.map(([own]) => own)
    for (const [, other] of pairs) this.#world.admit(other)
    const joined = await Promise.all(
      this.#sockets.map((socket, process) => join(socket, process, starting.signal, this.#clock)),
    )
    this.#starting = undefined
    await Promise.all(joined.map((membership) => this.#host(membership, begin)))
    await this.#world.ended
  }

  abandon(): boolean {
    if (this.#starting === undefined) return false
    this.#starting.abort()
    this.#starting = undefined
    return true
  }

  lose(worldRank: number, reason: string): void {
    this.#gone.add(worldRank)
    this.#sockets[worldRank]?.close(1001, reason)
  }

  /**
   * Does nothing: its rank has returned, as that of a program does. The process stays to the end of the world, and no
   * process has to do without it.
   */
  leave(): void {}

  waiting(): WaitingMessages {
    return summedWaiting(this.#running.map(waitingIn))
  }

  fail(reason: string): void {
    this.#world.close(reason)
  }

  async #host(membership: Membership, begin: (world: Communicator) => Promise<void>): Promise<void> {
    const session = openWebSocket(membership, { dial: refuseToDial })
    try {
      await hostMember(
        { membership, session },
        {
          main: (world) => {
            this.#running.push(world.seat().state.runtime)
            return begin(world)
          },
        },
        {
          ...{ ranks: membership.processes, creditBytes },
          // Counting gives the longest queue. Members receive no messages, which would take longer.
          matching: { count: true },
          // Members may think without end: if none of them calls, that is not a deadlock.
          detectDeadlock: false,
          onFailed: (_, afterSurvived) => this.#failed(membership.process, afterSurvived),
        },
      )
    } catch (error) {
      // The others know why this process is gone.
      if (!this.#gone.has(membership.process)) throw error
    }
  }

  /** Bounds the end of a failed world, because a program that computes without end takes no part in it. */
  #failed(process: number, afterSurvived: boolean): void {
    if (afterSurvived || this.#hasFailed || this.#gone.has(process)) return
    this.#hasFailed = true
    this.#clock.later(endGraceMs, () => this.#world.close('it has failed'))
  }
}

function join(socket: Socket, process: number, signal: AbortSignal, clock: Clock): Promise<Membership> {
  return joinWorld({
    ...{ url: 'memory:', token: '', program: 'service', version: ownVersion(), node: 'service' },
    ...{ process, listenUrl: null, transport: { dial: () => socket }, signal, clock },
  })
}

/** Throws: no process of a service has an address, and everything to such a process is relayed. */
function refuseToDial(): Socket {
  throw new RankweaveError('ERR_FABRIC', 'a process of a service makes no connections')
}

type Listener = (event: SocketMessage & SocketClose & SocketError) => void

/**
 * Makes a connection between two parts of this process, open at once. A message of one end arrives at the other in a
 * microtask, in order. So all consequences of one event of the network have arrived before the next event.
 */
export function socketPair(): readonly [Socket, Socket] {
  const [a, b] = [new PairedEnd(), new PairedEnd()]
  a.peer = b
  b.peer = a
  queueMicrotask(() => {
    for (const end of [a, b]) end.emit('open', {})
  })
  return [a, b]
}

class PairedEnd implements Socket {
  binaryType = 'arraybuffer'
  readyState: number = socketState.open
  bufferedAmount = 0
  peer!: PairedEnd
  readonly #listeners = new Map<string, Set<Listener>>()

  send(data: string | Uint8Array<ArrayBuffer>): void {
    if (this.readyState !== socketState.open) return
    const size = typeof data === 'string' ? data.length : data.byteLength
    this.bufferedAmount += size
    queueMicrotask(() => {
      this.bufferedAmount -= size
      if (this.peer.readyState !== socketState.closed) this.peer.emit('message', { data })
    })
  }

  close(code = 1005, reason = ''): void {
    if (this.readyState !== socketState.open) return
    this.readyState = socketState.closing
    queueMicrotask(() => {
      for (const end of [this.peer, this]) end.#ended(code, reason)
    })
  }

  addEventListener(type: string, listener: Listener): void {
    const listeners = this.#listeners.get(type) ?? new Set<Listener>()
    listeners.add(listener)
    this.#listeners.set(type, listeners)
  }

  removeEventListener(type: string, listener: Listener): void {
    this.#listeners.get(type)?.delete(listener)
  }

  emit(type: string, event: Partial<SocketMessage & SocketClose>): void {
    for (const listener of [...(this.#listeners.get(type) ?? [])]) listener(event as Parameters<Listener>[0])
  }

  #ended(code: number, reason: string): void {
    if (this.readyState === socketState.closed) return
    this.readyState = socketState.closed
    this.emit('close', { code, reason })
  }
}
