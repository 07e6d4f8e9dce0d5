import { randomBytes } from 'node:crypto'
import { mkdirSync, rmSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { z } from 'zod'
import { RankweaveError } from '../../errors.js'
import type { Log } from '../log.js'
import type { ServiceLimits } from '../protocol/limits.js'
import type { Tenant } from '../tenant.js'
import { digestOfFile, moveDurably, syncFolder, writeDurably } from './durable-file.js'
import { lockFolder } from './folder-lock.js'
import {
  type JobRecord,
  jobRecord,
  type PlanRecord,
  planRecord,
  type TopologyRecord,
  topologyRecord,
} from './records.js'
import { damagedName, readShelf, type Shelved } from './shelf.js'

/** What every file takes on the disk besides its bytes, about. */
const fileBytes = 4096

const shelves = {
  topologies: { schema: topologyRecord, hasBody: true },
  plans: { schema: planRecord, hasBody: true },
  jobs: { schema: jobRecord, hasBody: false },
} as const satisfies Record<string, { readonly schema: z.ZodType; readonly hasBody: boolean }>

type Shelf = keyof typeof shelves
interface Records {
  readonly topologies: TopologyRecord
  readonly plans: PlanRecord
  readonly jobs: JobRecord
}

/** A stored record, and where its body is. */
export interface Stored<R> {
  readonly record: R
  readonly path: string
}

interface Entry<R> extends Stored<R> {
  readonly bytes: number
  /** Whether the body has been read and is what was written. */
  isVerified: boolean
}

type TenantEntries = { readonly [S in Shelf]: Map<string, Entry<Records[S]>> }

/**
 * Topologies, plans and accepted jobs, as files `DATA/<tenant>/<shelf>/<id>`: a body, and a head `.json` with its length and SHA-256,
 * which is written last. What a process that was killed has left is removed, or moved to `DATA/damaged`, when the store is opened;
 * a body is verified before it is first used.
 *
 * Memory: the heads, a few kilobytes each, of at most `entries` plans and topologies. Disk: at most `dataBytes`; to make room,
 * the oldest plans go first, then topologies that no waiting job needs.
 */
export class Store {
  readonly #root: string
  readonly #limits: Pick<ServiceLimits, 'dataBytes' | 'entries'>
  readonly #log: Log
  readonly #unlock: () => void
  readonly #tenants = new Map<string, TenantEntries>()
  #bytes = 0
  #files = 0
  /** Room that is reserved for what is being written. */
  #comingBytes = 0
  #comingFiles = 0

  private constructor(
    root: string,
    limits: Pick<ServiceLimits, 'dataBytes' | 'entries'>,
    log: Log,
    unlock: () => void,
  ) {
    this.#root = root
    this.#limits = limits
    this.#log = log
    this.#unlock = unlock
  }

  /** @throws ERR_STORE when another process has the folder, or it cannot be read and written */
  static async open(
    root: string,
    limits: Pick<ServiceLimits, 'dataBytes' | 'entries'>,
    log: Log,
  ): Promise<Store> {
    return storing(async () => {
      mkdirSync(root, { recursive: true, mode: 0o700 })
      const unlock = lockFolder(join(root, 'lock'))
      rmSync(join(root, 'temporary'), { recursive: true, force: true })
      for (const name of ['temporary', 'damaged'])
        mkdirSync(join(root, name), { recursive: true, mode: 0o700 })
      const store = new Store(root, limits, log, unlock)
      try {
        await store.#read()
      } catch (error) {
        unlock()
        throw error
      }
      return store
    })
  }

  /** Bytes below the folder, about. */
  get bytes(): number {
    return this.#bytes
  }

  /** Tenants that have anything here. */
  get tenants(): Iterable<string> {
    return this.#tenants.keys()
  }

  /** A file that nothing else writes, and that is gone when the store is opened again. */
  temporaryFile(): string {
    return join(this.#root, 'temporary', randomBytes(16).toString('hex'))
  }

  records<S extends Shelf>(shelf: S, { id }: Tenant): Records[S][] {
    return [...(this.#tenants.get(id)?.[shelf].values() ?? [])].map(({ record }) => record as Records[S])
  }

  get<S extends Shelf>(shelf: S, { id: tenant }: Tenant, id: string): Stored<Records[S]> | undefined {
    return this.#tenants.get(tenant)?.[shelf].get(id) as Entry<Records[S]> | undefined
  }

  /**
   * As {@link get}, with a body that is as it was written; one that is not is put aside, and is not there.
   */
  async verified<S extends 'topologies' | 'plans'>(
    shelf: S,
    tenant: Tenant,
    id: string,
  ): Promise<Stored<Records[S]> | undefined> {
    const entry = this.#tenants.get(tenant.id)?.[shelf].get(id) as Entry<Records[S]> | undefined
    if (entry === undefined || entry.isVerified) return entry
    const digest = await digestOfFile(entry.path).catch(() => '')
    if (digest === entry.record.body.sha256) {
      entry.isVerified = true
      return entry
    }
    this.#forget(shelf, tenant.id, id)
    await this.#setAside(shelf, tenant.id, id, 'its body is not what was written')
    return undefined
  }

  /**
   * Stores a topology or plan, for good when this resolves.
   *
   * @param bodyFile a temporary file whose bytes are on the disk already; it is moved
   * @param needed topologies that must stay, as waiting jobs need them
   * @throws ERR_STORE, ERR_LIMIT when there is no room for it
   */
  async add<S extends 'topologies' | 'plans'>(
    shelf: S,
    tenant: Tenant,
    record: Records[S],
    bodyFile: string,
    needed: (tenant: string, topology: string) => boolean,
  ): Promise<void> {
    await storing(async () => {
      const { id } = record.info
      const bytes = record.body.bytes + 2 * fileBytes
      await this.#makeRoom(bytes, needed)
      try {
        const folder = await this.#folder(tenant, shelf)
        await moveDurably(bodyFile, join(folder, id))
        await writeDurably(join(folder, `${id}.json`), JSON.stringify(record), this.temporaryFile())
        const entry = { record, path: join(folder, id), bytes, isVerified: true } as Entry<Records[S]>
        this.#put(shelf, tenant.id, id, entry)
      } finally {
        this.#comingBytes -= bytes
        this.#comingFiles--
      }
    })
  }

  /** Stores a job, for good when this resolves. @throws ERR_STORE */
  async putJob(tenant: Tenant, record: JobRecord): Promise<void> {
    await storing(async () => {
      const path = join(await this.#folder(tenant, 'jobs'), `${record.id}.json`)
      await writeDurably(path, JSON.stringify(record), this.temporaryFile())
      this.#put('jobs', tenant.id, record.id, { record, path, bytes: fileBytes, isVerified: true })
    })
  }

  /** @returns whether it was there @throws ERR_STORE */
  async remove(shelf: Shelf, tenant: Tenant, id: string): Promise<boolean> {
    if (!this.#forget(shelf, tenant.id, id)) return false
    const folder = join(this.#root, tenant.id, shelf)
    await storing(async () => {
      // The head first: a body without a head is not there.
      await rm(join(folder, `${id}.json`), { force: true })
      if (shelves[shelf].hasBody) await rm(join(folder, id), { force: true })
    })
    return true
  }

  /** Gives the folder up. To be called once, when nothing is written any more. */
  close(): void {
    this.#unlock()
  }

  async #read(): Promise<void> {
    for (const shelf of Object.keys(shelves) as Shelf[]) {
      const { schema, hasBody } = shelves[shelf]
      for await (const found of readShelf(this.#root, shelf, schema, hasBody)) {
        if (found.kind === 'damaged') await this.#setAside(shelf, found.tenant, found.id, found.reason)
        else {
          const { tenant, id, record, path } = found as Shelved<Records[Shelf]>
          const bytes = 'body' in record ? record.body.bytes + 2 * fileBytes : fileBytes
          this.#put(shelf, tenant, id, { record, path, bytes, isVerified: false })
        }
      }
    }
  }

  #put<S extends Shelf>(shelf: S, tenant: string, id: string, entry: Entry<Records[S]>): void {
    let entries = this.#tenants.get(tenant)
    if (entries === undefined) {
      entries = { topologies: new Map(), plans: new Map(), jobs: new Map() }
      this.#tenants.set(tenant, entries)
    }
    const map = entries[shelf] as Map<string, Entry<Records[S]>>
    const before = map.get(id)
    if (before === undefined) this.#files += shelf === 'jobs' ? 0 : 1
    this.#bytes += entry.bytes - (before?.bytes ?? 0)
    map.set(id, entry)
  }

  #forget(shelf: Shelf, tenant: string, id: string): boolean {
    const map = this.#tenants.get(tenant)?.[shelf]
    const entry = map?.get(id)
    if (map === undefined || entry === undefined) return false
    map.delete(id)
    this.#bytes -= entry.bytes
    if (shelf !== 'jobs') this.#files--
    return true
  }

  /** Room for one file more, which is reserved when this resolves. */
  async #makeRoom(bytes: number, needed: (tenant: string, topology: string) => boolean): Promise<void> {
    const { dataBytes, entries } = this.#limits
    const reserved = () => {
      if (this.#bytes + this.#comingBytes + bytes > dataBytes) return false
      if (this.#files + this.#comingFiles >= entries) return false
      this.#comingBytes += bytes
      this.#comingFiles++
      return true
    }
    if (reserved()) return
    const stored = (shelf: 'plans' | 'topologies') =>
      [...this.#tenants].flatMap(([tenant, all]) =>
        [...all[shelf].values()].map(({ record }) => ({
          shelf,
          tenant,
          id: record.info.id,
          at: record.info.createdAt,
        })),
      )
    const oldestFirst = (list: ReturnType<typeof stored>) => list.sort((a, b) => (a.at < b.at ? -1 : 1))
    const free = stored('topologies').filter(({ tenant, id }) => !needed(tenant, id))
    for (const { shelf, tenant, id } of [...oldestFirst(stored('plans')), ...oldestFirst(free)]) {
      await this.remove(shelf, { id: tenant }, id)
      this.#log.info({ tenant, shelf, id }, 'removed to make room')
      if (reserved()) return
    }
    throw new RankweaveError(
      'ERR_LIMIT',
      `there is no room: expected at most ${dataBytes} bytes of data (dataBytes) and ${entries} topologies and plans (entries)`,
    )
  }

  async #folder({ id }: Tenant, shelf: Shelf): Promise<string> {
    const folder = join(this.#root, id, shelf)
    if (mkdirSync(folder, { recursive: true, mode: 0o700 }) !== undefined) {
      await syncFolder(join(this.#root, id))
      await syncFolder(this.#root)
    }
    return folder
  }

  async #setAside(shelf: Shelf, tenant: string, id: string, reason: string): Promise<void> {
    this.#log.warn({ tenant, shelf, id, reason }, 'damaged, put aside')
    const folder = join(this.#root, tenant, shelf)
    for (const name of [`${id}.json`, id]) {
      await rename(join(folder, name), join(this.#root, 'damaged', damagedName(tenant, shelf, name))).catch(
        () => {},
      )
    }
  }
}

/** What the system refuses, as an error of the store. */
async function storing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    if (cause instanceof RankweaveError || (cause as NodeJS.ErrnoException).code === undefined) throw cause
    throw new RankweaveError('ERR_STORE', `the data cannot be read or written: ${(cause as Error).message}`, {
      cause,
    })
  }
}
