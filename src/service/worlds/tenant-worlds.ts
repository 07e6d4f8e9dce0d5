import { randomBytes } from 'node:crypto'
import type { Clock } from '../../base/clock.js'
import type { WorldEvent, WorldInfo, WorldRequest } from '../../client/protocol/worlds.js'
import { RankweaveError } from '../../errors.js'
import { listBudget } from './served-member.js'
import { ServedWorld } from './served-world.js'
import { summedWaiting, type WaitingMessages, type WorldHost } from './world-host.js'

interface TenantWorldsOptions {
  readonly clock: Clock
  readonly maxSockets: number
  readonly maxWorlds: number
  readonly maxMembers: number
  /** @throws ERR_WORLD for too many programs */
  readonly openHost: (members: number, programs: number) => WorldHost
  readonly watch: WorldWatch
  readonly onEnd: (world: ServedWorld, error: unknown) => void
}

/** The worlds of one tenant; no other finds them. */
export class TenantWorlds {
  readonly #options: TenantWorldsOptions
  readonly #worlds = new Map<string, ServedWorld>()
  readonly #named = new Map<string, ServedWorld>()
  /** The sockets that have shown its token. */
  readonly #sockets = new Set<object>()

  constructor(options: TenantWorldsOptions) {
    this.#options = options
  }

  get count(): number {
    return this.#worlds.size
  }

  get waiting(): WaitingMessages {
    return summedWaiting([...this.#worlds.values()].map(({ waiting }) => waiting))
  }

  get watch(): WorldWatch {
    return this.#options.watch
  }

  /** @throws ERR_WORLD for a name that is taken or too many members, ERR_LIMIT for too many worlds */
  create(name: string | null, members: number, programs: number, creator: object | undefined): ServedWorld {
    const { clock, maxWorlds, maxMembers, watch } = this.#options
    if (members > maxMembers) {
      throw new RankweaveError('ERR_LIMIT', `expected at most ${maxMembers} members of a world (members)`)
    }
    if (name !== null && this.#named.has(name)) {
      throw new RankweaveError('ERR_WORLD', `there is a world '${name}' already`)
    }
    if (this.#worlds.size >= maxWorlds) {
      throw new RankweaveError('ERR_LIMIT', `expected at most ${maxWorlds} worlds (worlds)`)
    }
    const id = `w-${randomBytes(8).toString('hex')}`
    const world: ServedWorld = new ServedWorld({
      ...{ id, name, members, clock },
      host: this.#options.openHost(members, programs),
      onChange: () => watch.changed(world),
      onEnd: (error) => {
        this.#worlds.delete(id)
        if (name !== null) this.#named.delete(name)
        watch.ended(world)
        this.#options.onEnd(world, error)
      },
    })
    this.#worlds.set(id, world)
    if (name !== null) this.#named.set(name, world)
    if (creator !== undefined) world.keep(creator)
    watch.changed(world)
    return world
  }

  /**
   * Returns the world that a member asks to join; one with a name is made if there is none.
   *
   * @throws ERR_NOT_FOUND, ERR_ARGUMENT, ERR_WORLD if it has another number of members, and what `create` throws
   */
  find({ world: id, name, members }: WorldRequest<'join'>): ServedWorld {
    if ((id === undefined) === (name === undefined)) {
      throw new RankweaveError('ERR_ARGUMENT', 'join: expected either `world` or `name`')
    }
    const found = id === undefined ? this.#named.get(name!) : this.#worlds.get(id)
    if (found === undefined) {
      if (name !== undefined && members !== undefined) return this.create(name, members, 0, undefined)
      throw new RankweaveError(
        'ERR_NOT_FOUND',
        id === undefined
          ? `there is no world '${name}': pass \`members\` to open one`
          : `there is no world ${id}`,
      )
    }
    if (members !== undefined && members !== found.size) {
      throw new RankweaveError(
        'ERR_WORLD',
        `expected ${found.size} members, as the world has, got ${members}`,
      )
    }
    return found
  }

  /** Admits a socket that has shown the token. @throws ERR_LIMIT for too many */
  enter(socket: object): void {
    const { maxSockets } = this.#options
    if (this.#sockets.size >= maxSockets) {
      throw new RankweaveError(
        'ERR_LIMIT',
        `expected at most ${maxSockets} sockets of a token (maxTenantSockets)`,
      )
    }
    this.#sockets.add(socket)
  }

  /** Removes a socket: of the worlds that it made, those that no member waits for are discarded. */
  exit(socket: object): void {
    if (!this.#sockets.delete(socket)) return
    for (const world of [...this.#worlds.values()]) world.unkeep(socket)
  }

  /** Lists all worlds; together they list at most as many communicators and ranks as one alone may. */
  list(): WorldInfo[] {
    const budget = listBudget()
    return [...this.#worlds.values()].map((world) => world.info(budget))
  }

  close(reason: string): void {
    for (const world of [...this.#worlds.values()]) world.close(reason)
  }
}

type WatchEvent = WorldEvent<'world' | 'worldEnded'>
export type WatchListener = (event: WatchEvent) => void

/**
 * Tells listeners of changed worlds, each at most once per interval: a world that changes often costs no more than
 * that.
 */
export class WorldWatch {
  readonly #clock: Clock
  readonly #intervalMs: number
  readonly #listeners = new Set<WatchListener>()
  readonly #dirty = new Set<ServedWorld>()
  #cancel: (() => void) | undefined

  constructor(clock: Clock, intervalMs: number) {
    this.#clock = clock
    this.#intervalMs = intervalMs
  }

  get listeners(): number {
    return this.#listeners.size
  }

  /** @returns a function that stops it */
  add(listener: WatchListener): () => void {
    this.#listeners.add(listener)
    return () => {
      this.#listeners.delete(listener)
      if (this.#listeners.size === 0) this.stop()
    }
  }

  changed(world: ServedWorld): void {
    if (this.#listeners.size === 0) return
    this.#dirty.add(world)
    this.#cancel ??= this.#clock.later(this.#intervalMs, () => {
      this.#cancel = undefined
      const worlds = [...this.#dirty]
      this.#dirty.clear()
      for (const each of worlds) this.#tell({ event: 'world', world: each.info() })
    })
  }

  ended(world: ServedWorld): void {
    this.#dirty.delete(world)
    this.#tell({ event: 'worldEnded', world: world.id })
  }

  stop(): void {
    this.#cancel?.()
    this.#cancel = undefined
    this.#dirty.clear()
  }

  #tell(event: WatchEvent): void {
    for (const listener of [...this.#listeners]) listener(event)
  }
}
