import { type Clock, realClock } from '../../base/clock.js'
import { checkOptions, withDefaults } from '../../base/option-table.js'
import { type WorldServiceLimits, worldServiceLimits } from '../../client/protocol/limits.js'
import type { WorldInfo } from '../../client/protocol/worlds.js'
import { RankweaveError } from '../../errors.js'
import { beyondLimit } from '../../websocket/rendezvous/refuse.js'
import { Rendezvous } from '../../websocket/rendezvous/rendezvous.js'
import type { Socket } from '../../websocket/socket/socket.js'
import type { Log } from '../log.js'
import type { Tenant } from '../tenant.js'
import { Connection } from './connection.js'
import { mostWaiting, SocketTurns, TotalUnread } from './socket-turns.js'
import { TenantWorlds, type WatchListener, WorldWatch } from './tenant-worlds.js'
import { LocalHost, MixedHost, summedWaiting, type WaitingMessages, type WorldHost } from './world-host.js'

interface WorldServiceOptions {
  /** The tenants, which find the one of a token. @throws ERR_TOKEN for a wrong one */
  readonly tenants: { find(token: string | undefined): Tenant }
  readonly limits?: Partial<WorldServiceLimits>
  /** The log, which gets no token. */
  readonly log: Log
  /** The clock, for tests. */
  readonly clock?: Clock
}

/** The numbers for a report on the service. */
interface WorldServiceMetrics {
  readonly sockets: number
  readonly worlds: number
  readonly worldsEnded: number
  readonly messages: number
}

/**
 * The worlds of members that ask over sockets of any origin. Tenants know nothing of each other. Memory: bounded by its
 * limits; per world what `ServedWorld` states.
 */
export class WorldService {
  readonly limits: WorldServiceLimits
  /** The rendezvous at which processes that run programs join such worlds. */
  readonly rendezvous: Rendezvous
  readonly #options: WorldServiceOptions
  readonly #clock: Clock
  /** The worlds of tenants that have a world, or a socket that watches. */
  readonly #tenants = new Map<string, TenantWorlds>()
  readonly #connections = new Set<Connection>()
  readonly #pending = new Set<Connection>()
  readonly #unread: TotalUnread
  readonly #socketTurns = new SocketTurns()
  #worldsEnded = 0
  #messages = 0
  #isClosed = false

  /** @throws ERR_ARGUMENT for limits that are unknown or not positive integers */
  constructor(options: WorldServiceOptions) {
    this.#options = options
    this.#clock = options.clock ?? realClock
    const { limits: given = {} } = options
    checkOptions('WorldService', worldServiceLimits, given)
    this.limits = withDefaults(worldServiceLimits, given)
    this.#unread = new TotalUnread(this.limits.maxUnreadBytes)
    // This bound is high because the worlds of each tenant are limited here.
    const limits = { maxSockets: this.limits.maxSockets, maxWorlds: 2 ** 20 }
    this.rendezvous = new Rendezvous({ clock: this.#clock, limits })
  }

  /**
   * Serves a connected socket until it closes. Called before its first message can arrive.
   *
   * @param onGreeted called when that has arrived, and was valid
   */
  accept(socket: Socket, remote: string, onGreeted = () => {}): void {
    const { limits } = this
    const queue = this.#socketTurns.of(socket, {
      receive: (data) => connection.receive(data),
      exceeded: () => connection.refuse(beyondLimit(`${mostWaiting} messages that wait to be handled`)),
    })
    const log = this.#options.log
    const connection: Connection = new Connection(socket, {
      ...{ limits, clock: this.#clock, log, unread: this.#unread },
      worldsOf: (token) => this.#of(this.#options.tenants.find(token)),
      onGreeted: () => {
        this.#settle(connection, cancel)
        onGreeted()
      },
      onOver: () => queue.over(),
    })
    const refusal = this.#cannotAccept()
    if (refusal !== undefined) {
      // A 'close' event follows.
      socket.addEventListener('error', () => {})
      connection.refuse(refusal)
      return
    }
    this.#connections.add(connection)
    this.#pending.add(connection)
    const cancel = this.#clock.later(limits.firstMessageMs, () =>
      connection.refuse(
        new RankweaveError(
          'ERR_LIMIT',
          `expected 'hello' within ${limits.firstMessageMs} ms (firstMessageMs)`,
        ),
      ),
    )
    socket.addEventListener('message', ({ data }) => {
      this.#messages++
      queue.take(data as string | Uint8Array)
    })
    socket.addEventListener('close', ({ code }) =>
      queue.end(() => {
        this.#settle(connection, cancel)
        this.#connections.delete(connection)
        connection.closed(`its socket closed (code ${code})`)
        log.info({ remote, code }, 'socket of a member closed')
      }),
    )
    socket.addEventListener('error', () => {})
  }

