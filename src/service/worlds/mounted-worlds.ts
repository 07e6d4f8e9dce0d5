import type { ServiceLimits } from '../../client/protocol/limits.js'
import type { MountedWorldInfo, MountedWorldRequest, OpenedWorld } from '../../client/protocol/worlds.js'
import { RankweaveError } from '../../errors.js'
import { type MountedWorld, openWorld, upgradeHandler } from '../../launch/websocket/rendezvous.js'
import type { Rendezvous } from '../../websocket/rendezvous/rendezvous.js'
import type { UpgradeListener } from '../../websocket/socket/transport-nodejs.js'
import type { Log } from '../log.js'
import type { Tenant } from '../tenant.js'

interface MountedWorldsOptions {
  /** The rendezvous at which processes join, those of other worlds too; its creator closes it. */
  readonly rendezvous: Rendezvous
  readonly limits: Pick<ServiceLimits, 'worlds' | 'members' | 'ranks'>
  readonly log: Log
  readonly now?: () => Date
}

/** The most losses of a world that are remembered, and the length of each text. */
const mostLost = 64
const shortened = (text: string) => text.slice(0, 200)

interface Owned {
  readonly world: MountedWorld
  info: MountedWorldInfo
}

/**
 * The worlds of programs, which `rankweave join` joins at `/v1/rendezvous`. A program shows the token of its world,
 * which the service shows only to the client that opened the world; it does not need the tenant's own token. Memory of
 * each tenant: `worlds` running worlds, of at most `members` processes each, as a `Rendezvous` bounds them. The ends of
 * its last `worlds` worlds are kept, too.
 */
export class MountedWorlds {
  readonly upgrade: UpgradeListener
  readonly #limits: MountedWorldsOptions['limits']
  readonly #log: Log
  readonly #now: () => Date
  readonly #rendezvous: Rendezvous
  /** The worlds by tenant and id, in the order in which they were opened. */
  readonly #worlds = new Map<string, Map<string, Owned>>()

  constructor({ rendezvous, limits, log, now = () => new Date() }: MountedWorldsOptions) {
    this.#limits = limits
    this.#log = log
    this.#now = now
    this.#rendezvous = rendezvous
    this.upgrade = upgradeHandler(rendezvous)
  }

  /** The number of running worlds of all tenants. */
  get open(): number {
    let count = 0
    for (const worlds of this.#worlds.values())
      for (const { info } of worlds.values()) if (info.ended === null) count++
    return count
  }

  /**
   * @throws ERR_BUSY for too many worlds, ERR_LIMIT for too many ranks or processes, ERR_WORLD for numbers
   *   that do not agree
   */
  create(tenant: Tenant, request: MountedWorldRequest): OpenedWorld {
    const { ranks, processes = ranks, program } = request
    const { worlds: mostWorlds, members, ranks: mostRanks } = this.#limits
    if (ranks > mostRanks)
      throw new RankweaveError('ERR_LIMIT', `expected at most ${mostRanks} ranks (ranks), got ${ranks}`)
    const mostProcesses = Math.min(members, this.#rendezvous.limits.maxProcesses)
    if (processes > mostProcesses)
      throw new RankweaveError(
        'ERR_LIMIT',
        `expected at most ${mostProcesses} processes (members), got ${processes}`,
      )
    let worlds = this.#worlds.get(tenant.id)
    const open = [...(worlds?.values() ?? [])].filter(({ info }) => info.ended === null).length
    if (open >= mostWorlds)
      throw new RankweaveError('ERR_BUSY', `expected at most ${mostWorlds} running worlds (worlds)`)
    const world = openWorld(this.#rendezvous, {
      ...{ ranks, processes },
      ...(program === undefined ? {} : { program }),
    })
    const { id, token } = world
    const info = { id, ranks, processes, createdAt: this.#now().toISOString(), ended: null }
    const owned: Owned = { world, info }
    if (worlds === undefined) {
      worlds = new Map()
      this.#worlds.set(tenant.id, worlds)
    }
    worlds.set(id, owned)
    this.#log.info({ tenant: tenant.id, world: id, ranks, processes }, 'a world was opened')
    void world.ended.then(({ lost, failed, closed }) => {
      const first = lost
        .slice(0, mostLost)
        .map(({ process, reason }) => ({ process, reason: shortened(reason) }))
      owned.info = {
        ...owned.info,
        ended: { lost: first, failed: failed && shortened(failed), closed },
      }
      this.#log.info({ tenant: tenant.id, world: id, lost: lost.length }, 'a world ended')
      this.#forgetOldest(worlds)
    })
    return { ...info, token }
  }

  list({ id: tenant }: Tenant): MountedWorldInfo[] {
    return [...(this.#worlds.get(tenant)?.values() ?? [])].map(({ info }) => info)
  }

  /** @throws ERR_NOT_FOUND */
  get(tenant: Tenant, id: string): MountedWorldInfo {
    return this.#find(tenant, id).info
  }

  /** Ends a world for all its processes. A world that has ended stays unchanged. @throws ERR_NOT_FOUND */
  async end(tenant: Tenant, id: string): Promise<MountedWorldInfo> {
    const owned = this.#find(tenant, id)
    owned.world.close('its owner closed it')
    await owned.world.ended
    return owned.info
  }

  #find({ id: tenant }: Tenant, id: string): Owned {
    const owned = this.#worlds.get(tenant)?.get(id)
    if (owned !== undefined) return owned
    throw new RankweaveError('ERR_NOT_FOUND', `there is no world ${id}`)
  }

  #forgetOldest(worlds: Map<string, Owned>): void {
    const ended = [...worlds.values()].filter(({ info }) => info.ended !== null)
    for (const { info } of ended.slice(0, Math.max(0, ended.length - this.#limits.worlds)))
      worlds.delete(info.id)
  }
}
