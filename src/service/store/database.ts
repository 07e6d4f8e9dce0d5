import { spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { ClassicLevel } from 'classic-level'
import * as z from 'zod'
import {
  completePlanRequest,
  jobId,
  jobStates,
  planId,
  planInfo,
  serviceError,
  topologyInfo,
} from '../../client/protocol/http.js'
import { RankweaveError, reasonText } from '../../errors.js'
import { importPackages } from '../packages.js'
import { reasonWithoutPath } from './storing.js'

/** The bytes of the engine's log, which a start has to write again before it reads. */
const writeBufferSize = 256 * 1024

/**
 * The program that opens, reads and rewrites all tables. The service meets its errors, too. It exists because the
 * engine ends its process if a bit of a key has flipped.
 */
const rehearsal = `
  const { default: { ClassicLevel } } = await import(process.argv[1])
  const level = new ClassicLevel(process.argv[2], { createIfMissing: false })
  await level.open().then(() => level.compactRange('', '\\uffff')).catch(() => {})
`

/** The key under which each opening writes its identity. */
const openerKey = 'opener'

/** A record as it was written, or the reason why it is missing. */
export type FoundRecord =
  | { readonly key: string; readonly value: unknown; readonly bytes: number }
  | { readonly key: string; readonly text: string; readonly reason: string }

/**
 * The records by key in one LevelDB, which one process has at a time. The engine orders, writes, compacts and locks. It
 * checks neither blocks that it reads nor, when it starts, what its log has lost. So each value has a sum over its key
 * and its text. After a write that failed, the engine may have the data or not, and may lose what it writes next. So
 * the database is opened again before the next write, which first writes the correct values of the keys of the failed
 * one. The same holds if the engine's lock was removed: a database that another process has had meanwhile is refused.
 */
export class Database {
  readonly #folder: string
  readonly #engine: typeof ClassicLevel
  readonly #opener = randomBytes(16).toString('hex')
  /** The keys of writes that failed, with their values before; undefined for none. */
  readonly #doubtful = new Map<string, unknown>()
  #level: ClassicLevel | null = null
  /** The number of the file by which the engine locks, while it is open. */
  #lock = 0

  private constructor(folder: string, engine: typeof ClassicLevel) {
    this.#folder = folder
    this.#engine = engine
  }

  /** @throws ERR_STORE when another process has it, or it cannot be read and written */
  static async open(folder: string): Promise<Database> {
    const database = new Database(folder, await loadEngine())
    database.#level = await database.#opened(dirname(folder))
    try {
      await database.#put([[openerKey, database.#opener]])
    } catch (error) {
      await database.close()
      throw error
    }
    return database
  }

  /** Reads all records, in the order of their keys. @throws ERR_STORE if the engine cannot read on */
  async *read(): AsyncGenerator<FoundRecord> {
    try {
      for await (const [key, text] of this.#level!.iterator()) {
        if (key !== openerKey) yield found(key, text)
      }
    } catch (cause) {
      throw engineError(cause)
    }
  }

  /**
   * Writes all or nothing, for good when this resolves; undefined removes. Data of a failed write do not exist, also
   * after the next start, unless the process ends before it can write again.
   *
   * @param before what the keys have now
   * @returns bytes of each value
   * @throws ERR_STORE
   */
  async write(
    changes: readonly (readonly [key: string, value: unknown])[],
    before: (key: string) => unknown,
  ): Promise<number[]> {
    // Another process may have the database if the lock was removed.
    if (this.#level !== null && this.#lockFile() !== this.#lock) await this.close()
    await this.#mend()
    try {
      return await this.#put(changes)
    } catch (error) {
      for (const [key] of changes) this.#doubtful.set(key, before(key))
      await this.close()
      throw error
    }
  }

  /** Checks that it can write now. @throws ERR_STORE if not */
  async probe(): Promise<void> {
    await this.write([[openerKey, this.#opener]], () => this.#opener)
  }

  /** Frees the space of overwritten and removed records. @throws ERR_STORE */
  async compact(): Promise<void> {
    await this.#mend()
    await this.#level!.compactRange('', '\uffff').catch((cause: unknown) => {
      throw engineError(cause)
    })
  }

  /** Returns the bytes of the engine's files. */
  size(): number {
    let bytes = 0
    for (const name of readdirSync(this.#folder))
      bytes += statSync(join(this.#folder, name), { throwIfNoEntry: false })?.size ?? 0
    return bytes
  }

  async close(): Promise<void> {
    const level = this.#level
    this.#level = null
    await level?.close()
  }

  async #mend(): Promise<void> {
    if (this.#level !== null) return
    const level = await this.#opened()
    if ((await level.get(openerKey)) !== written(openerKey, this.#opener)) {
      await level.close()
      throw new RankweaveError(
        'ERR_STORE',
        'another process has used the data since this one opened it: start again',
      )
    }
    this.#level = level
    try {
      await this.#put([...this.#doubtful])
      this.#doubtful.clear()
    } catch (error) {
      await this.close()
      throw error
    }
  }

  /** Returns the lock file's number on the disk; 0 if it is missing. */
  #lockFile(): number {
    return statSync(join(this.#folder, 'LOCK'), { throwIfNoEntry: false })?.ino ?? 0
  }

  /** @param data the folder for the error of an operator; default: none, as clients learn no paths */
  async #opened(data?: string): Promise<ClassicLevel> {
    const level = new this.#engine(this.#folder, { writeBufferSize })
    try {
      await level.open()
      this.#lock = this.#lockFile()
      return level
    } catch (cause) {
      throw engineError((cause as Error).cause ?? cause, data)
    }
  }

  async #put(changes: readonly (readonly [string, unknown])[]): Promise<number[]> {
    const batch = changes.map(([key, value]) =>
      value === undefined
        ? { type: 'del' as const, key }
        : { type: 'put' as const, key, value: written(key, value) },
    )
    try {
      await this.#level!.batch(batch, { sync: true })
    } catch (cause) {
      throw engineError(cause)
    }
    return batch.map((change) => (change.type === 'put' ? Buffer.byteLength(change.value) : 0))
  }
}

/**
 * Lets another process open the database first, as a damaged table may end the process that reads it.
 *
 * @throws ERR_STORE when it did, if one of its files is not a file, or if the engine is not installed
 */
export async function rehearseOpening(folder: string): Promise<void> {
  if (!existsSync(folder)) return
  requireFiles(folder)
  await loadEngine()
  const { databaseUrl } = await importPackages()
  const args = ['--input-type=module', '--eval', rehearsal, databaseUrl(), folder]
  const child = spawn(process.execPath, args, { stdio: 'ignore' })
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null]
  if (signal !== null || code === 134)
    throw engineError(Object.assign(new Error('the engine ended its process'), { code: 'LEVEL_CORRUPTION' }))
}

/**
 * Checks the kinds of files, because opening a pipe waits for its writer. @throws ERR_STORE for what is neither a file
 * nor a folder
 */
function requireFiles(folder: string): void {
  const entries = existsSync(folder) ? readdirSync(folder, { withFileTypes: true }) : []
  const other = entries.find((entry) => !entry.isFile() && !entry.isDirectory())
  if (other !== undefined)
    throw new RankweaveError('ERR_STORE', `${join(folder, other.name)}: expected a file, got something else`)
}

/**
 * Checks that the engine will not make a new database: if its first file is missing, it does so and removes the tables
 * of the old one.
 *
 * @throws ERR_STORE if there is something to lose, and for files of the layout before the database
 */
export function requireDatabase(folder: string): void {
  const old = readdirSync(folder).find((name) =>
    Object.keys(shelves).some((shelf) => existsSync(join(folder, name, shelf))),
  )
  if (old !== undefined)
    throw new RankweaveError(
      'ERR_STORE',
      `${join(folder, old)}: expected no files of an older layout; move ${old} away, upload its topologies again, and ask for its plans again`,
    )
  const records = join(folder, 'records')
  requireFiles(records)
  if (existsSync(join(records, 'CURRENT'))) return
  const filesOf = (path: string) => (existsSync(path) ? readdirSync(path) : [])
  const isOld = filesOf(records).some((name) => /\.(ldb|log)$/.test(name))
  if (isOld || filesOf(join(folder, 'bodies')).length > 0)
    throw new RankweaveError(
      'ERR_STORE',
      `${records}: expected the database of the data, got none: put a copy of ${folder} in its place, or move it away`,
    )
}

const sumOf = (key: string, json: string) => createHash('sha256').update(`${key}\n${json}`).digest('hex')

function written(key: string, value: unknown): string {
  const json = JSON.stringify(value)
  return `${sumOf(key, json)} ${json}`
}

function found(key: string, text: string): FoundRecord {
  const json = text.slice(65)
  if (text.slice(0, 65) !== `${sumOf(key, json)} `)
    return { key, text, reason: 'its record is not what was written' }
  try {
    return { key, value: JSON.parse(json), bytes: Buffer.byteLength(text) }
  } catch {
    return { key, text, reason: 'its record is not JSON' }
  }
}

/** Turns a refusal of the engine into an error, without paths but that of `data`. */
function engineError(cause: unknown, data?: string): RankweaveError {
  const { code } = cause as { readonly code?: string }
  const message =
    code === 'LEVEL_LOCKED'
      ? `${data ?? 'the data'} is in use by another process${data === undefined ? '' : ': end it, or give another --data'}`
      : code === 'LEVEL_CORRUPTION'
        ? 'the database of the data is damaged: put a copy of the whole folder in its place, or move that away'
        : `the data cannot be read or written: ${reasonWithoutPath(cause)}`
  return new RankweaveError('ERR_STORE', message, { cause })
}

/** Loads the engine. @throws ERR_STORE, ERR_SERVICE_PACKAGE */
async function loadEngine(): Promise<typeof ClassicLevel> {
  const { databaseUrl } = await importPackages()
  try {
    return ((await import(databaseUrl())) as typeof import('classic-level')).ClassicLevel
  } catch (cause) {
    throw new RankweaveError(
      'ERR_STORE',
      `the service needs the optional package classic-level, which cannot be loaded: npm install classic-level (${reasonText(cause)})`,
      { cause },
    )
  }
}

/** The file that belongs to a record. */
const body = z.strictObject({ bytes: z.int().min(0), sha256: z.string().regex(/^[0-9a-f]{64}$/) })

/** The record of a topology; its body is the upload. */
const topologyRecord = z.strictObject({
  format: z.literal('rankweave topology 1'),
  info: topologyInfo,
  /** The number of ranks that the rows of a matrix are distributed over; null for a topology that is not a matrix. */
  ranks: z.int().min(1).nullable(),
  body,
})

/** The record of a plan; its body is the schedule, version 2. */
const planRecord = z.strictObject({
  format: z.literal('rankweave plan 1'),
  info: planInfo,
  body,
})

/** The record of an accepted job; jobs that were queued or running when the service ended are queued again. */
const jobRecord = z.strictObject({
  format: z.literal('rankweave job 1'),
  id: jobId,
  plan: planId,
  request: completePlanRequest,
  state: z.enum(jobStates),
  error: serviceError.nullable(),
  /** The number of times it was begun without an end that was recorded. */
  starts: z.int().min(0),
  createdAt: z.iso.datetime(),
})

export type TopologyRecord = z.infer<typeof topologyRecord>
export type PlanRecord = z.infer<typeof planRecord>
export type JobRecord = z.infer<typeof jobRecord>

/** The kinds of records. */
export const shelves = {
  topologies: topologyRecord,
  plans: planRecord,
  jobs: jobRecord,
} as const satisfies Record<string, z.ZodType>

export type StoreShelf = keyof typeof shelves
export interface StoreRecords {
  readonly topologies: TopologyRecord
  readonly plans: PlanRecord
  readonly jobs: JobRecord
}

export function createdAt(record: StoreRecords[StoreShelf]): string {
  return 'info' in record ? record.info.createdAt : record.createdAt
}
