import type { Clock } from '../../base/clock.js'
import type { CommRuntime } from '../../comm/comm-state.js'
import type { Communicator } from '../../comm/communicator.js'
import { RankweaveError } from '../../errors.js'
import { hostMember } from '../../launch/websocket/member.js'
import { type MountedWorld, openWorld } from '../../launch/websocket/rendezvous.js'
import { ownVersion } from '../../package-paths.js'
import { joinWorld } from '../../websocket/rendezvous/join-world.js'
import type { Membership } from '../../websocket/rendezvous/membership.js'
import type { Rendezvous } from '../../websocket/rendezvous/rendezvous.js'
import type { Socket } from '../../websocket/socket/socket.js'
import { openWebSocket } from '../../websocket/websocket.js'
import { socketPair } from './socket-pair.js'
import { summedWaiting, type WaitingMessages, waitingIn } from './waiting-messages.js'
import type { WorldHost } from './world-host.js'

/** How long a world that has failed waits for programs that do not take part in its end, in milliseconds. */
const graceMs = 5_000

/**
 * What a process may have sent to another one that has not received it, in bytes. Members receive no data, so
 * whatever a program sends to one stays here: this bounds it, and leaves much more than calls that make
 * communicators need.
 */
const creditBytes = 2 ** 20

export interface MixedHostOptions {
  readonly rendezvous: Rendezvous
  /** Members that ask: processes 0 to `members - 1`, one rank each. */
  readonly members: number
  /** Processes that run programs: those after them, one rank each. */
  readonly programs: number
  readonly clock: Clock
}

/**
 * A world of members that drive their ranks by requests, and of processes that run programs, on a rendezvous. Each member is represented
 * by a process in this one, which joins over a connection in memory when all members are there. It accepts no
 * connections and makes none, so what programs say of their addresses leads nowhere: all that members and
 * programs exchange is relayed.
 */
export class MixedHost implements WorldHost {
  readonly programs: { readonly count: number; readonly token: string }
  readonly #members: number
  readonly #clock: Clock
  readonly #world: MountedWorld
  /** To the rendezvous, by process. */
  #sockets: readonly Socket[] = []
  /** Processes of members, once the world runs. */
  readonly #running: CommRuntime[] = []
  /** Until all processes have joined. */
  #starting: AbortController | undefined
  /** Processes that are lost by {@link lose}. */
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
   * Its rank has returned, as that of a program does: the process stays to the end of the world, and no
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
          // For the longest queue. Members receive no messages, which would take longer.
          matching: { count: true },
          // Members think as long as they like: that none of them calls is no deadlock.
          detectDeadlock: false,
          onFailed: (_, afterSurvived) => this.#failed(membership.process, afterSurvived),
        },
      )
    } catch (error) {
      // The others know what has become of it.
      if (!this.#gone.has(membership.process)) throw error
    }
  }

  /** A program that computes without end takes no part in the end of the world. */
  #failed(process: number, afterSurvived: boolean): void {
    if (afterSurvived || this.#hasFailed || this.#gone.has(process)) return
    this.#hasFailed = true
    this.#clock.later(graceMs, () => this.#world.close('it has failed'))
  }
}

function join(socket: Socket, process: number, signal: AbortSignal, clock: Clock): Promise<Membership> {
  return joinWorld({
    ...{ url: 'memory:', token: '', program: 'service', version: ownVersion(), node: 'service' },
    ...{ process, listenUrl: null, transport: { dial: () => socket }, signal, clock },
  })
}

/** No process of a service has an address, and to such a process everything is relayed. */
function refuseToDial(): Socket {
  throw new RankweaveError('ERR_FABRIC', 'a process of a service makes no connections')
}
