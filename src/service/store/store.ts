import { randomBytes } from 'node:crypto'
import { constants, mkdirSync, readdirSync, realpathSync, rmSync, statSync } from 'node:fs'
import { access, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { getOrAdd } from '../../base/maps.js'
import type { ServiceLimits } from '../../client/protocol/limits.js'
import { isRankweaveError, RankweaveError, reasonText } from '../../errors.js'
import type { Log } from '../log.js'
import type { Tenant } from '../tenant.js'
import {
  createdAt,
  Database,
  type FoundRecord,
  type JobRecord,
  type StoreRecords as Records,
  requireDatabase,
  type StoreShelf as Shelf,
  shelves,
} from './database.js'
import { digestOrNothing, storing, syncFolder } from './storing.js'

/** The approximate bytes that every file takes on the disk in addition to its content. */
const fileBytes = 4096

/** The bytes that the engine may take beyond its records before it frees them to make room. */
const engineSlack = 64 * 1024

/** The bytes that are written to learn whether the disk takes anything. */
const probeBytes = 64 * 1024
const probeMs = 1_000

/** A stored record, and the path of its body; '' for a job, which has none. */
export interface Stored<R> {
  readonly record: R
  readonly path: string
}

interface Entry<R> extends Stored<R> {
  /** The bytes of its record and its body on the disk. */
  readonly bytes: number
  readonly recordBytes: number
  /** The digest of the body, once it is requested; '' if there is none. */
  digest?: Promise<string>
}

/** The entries of a tenant, those of each shelf in the order of their age, and the room that they take. */
interface TenantEntries extends Taken {
  readonly shelves: { readonly [S in Shelf]: Map<string, Entry<Records[S]>> }
  bytes: number
  files: number
}

/**
 * Topologies, plans and accepted jobs: records in the database `DATA/records`, and bodies as files
 * `DATA/bodies/TENANT.ID.SHA256`, which exist before their records. Damaged records, and bodies without a record, are
 * moved to `DATA/damaged` when the store is opened; a body is verified before it is first used. Writes
 * are serialized, and memory changes after the disk: if a delete fails, the record remains.
 *
 * Memory: the records, a few kilobytes each, of at most `entries` plans and topologies. Disk: at most `dataBytes`, with
 * the engine's files. To make room, the tenant that takes most loses files: the oldest plans first, then topologies
 * that no waiting job needs. No tenant displaces files of one that takes less.
 */
export class Store {
  readonly #root: string
  readonly #limits: Pick<ServiceLimits, 'dataBytes' | 'entries'>
  readonly #log: Log
  readonly #database: Database
  readonly #tenants = new Map<string, TenantEntries>()
  #last: Promise<unknown> = Promise.resolve()
  #isClosed = false
  #bytes = 0
  #files = 0
  #recordBytes = 0
  /** The bytes that the engine takes beyond the records, and the least that it took. */
  #engineBytes = 0
  #leastEngineBytes = 0
  #problem: string | null = null
  #probing: NodeJS.Timeout | undefined
  /** Called when the disk can be written again. */
  onWritable: () => void = () => {}

  private constructor(
    root: string,
    limits: Pick<ServiceLimits, 'dataBytes' | 'entries'>,
    log: Log,
    database: Database,
  ) {
    this.#root = root
    this.#limits = limits
    this.#log = log
    this.#database = database
  }

  /**
   * @throws ERR_STORE when another process has the folder, it cannot be read and written, or it has the files
   *   of an older layout
   */
  static async open(
    root: string,
    limits: Pick<ServiceLimits, 'dataBytes' | 'entries'>,
    log: Log,
  ): Promise<Store> {
    return storing(async () => {
      mkdirSync(root, { recursive: true, mode: 0o700 })
      const folder = realpathSync(root)
      requireDatabase(folder)
      // The engine's lock comes first: the files may be those of another process.
      const database = await Database.open(join(folder, 'records'))
      try {
        rmSync(join(folder, 'temporary'), { recursive: true, force: true })
        for (const name of ['temporary', 'damaged', 'bodies'])
          mkdirSync(join(folder, name), { recursive: true, mode: 0o700 })
        const store = new Store(folder, limits, log, database)
        await store.#read()
        return store
      } catch (error) {
        await database.close()
        throw error
      }
    }, reasonText)
  }

  /** The approximate bytes below the folder. */
  get bytes(): number {
    return this.#bytes + this.#engineBytes
  }

  /** The reason why the disk cannot be written; null while it can. */
  get problem(): string | null {
    return this.#problem
  }

  /** The tenants that have anything here. */
  get tenants(): Iterable<string> {
    return this.#tenants.keys()
  }

  /** Returns a file that nothing else writes, and that is removed when the store is opened again. */
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
   * Returns an entry as {@link get}, with a verified body. A damaged one is moved aside, and counts as missing.
   *
   * @throws ERR_STORE when it cannot be read now
   */
  async verified<S extends 'topologies' | 'plans'>(
    shelf: S,
    tenant: Tenant,
    id: string,
  ): Promise<Stored<Records[S]> | undefined> {
    const entry = this.#entry(shelf, tenant.id, id)
    if (entry === undefined) return undefined
    entry.digest ??= digestOrNothing(entry.path)
    const digest = await storing(() => entry.digest!).catch((error: unknown) => {
      delete entry.digest
      throw error
    })
    if (digest === entry.record.body.sha256) return entry
    return this.#inTurn(async () => {
      // Another reader may have found it damaged, too, and it may be stored again by now.
      if (this.#entry(shelf, tenant.id, id) !== entry) return this.#entry(shelf, tenant.id, id)
      await this.#setAside(keyOf(shelf, tenant.id, id), 'its body is not what was written', [entry.path])
      this.#forget(shelf, tenant.id, id)
      return undefined
    })
  }

  /**
   * Stores a topology or plan, for good when this resolves.
   *
   * @param bodyFile a temporary file whose bytes are on the disk already; it is moved
   * @param needed topologies that must stay, as waiting jobs need them
   * @returns the stored record, which is another one if equal content arrived at the same time
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
    return this.#inTurn(async () => {
      const known = this.#entry(shelf, tenant.id, id)
      if (known !== undefined) {
        await rm(bodyFile, { force: true })
        return known.record
      }
      const path = this.#bodyPath(tenant.id, id, record.body.sha256)
      const bytes = record.body.bytes + fileBytes
      const going = await this.#makeRoom(tenant.id, bytes + JSON.stringify(record).length, needed)
      await rename(bodyFile, path)
      try {
        await syncFolder(join(this.#root, 'bodies'))
        const all = going.map((one) => [keyOf(one.shelf, one.tenant, one.id), undefined] as const)
        const [recordBytes] = await this.#write([[keyOf(shelf, tenant.id, id), record], ...all])
        const digest = Promise.resolve(record.body.sha256)
        const entry = { record, path, bytes: bytes + recordBytes, recordBytes, digest }
        this.#put(shelf, tenant.id, id, entry as unknown as Entry<Records[S]>)
      } catch (error) {
        await rm(path, { force: true }).catch(() => {})
        throw error
      }
      for (const one of going) {
        await this.#removeBody(this.#forget(one.shelf, one.tenant, one.id))
        this.#log.info({ ...one }, 'removed to make room')
      }
      return record
    })
  }

  /** Stores a job, for good when this resolves. @throws ERR_STORE */
  async putJob(tenant: Tenant, record: JobRecord): Promise<void> {
    await this.#inTurn(async () => {
      const [bytes] = await this.#write([[keyOf('jobs', tenant.id, record.id), record]])
      this.#put('jobs', tenant.id, record.id, { record, path: '', bytes, recordBytes: bytes })
    })
  }

  /** @returns whether it was there @throws ERR_STORE; then it is still there */
  async remove(shelf: Shelf, tenant: Tenant, id: string): Promise<boolean> {
    return this.#inTurn(async () => {
      if (this.#entry(shelf, tenant.id, id) === undefined) return false
      await this.#write([[keyOf(shelf, tenant.id, id), undefined]])
      await this.#removeBody(this.#forget(shelf, tenant.id, id))
      return true
    })
  }

  /** Finds out whether the disk can be written, after an error that says it could not; other errors are ignored. */
  suspect(error: unknown): void {
    if (!isRankweaveError(error, 'ERR_STORE') || this.#problem !== null || this.#isClosed) return
    this.#problem = error.message
    void this.#probe()
  }

  /** Stops accepting, and releases the folder once pending writes are on disk. To be called once. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#probing)
    await this.#last
    await this.#database.close()
  }

  /** Does work one after the other. */
  async #inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.#isClosed) throw new RankweaveError('ERR_BUSY', 'the service shuts down')
    const result = this.#last.then(() => storing(work))
    this.#last = result.catch((error: unknown) => this.suspect(error))
    return result
  }

  async #probe(): Promise<void> {
    const path = this.temporaryFile()
    try {
      await this.#inTurn(async () => {
        try {
          await writeFile(path, Buffer.alloc(probeBytes), { flag: 'wx', flush: true, mode: 0o600 })
        } finally {
          await rm(path, { force: true })
        }
        await access(join(this.#root, 'bodies'), constants.W_OK)
        await this.#database.probe()
      })
      this.#problem = null
      this.onWritable()
    } catch (error) {
      if (this.#isClosed) return
      this.#problem = reasonText(error)
      this.#probing = setTimeout(() => void this.#probe(), probeMs).unref()
    }
  }

  #entry<S extends Shelf>(shelf: S, tenant: string, id: string): Entry<Records[S]> | undefined {
    return this.#tenants.get(tenant)?.shelves[shelf].get(id) as Entry<Records[S]> | undefined
  }

  async #write(changes: readonly (readonly [string, unknown])[]): Promise<number[]> {
    return this.#database.write(changes, (key) => {
      const [shelf, tenant, id] = partsOf(key)
      return this.#entry(shelf, tenant, id)?.record
    })
  }

  async #read(): Promise<void> {
    const bodies = new Set(readdirSync(join(this.#root, 'bodies')))
    const all: (readonly [Shelf, string, string, Entry<Records[Shelf]>])[] = []
    const damaged: (FoundRecord & { readonly reason: string })[] = []
    for await (const found of this.#database.read()) {
      if ('reason' in found) damaged.push(found)
      else {
        const [shelf, tenant, id] = partsOf(found.key)
        const entry = this.#entryOf(shelf, tenant, id, found.value, found.bytes)
        if (typeof entry === 'string')
          damaged.push({ key: found.key, text: JSON.stringify(found.value), reason: entry })
        else {
          all.push([shelf, tenant, id, entry])
          if ('body' in entry.record) bodies.delete(bodyName(tenant, id, entry.record.body.sha256))
        }
      }
    }
    for (const { key, reason, ...rest } of damaged) {
      const [, tenant, id] = partsOf(key)
      const theirs = [...bodies].filter((name) => name.startsWith(`${tenant}.${id}.`))
      for (const name of theirs) bodies.delete(name)
      const paths = theirs.map((name) => join(this.#root, 'bodies', name))
      await this.#setAside(key, reason, paths, 'text' in rest ? rest.text : '')
    }
    // The records of these bodies were not written or are removed, or the engine's log has lost them.
    for (const name of bodies) {
      this.#log.warn({ body: name }, 'a body without a record, put aside')
      await rename(join(this.#root, 'bodies', name), join(this.#root, 'damaged', name))
    }
    all.sort(([, , , a], [, , , b]) => (createdAt(a.record) < createdAt(b.record) ? -1 : 1))
    for (const [shelf, tenant, id, entry] of all) this.#put(shelf, tenant, id, entry)
    this.#measure()
    this.#leastEngineBytes = this.#engineBytes
  }

  /** Returns the entry of a record that was read, or why there is none. */
  #entryOf(
    shelf: Shelf,
    tenant: string,
    id: string,
    value: unknown,
    recordBytes: number,
  ): Entry<Records[Shelf]> | string {
    const { data: record, error } = (Object.hasOwn(shelves, shelf) && shelves[shelf].safeParse(value)) || {}
    if (record === undefined) return `its record has another form: ${reasonText(error)}`
    if (!('body' in record)) return { record, path: '', bytes: recordBytes, recordBytes }
    const path = this.#bodyPath(tenant, id, record.body.sha256)
    const size = statSync(path, { throwIfNoEntry: false })?.size
    if (size !== record.body.bytes) return `its body has ${size ?? 'no'} bytes, not ${record.body.bytes}`
    return { record, path, bytes: record.body.bytes + fileBytes + recordBytes, recordBytes }
  }

  #put<S extends Shelf>(shelf: S, tenant: string, id: string, entry: Entry<Records[S]>): void {
    this.#forget(shelf, tenant, id)
    const all = getOrAdd(this.#tenants, tenant, () => ({
      shelves: { topologies: new Map(), plans: new Map(), jobs: new Map() },
      bytes: 0,
      files: 0,
    }))
    ;(all.shelves[shelf] as Map<string, Entry<Records[S]>>).set(id, entry)
    this.#count(all, entry, shelf === 'jobs' ? 0 : 1, 1)
  }

  #forget(shelf: Shelf, tenant: string, id: string): Entry<Records[Shelf]> | undefined {
    const all = this.#tenants.get(tenant)
    const entry = all?.shelves[shelf].get(id)
    if (all === undefined || entry === undefined) return undefined
    all.shelves[shelf].delete(id)
    this.#count(all, entry, shelf === 'jobs' ? 0 : 1, -1)
    return entry
  }

  #count(all: TenantEntries, entry: Entry<unknown>, files: number, sign: 1 | -1): void {
    all.bytes += sign * entry.bytes
    all.files += sign * files
    this.#bytes += sign * entry.bytes
    this.#files += sign * files
    this.#recordBytes += sign * entry.recordBytes
  }

  #measure(): void {
    this.#engineBytes = Math.max(0, this.#database.size() - this.#recordBytes)
  }

  /** Returns what to remove to make room for one file more; the engine first frees what it need not have. */
  async #makeRoom(tenant: string, bytes: number, needed: IsNeeded): Promise<Dispensable[]> {
    const { dataBytes, entries } = this.#limits
    this.#measure()
    const excess = () => ({ bytes: this.bytes + bytes - dataBytes, files: this.#files + 1 - entries })
    if (excess().bytes > 0 && this.#engineBytes > 2 * this.#leastEngineBytes + engineSlack) {
      await this.#database.compact()
      this.#measure()
      this.#leastEngineBytes = this.#engineBytes
    }
    const found = dispensable(this.#tenants, this.#limits, { tenant, bytes }, excess(), needed)
    if (found === null)
      throw new RankweaveError(
        'ERR_LIMIT',
        `there is no room: expected at most ${dataBytes} bytes of data (dataBytes) and ${entries} topologies and plans (entries)`,
      )
    return found
  }

  #bodyPath(tenant: string, id: string, sha256: string): string {
    return join(this.#root, 'bodies', bodyName(tenant, id, sha256))
  }

  /** Removes a body. One that cannot be removed now has no record, and is put aside when the store is opened again. */
  async #removeBody(entry: Entry<unknown> | undefined): Promise<void> {
    if (entry !== undefined && entry.path !== '') await rm(entry.path, { force: true }).catch(() => {})
  }

  async #setAside(key: string, reason: string, bodies: readonly string[], text?: string): Promise<void> {
    const [shelf, tenant, id] = partsOf(key)
    this.#log.warn({ tenant, shelf, id, reason }, 'damaged, put aside')
    const name = key.replace(/[^0-9a-z-]/g, '.').slice(0, 200)
    const record = text ?? JSON.stringify(this.#entry(shelf, tenant, id)?.record)
    await writeFile(join(this.#root, 'damaged', `${name}.json`), record, { mode: 0o600 })
    for (const path of bodies) await rename(path, join(this.#root, 'damaged', name)).catch(() => {})
    await this.#write([[key, undefined]])
  }
}

const keyOf = (shelf: Shelf, tenant: string, id: string) => `${shelf}/${tenant}/${id}`
const partsOf = (key: string) => key.split('/') as [Shelf, string, string]
const bodyName = (tenant: string, id: string, sha256: string) => `${tenant}.${id}.${sha256}`

/** Returns whether a job of a tenant that has not ended needs a topology. */
type IsNeeded = (tenant: string, topology: string) => boolean

type ShelfSizes = ReadonlyMap<string, { readonly bytes: number }>

/** The room that a tenant takes. Plans and topologies by id, the oldest first. */
interface Taken {
  readonly shelves: { readonly plans: ShelfSizes; readonly topologies: ShelfSizes }
  readonly bytes: number
  /** The number of topologies and plans. */
  readonly files: number
}

interface Dispensable {
  readonly shelf: 'plans' | 'topologies'
  readonly tenant: string
  readonly id: string
}

/**
 * Returns the files to remove so that a tenant can store one more. Each belongs to the tenant that then stores most:
 * its oldest plan, else its oldest topology that no job needs. A tenant that stores no more than the asking one will
 * loses nothing, so no tenant displaces others by storing much.
 *
 * @param excess the bytes and files beyond the limits
 * @returns null if removing all that may go does not suffice; then nothing is to be removed
 */
function dispensable(
  tenants: ReadonlyMap<string, Taken>,
  { dataBytes, entries }: Pick<ServiceLimits, 'dataBytes' | 'entries'>,
  asking: { readonly tenant: string; readonly bytes: number },
  excess: { readonly bytes: number; readonly files: number },
  isNeeded: IsNeeded,
): Dispensable[] | null {
  const givers = [...tenants].map(([tenant, { shelves, bytes, files }]) => {
    const isAsking = tenant === asking.tenant
    return {
      ...{ tenant, isAsking, going: going(tenant, shelves, isNeeded) },
      bytes: bytes + (isAsking ? asking.bytes : 0),
      files: files + (isAsking ? 1 : 0),
    }
  })
  const shareOf = ({ bytes, files }: { bytes: number; files: number }) =>
    Math.max(bytes / dataBytes, files / entries)
  const newcomer = shareOf({ bytes: asking.bytes, files: 1 })
  const found: Dispensable[] = []
  let { bytes, files } = excess
  while (bytes > 0 || files > 0) {
    const own = givers.find(({ isAsking }) => isAsking)
    const ownShare = own === undefined ? newcomer : shareOf(own)
    const most = givers
      .filter((giver) => giver.isAsking || shareOf(giver) > ownShare)
      .sort((a, b) => shareOf(b) - shareOf(a))
      .find(({ going }) => going.next !== undefined)
    if (most === undefined) return null
    const next = most.going.next!
    most.going.take()
    most.bytes -= next.bytes
    most.files--
    bytes -= next.bytes
    files--
    found.push({ shelf: next.shelf, tenant: most.tenant, id: next.id })
  }
  return found
}

/** Yields the files of a tenant that can be removed, one after the other. */
function going(tenant: string, { plans, topologies }: Taken['shelves'], isNeeded: IsNeeded) {
  function* all() {
    for (const [id, { bytes }] of plans) yield { shelf: 'plans' as const, id, bytes }
    for (const [id, { bytes }] of topologies)
      if (!isNeeded(tenant, id)) yield { shelf: 'topologies' as const, id, bytes }
  }
  const items = all()
  let next = items.next().value
  return {
    get next() {
      return next
    },
    take: () => {
      next = items.next().value
    },
  }
}
