import { createHash } from 'node:crypto'
import { rm } from 'node:fs/promises'
import type { CompletePlanRequest, JobInfo, JobState } from '../../client/protocol/http.js'
import type { ServiceLimits } from '../../client/protocol/limits.js'
import { isRankweaveError, RankweaveError } from '../../errors.js'
import { requirePossible } from '../../neighborhood/choose/plan-request.js'
import { ownVersion } from '../../package-paths.js'
import type { Log } from '../log.js'
import type { JobRecord } from '../store/database.js'
import type { Store } from '../store/store.js'
import type { Tenant } from '../tenant.js'
import { type ReadRequest, readRequest } from './task.js'
import { TenantQueue, type WorkerPool } from './worker-pool.js'

/** A job while the service knows it. */
interface Job {
  readonly tenant: Tenant
  record: JobRecord
  /** The request as it was read; null for a job of the store, which is read when it runs. */
  readonly read: ReadRequest | null
  progress: JobInfo['progress']
  readonly listeners: Set<(info: JobInfo) => void>
  cancel: AbortController | null
  /** The end that is being written; null otherwise. */
  ending: Promise<void> | null
}

/** The number of starts without an end from which on a job fails. */
const mostStarts = 10

export interface JobsOptions {
  readonly store: Store
  readonly pool: Pick<WorkerPool, 'run'>
  readonly limits: Pick<ServiceLimits, 'queuedJobs' | 'endedJobs' | 'workers' | 'ranks'>
  readonly log: Log
  readonly now?: () => Date
}

/**
 * The jobs that make plans. A request names its plan, so equal requests get the same plan or job: each distinct plan is
 * made once. An accepted job is on the disk before it is acknowledged, and is queued again when the service was killed.
 * Tenants take turns. Memory: the records of `queuedJobs` and `endedJobs` jobs of each tenant.
 */
export class Jobs {
  readonly #store: Store
  readonly #pool: JobsOptions['pool']
  readonly #limits: JobsOptions['limits']
  readonly #log: Log
  readonly #now: () => Date
  readonly #jobs = new Map<string, Job>()
  readonly #queue = new TenantQueue<Job>()
  /** The requests whose job is being written to the disk. */
  readonly #accepting = new Map<string, Promise<Job>>()
  /** The jobs that the pool has; they may wait there. */
  readonly #running = new Map<Job, Promise<void>>()
  /** The jobs whose end the disk did not take. */
  readonly #unwritten = new Set<Job>()
  /** The time when the last job was accepted, in milliseconds: each has a later time than those before it. */
  #latest = 0
  #isClosing = false
  readonly ended: Record<Exclude<JobState, 'queued' | 'running'>, number> = {
    done: 0,
    failed: 0,
    cancelled: 0,
  }

  constructor({ store, pool, limits, log, now = () => new Date() }: JobsOptions) {
    this.#store = store
    this.#pool = pool
    this.#limits = limits
    this.#log = log
    this.#now = now
  }

  get queued(): number {
    return this.#queue.size + this.#running.size - this.running
  }

