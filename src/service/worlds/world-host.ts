import type { Clock } from '../../base/clock.js'
import type { CommRuntime } from '../../comm/comm-state.js'
import { RankweaveError } from '../../errors.js'
import { type LocalSession, local } from '../../fabric/local/local.js'
import type { Communicator } from '../../handles/communicator.js'
import { endGraceMs } from '../../launch/processes/process-protocol.js'
import { hostMember } from '../../launch/websocket/member.js'
import { type MountedWorld, openWorld } from '../../launch/websocket/rendezvous.js'
import { completionsHeld } from '../../messages/process/progress.js'
import { ownVersion } from '../../package-paths.js'
import { joinWorld, type Membership } from '../../websocket/rendezvous/join-world.js'
import type { Rendezvous } from '../../websocket/rendezvous/rendezvous.js'
import {
  type Socket,
  type SocketClose,
  type SocketError,
  type SocketMessage,
  socketState,
} from '../../websocket/socket/socket.js'
import { openWebSocket } from '../../websocket/websocket.js'
import { hostSession, type RunningWorld } from '../../world/world.js'

/** The processes of a world that members drive, one for each. */
export interface WorldHost {
  /** The processes of the same world that run programs, and the token with which they join; null: it has none. */
  readonly programs: { readonly count: number; readonly token: string } | null
  /**
   * Runs the world: `begin` once for each rank that a member drives, ranks 0 to n - 1, all in one turn; its promise
   * settles when that member has left. Called again only after `abandon`.
   *
   * @param lost reports the loss of a process that runs a program, by its world rank
   * @returns when the world has ended @throws its error
   */
  run(
    begin: (world: Communicator) => Promise<void>,
    lost: (worldRank: number, reason: string) => void,
  ): Promise<void>
  /**
   * Abandons the start because a member is gone before `begin`: `run` fails, and calls nothing. False when it is too
   * late.
   */
  abandon(): boolean
  /** Ends the process of a member as by a crash; the others learn of it. */
  lose(worldRank: number, reason: string): void
  /**
   * Lets the process of a member go that has left: `begin` has settled, or is about to.
   */
  leave(worldRank: number): void
  /** Returns the messages that programs have sent to members. */
  waiting(): WaitingMessages
  /** Ends the world, or the wait for programs, with an error. */
  fail(reason: string): void
}

/** The messages of programs that wait for members, which receive none. */
export interface WaitingMessages {
  readonly messages: number
  /** The bytes of their data that are in the service. */
  readonly bytes: number
  /** The most messages that have waited for one member on one communicator. */
  readonly longest: number
}

const nothingWaits: WaitingMessages = { messages: 0, bytes: 0, longest: 0 }

/** Adds up the messages of several members or worlds. */
export function summedWaiting(all: Iterable<WaitingMessages>): WaitingMessages {
  let { messages, bytes, longest } = nothingWaits
  for (const each of all) {
    messages += each.messages
    bytes += each.bytes
    longest = Math.max(longest, each.longest)
  }
  return { messages, bytes, longest }
}

/** Counts the messages in one process, whose world counts matching. O(messages that wait) */
function waitingIn({ contexts }: CommRuntime): WaitingMessages {
  let { messages, bytes, longest } = nothingWaits
  for (const { openedMatching } of contexts)
    for (const { arrived, meter } of openedMatching?.mailboxes ?? []) {
      messages += arrived.size
      longest = Math.max(longest, meter?.unexpected.statistics.longest ?? arrived.size)
      // The data of other messages are with their senders.
      for (const { content, sizeBytes } of arrived)
        if (content.kind === 'held' || content.kind === 'filling') bytes += sizeBytes
    }
  return { messages, bytes, longest }
}

/** The milliseconds between two checks whether a member that leaves may go. */
const lookMs = 2
/** The number of checks after which it goes, whatever is in flight: a second. */
const mostLooks = 500

/** A world of members that ask only: logical processes of fabric `local`, one rank each. */
export class LocalHost implements WorldHost {
  readonly programs = null
  readonly #members: number
  readonly #clock: Clock
  /** The number of checks of every process that leaves. */
  readonly #leaving = new Map<number, number>()
  #session: LocalSession | undefined
  #world: RunningWorld | undefined
  #cancel: (() => void) | undefined
  #isOver = false

  constructor(members: number, clock: Clock) {
    this.#members = members
    this.#clock = clock
  }

  async run(begin: (world: Communicator) => Promise<void>): Promise<void> {
    const session = await local({ processes: this.#members }).open()
    this.#session = session
    try {
      await hostSession<void, undefined>(session, begin, {
        ranks: this.#members,
        // Members may think without end: if none of them calls, that is not a deadlock.
        detectDeadlock: false,
        onStart: (world) => {
          this.#world = world
        },
      })
    } finally {
      this.#isOver = true
      this.#cancel?.()
    }
  }

  /** Returns false, because its processes exist at once. */
  abandon(): boolean {
    return false
  }

  lose(worldRank: number, reason: string): void {
    this.#session?.kill(worldRank, reason)
  }

  /**
   * Lets the process of a member go when it has made its part of every call that it could. That holds in two cases: the
   * world is at rest, so that a call which is not complete would wait for this member without end; or a second has
   * passed, so that others that never rest cannot delay it without bound. That its own calls have settled is not enough:
   * a barrier that has ended here may still need the messages of others, which fails where a member is lost.
   */
  leave(worldRank: number): void {
    this.#leaving.set(worldRank, 0)
    this.#look()
  }

  waiting(): WaitingMessages {
    return nothingWaits
  }

  fail(reason: string): void {
    this.#world?.fail(new RankweaveError('ERR_WORLD_ENDED', reason))
  }

  #look(): void {
    this.#cancel ??= this.#clock.later(lookMs, () => {
      this.#cancel = undefined
      if (this.#isOver) return
      const session = this.#session!
      const isAtRest = !completionsHeld() && session.quiet()
      for (const [process, looks] of this.#leaving) {
        this.#leaving.set(process, looks + 1)
        if (!isAtRest && looks + 1 < mostLooks) continue
        this.#leaving.delete(process)
        session.kill(process, 'it has left the world')
      }
      if (this.#leaving.size > 0) this.#look()
    })
  }
}

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
