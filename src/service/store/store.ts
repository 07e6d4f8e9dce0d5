import { randomBytes } from 'node:crypto'
import { mkdirSync, rmSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { z } from 'zod'
import { getOrAdd } from '../../base/maps.js'
import type { ServiceLimits } from '../../client/protocol/limits.js'
import { RankweaveError, reasonText } from '../../errors.js'
import type { Log } from '../log.js'
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
import { dispensable, type IsNeeded, type Taken } from './room.js'
import { damagedName, readShelf, type Shelved, Turns } from './shelf.js'
import { storing } from './storing.js'

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

/** The entries of a tenant, those of each shelf in the order of their age, and what they take. */
interface TenantEntries extends Taken {
  readonly shelves: { readonly [S in Shelf]: Map<string, Entry<Records[S]>> }
  bytes: number
  files: number
}

/**
 * Topologies, plans and accepted jobs, as files `DATA/<tenant>/<shelf>/<id>`: a body, and a head `.json` with
 * its length and SHA-256, which is written last. What a process that was killed has left is removed, or moved
 * to `DATA/damaged`, when the store is opened; a body is verified before it is first used.
 *
 * Memory: the heads, a few kilobytes each, of at most `entries` plans and topologies. Disk: at most
 * `dataBytes`. To make room, the tenant that takes most loses files: the oldest plans first, then topologies
 * that no waiting job needs. No tenant displaces what one has that takes less.
 */
export class Store {
  readonly #root: string
  readonly #limits: Pick<ServiceLimits, 'dataBytes' | 'entries'>
  readonly #log: Log
  readonly #unlock: () => void
  readonly #tenants = new Map<string, TenantEntries>()
  /** Of files that have the same name. */
  readonly #turns = new Turns()
  #isClosed = false
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
      const unlock = lockFolder(root)
      try {
        rmSync(join(root, 'temporary'), { recursive: true, force: true })
        for (const name of ['temporary', 'damaged'])
          mkdirSync(join(root, name), { recursive: true, mode: 0o700 })
        const store = new Store(root, limits, log, unlock)
        await store.#read()
        return store
      } catch (error) {
        unlock()
        throw error
      }
    }, reasonText)
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
    return [...(this.#tenants.get(id)?.shelves[shelf].values() ?? [])].map(
      ({ record }) => record as Records[S],
    )
  }

  get<S extends Shelf>(shelf: S, { id: tenant }: Tenant, id: string): Stored<Records[S]> | undefined {
    return this.#entry(shelf, tenant, id)
  }

  /**
   * As {@link get}, with a body that is as it was written; one that is not is put aside, and is not there.
   *
   * @throws ERR_STORE when it cannot be read now
   */
  async verified<S extends 'topologies' | 'plans'>(
    shelf: S,
    tenant: Tenant,
    id: string,
  ): Promise<Stored<Records[S]> | undefined> {
    const known = this.#entry(shelf, tenant.id, id)
    if (known === undefined || known.isVerified) return known
    return this.#inTurn(shelf, tenant.id, id, async () => {
      const entry = this.#entry(shelf, tenant.id, id)
      if (entry === undefined || entry.isVerified) return entry
      if ((await digestOrNothing(entry.path)) === entry.record.body.sha256) {
        entry.isVerified = true
        return entry
      }
      this.#forget(shelf, tenant.id, id)
      await this.#setAside(shelf, tenant.id, id, 'its body is not what was written')
      return undefined
    })
  }

  /**
   * Stores a topology or plan, for good when this resolves.
   *
   * @param bodyFile a temporary file whose bytes are on the disk already; it is moved
   * @param needed topologies that must stay, as waiting jobs need them
   * @returns the record that is stored: another one, where equal content came at the same time
   * @throws ERR_STORE, ERR_LIMIT when there is no room for it
   */
  async add<S extends 'topologies' | 'plans'>(
    shelf: S,
    tenant: Tenant,
    record: Records[S],
    bodyFile: string,
    needed: IsNeeded,
  ): Promise<Records[S]> {
    const { id } = record.info
    const bytes = record.body.bytes + 2 * fileBytes
    await this.#makeRoom(tenant.id, bytes, needed)
    try {
      return await this.#inTurn(shelf, tenant.id, id, async () => {
        const known = this.#entry(shelf, tenant.id, id)
        if (known !== undefined) {
          await rm(bodyFile, { force: true })
          return known.record
        }
        const folder = await this.#folder(tenant, shelf)
        await moveDurably(bodyFile, join(folder, id))
        await writeDurably(join(folder, `${id}.json`), JSON.stringify(record), this.temporaryFile())
        const entry = { record, path: join(folder, id), bytes, isVerified: true } as Entry<Records[S]>
        this.#put(shelf, tenant.id, id, entry)
        return record
      })
    } finally {
      this.#comingBytes -= bytes
      this.#comingFiles--
    }
  }

  /** Stores a job, for good when this resolves. @throws ERR_STORE */
  async putJob(tenant: Tenant, record: JobRecord): Promise<void> {
    await this.#inTurn('jobs', tenant.id, record.id, async () => {
      const path = join(await this.#folder(tenant, 'jobs'), `${record.id}.json`)
      await writeDurably(path, JSON.stringify(record), this.temporaryFile())
      this.#put('jobs', tenant.id, record.id, { record, path, bytes: fileBytes, isVerified: true })
    })
  }

  /** @returns whether it was there @throws ERR_STORE */
  async remove(shelf: Shelf, tenant: Tenant, id: string): Promise<boolean> {
    return this.#inTurn(shelf, tenant.id, id, async () => {
      if (!this.#forget(shelf, tenant.id, id)) return false
      const folder = join(this.#root, tenant.id, shelf)
      // The head first: a body without a head is not there.
      await rm(join(folder, `${id}.json`), { force: true })
      await syncFolder(folder)
      if (shelves[shelf].hasBody) await rm(join(folder, id), { force: true })
      return true
    })
  }

  /** Stops accepting, and releases the folder once pending writes are on disk. To be called once. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.#turns.idle()
    this.#unlock()
  }

  async #inTurn<T>(shelf: Shelf, tenant: string, id: string, work: () => Promise<T>): Promise<T> {
    if (this.#isClosed) throw new RankweaveError('ERR_BUSY', 'the service shuts down')
    return this.#turns.take(`${tenant}/${shelf}/${id}`, () => storing(work))
  }

  #entry<S extends Shelf>(shelf: S, tenant: string, id: string): Entry<Records[S]> | undefined {
    return this.#tenants.get(tenant)?.shelves[shelf].get(id) as Entry<Records[S]> | undefined
  }

  async #read(): Promise<void> {
    for (const shelf of Object.keys(shelves) as Shelf[]) {
      const { schema, hasBody } = shelves[shelf]
      const all: Shelved<Records[Shelf]>[] = []
      for await (const found of readShelf(this.#root, shelf, schema, hasBody)) {
        if (found.kind === 'damaged') await this.#setAside(shelf, found.tenant, found.id, found.reason)
        else all.push(found as Shelved<Records[Shelf]>)
      }
      all.sort((a, b) => (createdAt(a.record) < createdAt(b.record) ? -1 : 1))
      for (const { tenant, id, record, path } of all) {
        const bytes = 'body' in record ? record.body.bytes + 2 * fileBytes : fileBytes
        this.#put(shelf, tenant, id, { record, path, bytes, isVerified: false })
      }
    }
  }

  #put<S extends Shelf>(shelf: S, tenant: string, id: string, entry: Entry<Records[S]>): void {
    this.#forget(shelf, tenant, id)
    const all = getOrAdd(this.#tenants, tenant, () => ({
      shelves: { topologies: new Map(), plans: new Map(), jobs: new Map() },
      bytes: 0,
      files: 0,
    }))
    ;(all.shelves[shelf] as Map<string, Entry<Records[S]>>).set(id, entry)
    this.#count(all, entry.bytes, shelf === 'jobs' ? 0 : 1)
  }

  #forget(shelf: Shelf, tenant: string, id: string): boolean {
    const all = this.#tenants.get(tenant)
    const entry = all?.shelves[shelf].get(id)
    if (all === undefined || entry === undefined) return false
    all.shelves[shelf].delete(id)
    this.#count(all, -entry.bytes, shelf === 'jobs' ? 0 : -1)
    return true
  }

  #count(all: TenantEntries, bytes: number, files: number): void {
    all.bytes += bytes
    all.files += files
    this.#bytes += bytes
    this.#files += files
  }

  /**
   * Room for one file more, which is reserved when this resolves; where there is none, nothing is removed.
   */
  async #makeRoom(tenant: string, bytes: number, needed: IsNeeded): Promise<void> {
    const { dataBytes, entries } = this.#limits
    for (;;) {
      const excess = {
        bytes: this.#bytes + this.#comingBytes + bytes - dataBytes,
        files: this.#files + this.#comingFiles + 1 - entries,
      }
      if (excess.bytes <= 0 && excess.files <= 0) break
      const found = dispensable(this.#tenants, this.#limits, { tenant, bytes }, excess, needed)
      if (found === null)
        throw new RankweaveError(
          'ERR_LIMIT',
          `there is no room: expected at most ${dataBytes} bytes of data (dataBytes) and ${entries} topologies and plans (entries)`,
        )
      for (const { shelf, tenant, id } of found) {
        await this.remove(shelf, { id: tenant }, id)
        this.#log.info({ tenant, shelf, id }, 'removed to make room')
      }
    }
    this.#comingBytes += bytes
    this.#comingFiles++
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

function createdAt(record: Records[Shelf]): string {
  return 'info' in record ? record.info.createdAt : record.createdAt
}

/** Of a body that is gone, or that the disk can no longer read, ''. */
async function digestOrNothing(path: string): Promise<string> {
  try {
    return await digestOfFile(path)
  } catch (error) {
    if (['ENOENT', 'EISDIR', 'EIO'].includes((error as NodeJS.ErrnoException).code ?? '')) return ''
    throw error
  }
}
