import { type Clock, realClock } from '../../base/clock.js'
import {
  integerOption,
  type OptionTable,
  positiveOption,
  uncheckedOptions,
  valueOption,
} from '../../base/option.js'
import { checkOptions, givenOptions, requireOption } from '../../base/option-table.js'
import { RankweaveError } from '../../errors.js'
import {
  defaultRendezvousLimits,
  defaultWorldLimits,
  maxSettingsLength,
  type RendezvousLimits,
  type WorldLimits,
} from '../protocol/limits.js'
import { decodeFromMember } from '../protocol/messages.js'
import { makeToken, worldOf } from '../protocol/secrets.js'
import { AddressShares } from '../socket/address-limits.js'
import type { Socket } from '../socket/socket.js'
import type { Party } from './hosted-member.js'
import { HostedWorld, type WorldEnd } from './hosted-world.js'
import { beyondLimit, protocolError, refusalFrom, refuse, worldLost, wrongToken } from './refuse.js'

export interface RendezvousOptions {
  readonly limits?: Partial<RendezvousLimits>
  /** The clock, for tests. */
  readonly clock?: Clock
}

export interface AwaitedWorldOptions {
  /** The number of processes that are to join: 1 to `maxProcesses` of the rendezvous. */
  readonly processes: number
  /**
   * @internal The number of first processes, which join through `admit` of the handle; no other process takes their
   *   places. Default 0.
   */
  readonly own?: number
  /** @internal Reports a lost process, before the others learn it. */
  readonly onLost?: (process: number, reason: string) => void
  /** The digest of the program that members must run. Default: that of the first to join. */
  readonly program?: string
  /** The version of Rankweave that members must have. Default: that of the first to join. */
  readonly version?: string
  /**
   * The checksum of the tuning file that members must have. Default: that of the first to join, which may have none.
   */
  readonly tuning?: string
  readonly limits?: Partial<WorldLimits>
  /**
   * The text that every process receives when the world begins; at most 16,384 characters ({@link maxSettingsLength}).
   * Default: ''. `openWorld` writes the settings that `join` expects.
   */
  readonly settings?: string
}

/** A world as its host sees it. */
export interface WorldHandle {
  readonly id: string
  /** The secret with which a process can join. */
  readonly token: string
  /** Resolves when every process has left or is lost, or the world was closed. */
  readonly ended: Promise<WorldEnd>
  /** Ends the world; members get ERR_WORLD_LOST with this reason. */
  close(reason?: string): void
  /**
   * @internal Serves a socket of the host's own: its process needs neither token nor program. No limit of sockets or of
   *   time holds for it.
   */
  admit(socket: Socket): void
}

const rendezvousOptions: OptionTable<RendezvousOptions> = uncheckedOptions('limits', 'clock')
const awaitedWorldOptions: OptionTable<AwaitedWorldOptions> = {
  ...uncheckedOptions('processes', 'own', 'onLost', 'program', 'version', 'tuning', 'limits'),
  settings: valueOption(
    `a text of at most ${maxSettingsLength} characters`,
    (value) => typeof value === 'string' && value.length <= maxSettingsLength,
  ),
}

/**
 * The meeting point of many worlds over sockets: it admits processes by token, orders losses and decisions, and relays.
 * It has no transport: sockets of any origin are handed to {@link accept}. Worlds know nothing of each other. Memory:
 * bounded by its limits; per world what `RelayQueue`, `BrokenLinks` and `Decisions` state.
 */
export class Rendezvous {
  readonly limits: RendezvousLimits
  readonly #clock: Clock
  readonly #worlds = new Map<string, HostedWorld>()
  readonly #sockets = new Set<Socket>()
  /**
   * The sockets whose first message has not arrived; each with the function that ends its time limit, and its share.
   */
  readonly #pending = new Map<Socket, () => void>()
  readonly #shares: AddressShares
  #isClosed = false

  /** @throws ERR_ARGUMENT for limits that are unknown or not positive numbers */
  constructor(options: RendezvousOptions = {}) {
    checkOptions('Rendezvous', rendezvousOptions, options)
    const { limits = {}, clock = realClock } = options
    this.limits = checkedLimits('Rendezvous', limits, defaultRendezvousLimits)
    this.#clock = clock
    this.#shares = new AddressShares(this.limits.maxPendingPerAddress)
  }