  get running(): number {
    return [...this.#running.keys()].filter(({ record }) => record.state === 'running').length
  }

  /** Resumes the jobs of the store: those that had not ended are queued again. */
  async resume(): Promise<void> {
    this.#store.onWritable = () => {
      for (const job of this.#unwritten) {
        this.#unwritten.delete(job)
        const key = keyOf(job.tenant, job.record.id)
        if (this.#jobs.get(key) === job && !this.#accepting.has(key))
          this.#store.putJob(job.tenant, job.record).catch(() => void this.#unwritten.add(job))
      }
    }
    for (const id of this.#store.tenants) {
      const tenant = { id }
      const records = this.#store.records('jobs', tenant).sort((a, b) => (a.createdAt < b.createdAt ? -1 : 1))
      for (const record of records) {
        const job = this.#remember(tenant, record)
        if (isEnded(record.state)) continue
        if (this.#store.get('plans', tenant, record.plan) !== undefined) await this.#end(job, 'done', null)
        else if (record.starts >= mostStarts)
          await this.#end(
            job,
            'failed',
            new RankweaveError(
              'ERR_STORE',
              `the job was started ${mostStarts} times, and each time the service stopped before the job ended`,
            ),
          )
        else this.#queue.add(tenant.id, job)
      }
    }
    this.#next()
  }

  /**
   * Returns the job of a plan: an existing one, or a new one, which is on the disk when this resolves.
   *
   * @throws ERR_NOT_FOUND for an unknown topology, ERR_BUSY when too many jobs wait; ERR_USAGE; ERR_STRATEGY and
   *   ERR_MACHINE for what is impossible on so many ranks, whatever the edges are
   */
  async request(
    tenant: Tenant,
    request: CompletePlanRequest,
  ): Promise<{ readonly info: JobInfo; readonly isNew: boolean }> {
    const { read, nodes } = readRequest(request)
    const cores = nodes?.cores ?? 0
    if (cores > this.#limits.ranks)
      throw new RankweaveError(
        'ERR_MACHINE',
        `machine: expected at most ${this.#limits.ranks} cores in all (ranks), got ${cores}`,
      )
    const plan = planIdOf(read)
    const key = keyOf(tenant, jobIdOf(plan))
    const accepting = this.#accepting.get(key)
    if (accepting !== undefined) return { info: infoOf(await accepting), isNew: false }
    const known = this.#jobs.get(key)
    const isThere = this.#store.get('plans', tenant, plan) !== undefined
    if (known !== undefined && (!isEnded(known.record.state) || (known.record.state === 'done' && isThere)))
      return { info: infoOf(known), isNew: false }
    if (isThere) return { info: infoOf(this.#ofStoredPlan(tenant, plan, request)), isNew: false }
    const stored = this.#store.get('topologies', tenant, request.topology)
    if (stored === undefined)
      throw new RankweaveError('ERR_NOT_FOUND', `there is no topology ${request.topology}`)
    requirePossible(read, stored.record.info.ranks, nodes)
    if (this.#isClosing) throw new RankweaveError('ERR_BUSY', 'the service shuts down')
    const active = this.#queue.sizeOf(tenant.id) + this.#acceptingOf(tenant)
    if (active >= this.#limits.queuedJobs)
      throw new RankweaveError(
        'ERR_BUSY',
        `expected at most ${this.#limits.queuedJobs} jobs that wait (queuedJobs)`,
      )
    const accepted = this.#accept(tenant, plan, request, read)
    this.#accepting.set(key, accepted)
    try {
      return { info: infoOf(await accepted), isNew: true }
    } finally {
      this.#accepting.delete(key)
    }
  }

  /** @throws ERR_NOT_FOUND */
  get(tenant: Tenant, id: string): JobInfo {
    return infoOf(this.#find(tenant, id))
  }

  /**
   * Explains why a plan that was requested is not stored.
   *
   * @throws ERR_NOT_FOUND while its job has not ended, or when it failed; ERR_CANCELLED
   */
  requireMade(tenant: Tenant, plan: string): void {
    const job = this.#jobs.get(keyOf(tenant, jobIdOf(plan)))
    if (job === undefined || this.#store.get('plans', tenant, plan) !== undefined) return
    const { id, state, error } = job.record
    if (!isEnded(state))
      throw new RankweaveError(
        'ERR_NOT_FOUND',
        `plan ${plan} is not made yet: its job is ${state}; wait for the end of /v1/jobs/${id}/events`,
      )
    if (state === 'cancelled')
      throw new RankweaveError('ERR_CANCELLED', `plan ${plan} was not made: its job was cancelled`)
    if (state === 'failed')
      throw new RankweaveError(
        'ERR_NOT_FOUND',
        `plan ${plan} was not made: its job failed with ${error?.code}: ${error?.message}`,
      )
  }

  /**
   * Calls the listener with every later change.
   *
   * @returns a function that ends the calls
   * @throws ERR_NOT_FOUND
   */
  watch(tenant: Tenant, id: string, listener: (info: JobInfo) => void): () => void {
    const { listeners } = this.#find(tenant, id)
    listeners.add(listener)
    return () => void listeners.delete(listener)
  }

  /**
   * Cancels a job for all clients that wait for it. A job that has ended stays unchanged.
   * @throws ERR_NOT_FOUND; ERR_STORE if the disk refuses the record, and the job then continues
   */
  async cancel(tenant: Tenant, id: string): Promise<JobInfo> {
    const job = this.#find(tenant, id)
    const isWaiting = this.#queue.remove(tenant.id, job)
    try {
      await this.#end(job, 'cancelled', new RankweaveError('ERR_CANCELLED', 'the job was cancelled'))
    } catch (error) {
      if (isWaiting) this.#queue.add(tenant.id, job)
      this.#next()
      throw error
    }
    return infoOf(job)
  }

  /** Returns whether a job that has not ended needs a topology. */
  needs(tenant: string, topology: string): boolean {
    for (const { tenant: owner, record } of this.#jobs.values())
      if (owner.id === tenant && record.request.topology === topology && !isEnded(record.state)) return true
    return false
  }

  /**
   * Starts no further job. Resolves when running jobs have ended, or after `graceMs`; jobs that have not ended are
   * queued on the disk.
   */
  async close(graceMs: number): Promise<void> {
    this.#isClosing = true
    await Promise.allSettled(this.#accepting.values())
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, graceMs)
    })
    await Promise.race([Promise.allSettled(this.#running.values()), late])
    clearTimeout(timer)
  }

  async #accept(tenant: Tenant, plan: string, request: CompletePlanRequest, read: ReadRequest): Promise<Job> {
    this.#latest = Math.max(this.#now().getTime(), this.#latest + 1)
    const record: JobRecord = {
      format: 'rankweave job 1',
      id: jobIdOf(plan),
      plan,
      request,
      state: 'queued',
      error: null,
      starts: 0,
      createdAt: new Date(this.#latest).toISOString(),
    }
    await this.#store.putJob(tenant, record)
    const job = this.#remember(tenant, record, read)
    this.#queue.add(tenant.id, job)
    this.#next()
    return job
  }

  #acceptingOf({ id }: Tenant): number {
    return [...this.#accepting.keys()].filter((key) => key.startsWith(`${id}/`)).length
  }

  #remember(tenant: Tenant, record: JobRecord, read: ReadRequest | null = null): Job {
    const key = keyOf(tenant, record.id)
    const listeners = this.#jobs.get(key)?.listeners ?? new Set()
    const job: Job = { tenant, record, read, progress: null, listeners, cancel: null, ending: null }
    this.#jobs.delete(key)
    this.#jobs.set(key, job)
    return job
  }

  /** Makes a job for a plan that outlived its job. */
  #ofStoredPlan(tenant: Tenant, plan: string, request: CompletePlanRequest): Job {
    const { createdAt } = this.#store.get('plans', tenant, plan)!.record.info
    const id = jobIdOf(plan)
    return this.#remember(tenant, {
      ...{ format: 'rankweave job 1', id, plan, request, state: 'done', error: null, starts: 0, createdAt },
    })
  }

  #find(tenant: Tenant, id: string): Job {
    const job = this.#jobs.get(keyOf(tenant, id))
    if (job === undefined) throw new RankweaveError('ERR_NOT_FOUND', `there is no job ${id}`)
    const { state, plan } = job.record
    if (state === 'done' && this.#store.get('plans', tenant, plan) === undefined)
      throw new RankweaveError('ERR_NOT_FOUND', `the plan of job ${id} was removed`)
    return job
  }

  /** Gives the pool as many jobs as it has threads, and one of each tenant of which it has none. */
  #next(): void {
    while (!this.#isClosing) {
      const hasNone = (tenant: string) => ![...this.#running.keys()].some((job) => job.tenant.id === tenant)
      const isFull = this.#running.size >= this.#limits.workers
      const job = this.#queue.take(hasNone) ?? (isFull ? undefined : this.#queue.take())
      if (job === undefined) return
      const running = this.#run(job).finally(() => {
        this.#running.delete(job)
        this.#next()
      })
      this.#running.set(job, running)
    }
  }

  async #run(job: Job): Promise<void> {
    const { tenant, record } = job
    const { request, plan } = record
    const began = performance.now()
    job.cancel = new AbortController()
    const into = this.#store.temporaryFile()
    try {
      // A process that cannot record that it begins a job does not begin it.
      await this.#store.putJob(tenant, { ...record, starts: record.starts + 1 })
      const read = job.read ?? readRequest(request).read
      if (planIdOf(read) !== plan)
        throw new RankweaveError(
          'ERR_STORE',
          `expected the request of ${plan}, got another one, or that of another version; ask again`,
        )
      const stored = await this.#store.verified('topologies', tenant, request.topology)
      if (stored === undefined)
        throw new RankweaveError('ERR_NOT_FOUND', `there is no topology ${request.topology}`)
      const { info, ranks } = stored.record
      const upload = { path: stored.path, format: info.format, ranks }
      const { statistics, body } = await this.#pool.run(
        'plan',
        { upload, request: read, into },
        {
          signal: job.cancel.signal,
          tenant: tenant.id,
          onState: (state) => {
            if (isEnded(job.record.state)) return
            job.progress = null
            this.#change(job, { ...record, state })
          },
          onProgress: (progress) => {
            job.progress = progress
            this.#tell(job)
          },
        },
      )
      const createdAt = this.#now().toISOString()
      const planned = { id: plan, request, createdAt, bytes: body.bytes, sha256: body.sha256, statistics }
      if (isEnded(job.record.state)) throw new RankweaveError('ERR_CANCELLED', 'the plan came too late')
      await this.#store.add(
        'plans',
        tenant,
        { format: 'rankweave plan 1', info: planned, body },
        into,
        (...of) => this.needs(...of),
      )
      await this.#end(job, 'done', null)
      this.#log.info({ tenant: tenant.id, plan, ms: Math.round(performance.now() - began) }, 'planned')
    } catch (error) {
      // The file is removed first, as it may take the room in which the failure is to be recorded.
      await rm(into, { force: true }).catch(() => {})
      // The job stays queued on the disk, as if it had not been begun.
      if (this.#isClosing && isRankweaveError(error, 'ERR_BUSY')) {
        if (!isEnded(job.record.state)) await this.#store.putJob(tenant, record).catch(() => {})
        return
      }
      this.#store.suspect(error)
      await this.#end(job, 'failed', error)
    }
  }

  /**
   * Records the end of a job on the disk, once, before any client learns of it. A job that was not cancelled ends even
   * if the disk refuses the record.
   *
   * @throws ERR_STORE if the disk refuses to record a cancellation
   */
  async #end(job: Job, state: 'done' | 'failed' | 'cancelled', error: unknown): Promise<void> {
    while (job.ending !== null) await job.ending.catch(() => {})
    if (isEnded(job.record.state)) return
    const record = { ...job.record, state, error: error === null ? null : shownError(error) }
    const fields = { tenant: job.tenant.id, plan: record.plan }
    if (error !== null && !(error instanceof RankweaveError))
      this.#log.error({ ...fields, error: String(error) }, 'a bug: planning failed')
    try {
      job.ending = this.#store.putJob(job.tenant, record)
      await job.ending
    } catch (cause) {
      if (state === 'cancelled') throw cause
      this.#unwritten.add(job)
      this.#log.error({ ...fields, error: String(cause) }, 'a job that ended was not written')
    } finally {
      job.ending = null
    }
    this.ended[state]++
    job.progress = null
    if (state === 'cancelled') job.cancel?.abort()
    this.#change(job, record)
    await this.#forgetOldest(job.tenant).catch((cause: unknown) =>
      this.#log.error({ ...fields, error: String(cause) }, 'a job that ended was not forgotten'),
    )
  }

  async #forgetOldest(tenant: Tenant): Promise<void> {
    const ended = [...this.#jobs.values()].filter(
      ({ tenant: { id }, record }) =>
        id === tenant.id && isEnded(record.state) && !this.#accepting.has(keyOf(tenant, record.id)),
    )
    for (const { record } of ended.slice(0, Math.max(0, ended.length - this.#limits.endedJobs))) {
      this.#jobs.delete(keyOf(tenant, record.id))
      await this.#store.remove('jobs', tenant, record.id)
    }
  }

  #change(job: Job, record: JobRecord): void {
    job.record = record
    this.#tell(job)
  }

  #tell(job: Job): void {
    const info = infoOf(job)
    for (const listener of [...job.listeners]) listener(info)
  }
}

export function planIdOf({ key }: ReadRequest): string {
  return `p-${createHash('sha256').update(`${ownVersion()}\n${key}`).digest('hex')}`
}

const jobIdOf = (plan: string) => `j-${plan.slice(2)}`
const keyOf = ({ id }: Tenant, job: string) => `${id}/${job}`
export const isEnded = (state: JobState) => state !== 'queued' && state !== 'running'

function infoOf({ record, progress }: Job): JobInfo {
  const { id, plan, request, state, error, createdAt } = record
  return { id, plan, topology: request.topology, state, progress, error, createdAt }
}

/** Returns the error to show. A bug is shown as no more than that: its message may hold anything. */
function shownError(error: unknown): { readonly code: string; readonly message: string } {
  if (error instanceof RankweaveError) return { code: error.code, message: error.message.slice(0, 2000) }
  return { code: 'ERR_WORKER', message: 'a bug in the service; its log has the error' }
}