  list(tenant: Tenant): WorldInfo[] {
    return this.#tenants.get(tenant.id)?.list() ?? []
  }

  /**
   * Tells a listener of every world of a tenant that is new, has changed or has ended. @returns a function that stops
   * it
   */
  watch(tenant: Tenant, listener: WatchListener): () => void {
    return this.#of(tenant).watch.add(listener)
  }

  metrics(): WorldServiceMetrics {
    let worlds = 0
    for (const { count } of this.#tenants.values()) worlds += count
    return {
      ...{ sockets: this.#connections.size, worlds },
      ...{ worldsEnded: this.#worldsEnded, messages: this.#messages },
    }
  }

  /** Returns the messages that programs have sent to members, in all worlds that run. */
  waiting(): WaitingMessages {
    return summedWaiting([...this.#tenants.values()].map(({ waiting }) => waiting))
  }

  /** Ends all worlds, tells all sockets why, and accepts none from here on. */
  async close(reason = 'the service shuts down'): Promise<void> {
    this.#isClosed = true
    for (const worlds of this.#tenants.values()) worlds.close(reason)
    for (const connection of [...this.#connections]) connection.refuse(closed(reason))
    this.rendezvous.close(reason)
    for (const worlds of this.#tenants.values()) worlds.watch.stop()
  }

  #of(tenant: Tenant): TenantWorlds {
    let worlds = this.#tenants.get(tenant.id)
    if (worlds === undefined) {
      const { maxTenantSockets: maxSockets, maxWorlds, maxMembers, watchMs } = this.limits
      worlds = new TenantWorlds({
        ...{ clock: this.#clock, maxSockets, maxWorlds, maxMembers },
        openHost: (members, programs) => this.#openHost(members, programs),
        watch: new WorldWatch(this.#clock, watchMs),
        onEnd: (world, error) => {
          this.#worldsEnded++
          const code = error instanceof RankweaveError ? error.code : undefined
          this.#options.log.info({ tenant: tenant.id, world: world.id, code }, 'world ended')
        },
      })
      this.#tenants.set(tenant.id, worlds)
    }
    return worlds
  }

  #openHost(members: number, programs: number): WorldHost {
    const { rendezvous } = this
    const clock = this.#clock
    if (programs === 0) return new LocalHost(members, clock)
    return new MixedHost({ rendezvous, members, programs, clock })
  }

  #settle(connection: Connection, cancel: () => void): void {
    if (this.#pending.delete(connection)) cancel()
  }

  #cannotAccept(): RankweaveError | undefined {
    const { maxSockets, maxPendingSockets } = this.limits
    if (this.#isClosed) return closed('the service shuts down')
    if (this.#connections.size >= maxSockets) return beyondLimit(`${maxSockets} sockets (connections)`)
    if (this.#pending.size < maxPendingSockets) return undefined
    return beyondLimit(`${maxPendingSockets} sockets without a first message (maxPendingSockets)`)
  }
}

function closed(reason: string): RankweaveError {
  return new RankweaveError('ERR_WORLD_LOST', reason)
}