  /**
   * Creates a world that waits for its members, for as long as it takes; `close` ends the wait. `openWorld` calls it
   * with the settings that `join` reads.
   *
   * @internal
   * @throws ERR_WORLD for an impossible number of processes, ERR_ARGUMENT for limits, ERR_LIMIT when there are too many
   *   worlds
   */
  createWorld(options: AwaitedWorldOptions): WorldHandle {
    checkOptions('createWorld', awaitedWorldOptions, options)
    const { processes, own = 0, onLost = () => {}, program, version, tuning, settings = '' } = options
    const { maxProcesses, maxWorlds } = this.limits
    const count = (name: string, value: number, least: number, most: number) =>
      requireOption('createWorld', name, integerOption({ least, most, required: true }), value, 'ERR_WORLD')
    count('processes', processes, 1, maxProcesses)
    count('own', own, 0, processes)
    const limits = checkedLimits('createWorld', options.limits ?? {}, defaultWorldLimits)
    if (limits.heartbeatMs < 10 || limits.silenceMs < 2 * limits.heartbeatMs) {
      throw new RankweaveError(
        'ERR_ARGUMENT',
        `createWorld: expected heartbeatMs of at least 10 and silenceMs of at least twice as much, got ${limits.heartbeatMs} and ${limits.silenceMs}`,
      )
    }
    if (this.#isClosed) throw new RankweaveError('ERR_WORLD_LOST', 'createWorld: the rendezvous is closed')
    if (this.#worlds.size >= maxWorlds) {
      throw new RankweaveError('ERR_LIMIT', `createWorld: expected at most ${maxWorlds} worlds (maxWorlds)`)
    }
    const world = new HostedWorld({
      ...makeToken(),
      ...{
        processes,
        own,
        onLost,
        program,
        library: version,
        tuning,
        settings,
        limits,
        rendezvous: this.limits,
        clock: this.#clock,
      },
      forget: () => this.#worlds.delete(world.id),
    })
    this.#worlds.set(world.id, world)
    const { id, token, ended } = world
    return {
      ...{ id, token, ended },
      close: (reason = 'no reason was given') => world.close(reason),
      admit: (socket) => this.#admit(world, socket),
    }
  }

  /**
   * Serves a connected socket until it closes. Called before its first message can arrive. One beyond `maxSockets`,
   * `maxPendingSockets` or `maxPendingPerAddress` is closed with ERR_LIMIT. Never throws for what arrives: that ends
   * the socket, or loses its process.
   *
   * @param socket `upgradeHandler` makes them; another WebSocket must take no message longer than 1 MiB + 4 bytes, and
   *   not compress
   * @param remote the address that it comes from, for `maxPendingPerAddress`; without one that limit does not hold
   */
  accept(socket: Socket, remote?: string): void {
    const refusal = this.#cannotAccept(remote)
    if (refusal !== undefined) {
      refuse(socket, this.#clock, refusal)
      return
    }
    this.#sockets.add(socket)
    socket.binaryType = 'arraybuffer'
    const { firstMessageMs } = this.limits
    const cancel = this.#clock.later(firstMessageMs, () => {
      this.#settle(socket)
      refuse(
        socket,
        this.#clock,
        beyondLimit(`${firstMessageMs} ms before the first message (firstMessageMs)`),
      )
    })
    this.#pending.set(socket, () => {
      cancel()
      this.#shares.give(remote)
    })
    let party: Party | undefined
    socket.addEventListener('message', ({ data }) => {
      if (party !== undefined) party.message(data)
      else if (this.#settle(socket)) party = this.#first(socket, data)
    })
    socket.addEventListener('close', ({ code, reason }) => {
      this.#settle(socket)
      this.#sockets.delete(socket)
      party?.closed(
        `its connection to the rendezvous closed (code ${code}${reason === '' ? '' : `, ${reason}`})`,
      )
    })
    // A 'close' event follows.
    socket.addEventListener('error', () => {})
  }

  /** Closes all worlds and refuses sockets from then on. */
  close(reason = 'it shuts down'): void {
    this.#isClosed = true
    for (const world of [...this.#worlds.values()]) world.close(reason)
    for (const socket of [...this.#pending.keys()]) {
      this.#settle(socket)
      refuse(socket, this.#clock, worldLost('the rendezvous is closed'))
    }
  }

  #admit(world: HostedWorld, socket: Socket): void {
    socket.binaryType = 'arraybuffer'
    let party: Party | undefined
    socket.addEventListener('message', ({ data }) => {
      if (party !== undefined) party.message(data)
      else party = this.#first(socket, data, world)
    })
    socket.addEventListener('close', ({ reason }) => party?.closed(reason))
  }

  /** Ends the wait for a first message; false when the socket was refused before, so that its message is not read. */
  #settle(socket: Socket): boolean {
    this.#pending.get(socket)?.()
    return this.#pending.delete(socket)
  }

  /** @param own the world whose host owns the socket */
  #first(socket: Socket, data: unknown, own?: HostedWorld): Party | undefined {
    try {
      if (typeof data !== 'string') throw protocolError("'join' first, got bytes")
      const message = decodeFromMember(data)
      if (message.kind === 'heartbeat') {
        const world = this.#worlds.get(message.world)
        if (world === undefined) throw wrongToken()
        return world.heartbeat(socket, message)
      }
      if (message.kind !== 'join') throw protocolError(`'join' first, got '${message.kind}'`)
      const world = own ?? worldOf(message.token, this.#worlds)
      if (world === undefined) throw wrongToken()
      return world.join(socket, message, own !== undefined)
    } catch (error) {
      refuse(socket, this.#clock, refusalFrom(error))
      return undefined
    }
  }

  /** Counts the socket for its address, unless it returns a refusal. */
  #cannotAccept(remote: string | undefined): RankweaveError | undefined {
    const { maxSockets, maxPendingSockets, maxPendingPerAddress } = this.limits
    if (this.#isClosed) return worldLost('the rendezvous is closed')
    if (this.#sockets.size >= maxSockets) return beyondLimit(`${maxSockets} sockets (maxSockets)`)
    if (this.#pending.size >= maxPendingSockets) {
      return beyondLimit(`${maxPendingSockets} sockets that have not joined (maxPendingSockets)`)
    }
    if (this.#shares.take(remote)) return undefined
    return beyondLimit(
      `${maxPendingPerAddress} sockets of one address that have not joined (maxPendingPerAddress)`,
    )
  }
}

/** Returns limits with defaults. @throws ERR_ARGUMENT */
function checkedLimits<Limits extends object>(
  where: string,
  given: Partial<Limits>,
  defaults: Limits,
): Limits {
  checkOptions(where, Object.fromEntries(Object.keys(defaults).map((name) => [name, positiveOption])), given)
  return { ...defaults, ...givenOptions(given) }
}
