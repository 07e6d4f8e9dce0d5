import { functionOption, type OptionTable, signalOption, uncheckedOptions } from '../base/option.js'
import { checkOptions } from '../base/option-table.js'
import type { simulationObject } from '../cost/simulate/simulation.js'
import { causeText, RankweaveError, shown } from '../errors.js'
import type { PlanView } from '../report/plan-view.js'
import type { TopologyView } from '../report/topology-view.js'
import { parseScheduleStream } from '../schedule/file/reader.js'
import type { Schedule } from '../schedule/ir.js'
import type { MappingFile } from '../topology/mapping/mapping-file.js'
import {
  errorOf,
  idText,
  interrupted,
  linesOf,
  queryText,
  type ServiceAddress,
  serviceUrl,
  unreachable,
} from './answers.js'
import type {
  ErrorAnswer,
  JobInfo,
  PlanInfo,
  PlanList,
  PlanRequest,
  RankProgram,
  TopologyAnswer,
  TopologyInfo,
  TopologyList,
  UploadAnswer,
  UploadFormat,
} from './protocol/http.js'
import type { MountedWorldInfo, MountedWorldRequest, OpenedWorld, WorldInfo } from './protocol/worlds.js'

export interface ServiceClientOptions extends ServiceAddress {
  /** The function that fetches, for private certificates or a proxy. Default: the global `fetch`. */
  readonly fetch?: typeof fetch
  /**
   * The signal that ends all requests of this client, streams included: they reject with ERR_ABORTED. Jobs continue;
   * {@link ServiceClient.cancel} ends one.
   */
  readonly signal?: AbortSignal
}

const clientOptions: OptionTable<ServiceClientOptions> = {
  ...uncheckedOptions('url', 'token'),
  fetch: functionOption,
  signal: signalOption,
}

// The service checks the values of these options.
const uploadOptions = uncheckedOptions('format', 'name', 'ranks')

/** A graph of graphology, of any class, as {@link ServiceClient.upload} takes it. */
export interface UploadedGraph {
  readonly order: number
  readonly size: number
  export(): object
}

/** The options of pictures. */
export interface ViewOptions {
  /** The machine, as on the command line, with a profile if times are wanted. Default: that of the plan's request. */
  readonly machine?: string
  /** The bytes of every block. Default: those of the plan's request. */
  readonly bytes?: number
  /** A rank to show with its program and neighbors. */
  readonly rank?: number
}

/** The cost of a plan on a machine, as `rankweave simulate --json` prints it: predicted times in microseconds. */
export interface SimulationAnswer extends ReturnType<typeof simulationObject> {
  readonly collective: string
  readonly strategy: string
  readonly parameters: Readonly<Record<string, unknown>>
  readonly ranks: number
  readonly machine: string
  readonly bytesPerContribution: number
}

/** Called with every state of a job; a slow reader may miss states that follow each other quickly, but not the last. */
export type JobListener = (job: JobInfo) => void

const ignore: JobListener = () => {}

const longestPage = 1000

/**
 * Asks a service (docs/service.md) for topologies, plans and facts about them, over HTTP. Nothing is retained, and no
 * connection is held between calls, so there is nothing to close.
 *
 * Every method rejects with a `RankweaveError`: the code that the service answers; ERR_SERVICE if it cannot be reached
 * or ends within an answer; ERR_PROTOCOL for a malformed answer; ERR_ARGUMENT for an invalid id; ERR_ABORTED.
 * ERR_TOKEN, ERR_BUSY and ERR_LIMIT may come from any of them.
 */
export class ServiceClient {
  readonly #base: URL
  readonly #token: string | undefined
  readonly #fetch: typeof fetch
  readonly #signal: AbortSignal | undefined

  /** @throws ERR_ARGUMENT */
  constructor(options: ServiceClientOptions) {
    checkOptions('ServiceClient', clientOptions, options)
    const { token, fetch: given, signal } = options
    this.#base = new URL('/v1/', serviceUrl(options))
    this.#token = token
    this.#signal = signal
    this.#fetch = given ?? ((input, init) => fetch(input, init))
  }

  /** Lists all topologies of this token, the oldest first, in one request for each 1,000 of them or each MiB. */
  async topologies(): Promise<readonly TopologyInfo[]> {
    return this.#pages<TopologyInfo, TopologyList>('topologies', (list) => list.topologies)
  }

  /** @throws ERR_NOT_FOUND; ERR_BUSY if too many tasks wait */
  async topology(id: string): Promise<TopologyAnswer> {
    return this.#json<TopologyAnswer>(`topologies/${idText('a topology', id)}`)
  }

  /**
   * Stores a topology, or finds it: its id is made of its graph, its weights and its grid. The answer also has what is
   * odd in it, and the keys of a graph.
   *
   * @param content a graph of graphology, whose nodes become ranks as in `topologyFromGraph`; an unchanged file, also
   *   one compressed by gzip; or the text of a topology such as `moore:64x64:r=4` for the format `spec`
   * @param options `name`: for people. `ranks`: how many ranks the rows of a matrix are distributed over; default: one
   *   per row
   * @throws ERR_MESSAGE_TOO_LARGE, ERR_LIMIT; ERR_ARGUMENT for a graph with attributes that JSON cannot hold and for
   *   unknown options; and as the reader of the format, ERR_MATRIX_MARKET, ERR_TOPOLOGY, ERR_SPEC
   */
  upload(content: UploadedGraph, options?: { readonly name?: string }): Promise<UploadAnswer>
  upload(
    content: string | Blob | Uint8Array<ArrayBuffer>,
    options: { readonly format: UploadFormat; readonly name?: string; readonly ranks?: number },
  ): Promise<UploadAnswer>
  async upload(
    content: string | Blob | Uint8Array<ArrayBuffer> | UploadedGraph,
    options: { readonly format?: UploadFormat; readonly name?: string; readonly ranks?: number } = {},
  ): Promise<UploadAnswer> {
    checkOptions('upload', uploadOptions, options)
    const isGraph = typeof content === 'object' && 'export' in content
    const { format = isGraph ? 'json' : undefined, name, ranks } = options
    return this.#json<UploadAnswer>(`topologies${queryText({ format, name, ranks })}`, {
      method: 'POST',
      body: isGraph ? graphText(content) : content,
      headers: { 'content-type': 'application/octet-stream' },
    })
  }

  /** Returns the data of a topology's pictures. @throws ERR_NOT_FOUND, ERR_RANK */
  async topologyView(id: string, options: Pick<ViewOptions, 'rank'> = {}): Promise<TopologyView> {
    return this.#json<TopologyView>(`topologies/${idText('a topology', id)}/view${queryText(options)}`)
  }

  /**
   * Asks for a plan. Equal requests share one job, which may be done already.
   *
   * @throws ERR_NOT_FOUND for the topology, ERR_BUSY if too many jobs wait; ERR_USAGE, ERR_STRATEGY, ERR_MACHINE
   */
  async requestPlan(request: PlanRequest): Promise<JobInfo> {
    return this.#json<JobInfo>('plans', {
      method: 'POST',
      body: JSON.stringify(request),
      headers: { 'content-type': 'application/json' },
    })
  }

  /** @throws ERR_NOT_FOUND */
  async job(id: string): Promise<JobInfo> {
    return this.#json<JobInfo>(`jobs/${idText('a job', id)}`)
  }

  /**
   * Cancels a job for all clients that wait for it. A job that has ended stays unchanged.
   * @throws ERR_NOT_FOUND
   */
  async cancel(id: string): Promise<JobInfo> {
    return this.#json<JobInfo>(`jobs/${idText('a job', id)}`, { method: 'DELETE' })
  }

  /**
   * Yields the states of a job from now to its end. Leaving the loop ends the request, not the job.
   * @throws ERR_NOT_FOUND
   */
  async *events(id: string): AsyncGenerator<JobInfo, void, undefined> {
    const { body } = await this.#ask(`jobs/${idText('a job', id)}/events`)
    for await (const line of linesOf(body!, this.#signal))
      if (line.startsWith('data: ')) yield parsed<JobInfo>(line.slice(6))
  }

  /**
   * Follows a job to its end, and returns its last state.
   * @throws ERR_NOT_FOUND; ERR_SERVICE if the service ends first
   */
  async follow(id: string, onChange: JobListener = ignore): Promise<JobInfo> {
    let last: JobInfo | null = null
    for await (const job of this.events(id)) {
      last = job
      onChange(job)
    }
    if (last !== null && last.state !== 'queued' && last.state !== 'running') return last
    throw new RankweaveError('ERR_SERVICE', `the service ended while the job was ${last?.state ?? 'unknown'}`)
  }

  /**
   * Asks for a plan and waits for it.
   *
   * @throws as {@link ServiceClient.requestPlan}; the error of the job; ERR_CANCELLED if a client cancelled it
   */
  async plan(request: PlanRequest, onChange: JobListener = ignore): Promise<PlanInfo> {
    const first = await this.requestPlan(request)
    onChange(first)
    const job = first.state === 'done' ? first : await this.follow(first.id, onChange)
    if (job.state !== 'done') throw errorOf(job.error ?? {}, `the job has ${job.state}`)
    return this.planInfo(job.plan)
  }

  /** Lists all plans of this token, the oldest first, in one request for each 1,000 of them or each MiB. */
  async plans(): Promise<readonly PlanInfo[]> {
    return this.#pages<PlanInfo, PlanList>('plans', (list) => list.plans)
  }

  /**
   * Returns the request of a plan, and its statistics, which `rankweave plan --json` prints.
   * @throws ERR_NOT_FOUND
   */
  async planInfo(id: string): Promise<PlanInfo> {
    return this.#json<PlanInfo>(planPath(id))
  }

  /** @throws ERR_NOT_FOUND */
  async removePlan(id: string): Promise<void> {
    await (await this.#ask(planPath(id), { method: 'DELETE' })).arrayBuffer()
  }

  /**
   * Returns the parsed schedule of a plan. It has passed all checks except `verify`.
   * @throws ERR_NOT_FOUND, ERR_SCHEDULE_FORMAT
   */
  async schedule(id: string): Promise<Schedule> {
    return parseScheduleStream(linesOf(await this.scheduleStream(id), this.#signal), id)
  }

  /**
   * Returns the schedule as JSON Lines (docs/schedule-format.md), byte for byte what `rankweave plan -o` writes.
   * @throws ERR_NOT_FOUND, ERR_SCHEDULE_VERSION
   */
  async scheduleText(id: string, version: 1 | 2 = 2): Promise<string> {
    return this.#text(`${planPath(id)}/schedule${queryText({ version })}`)
  }

  /** Returns {@link ServiceClient.scheduleText} as it arrives: its reader reads it to its end or cancels it. */
  async scheduleStream(id: string, version: 1 | 2 = 2): Promise<ReadableStream<Uint8Array>> {
    return (await this.#ask(`${planPath(id)}/schedule${queryText({ version })}`)).body!
  }

  /** Returns the operations of one rank. @throws ERR_NOT_FOUND, ERR_RANK */
  async program(id: string, rank: number): Promise<RankProgram> {
    return this.#json<RankProgram>(`${planPath(id)}/ranks/${encodeURIComponent(rank)}`)
  }

  /**
   * Returns the mapping of a plan that was requested with `map`: its rank `slotOf[v]` is vertex v of the topology. It
   * is computed anew, which takes as long as it took for the plan.
   *
   * @throws ERR_NOT_FOUND also for a plan whose rank v is vertex v, and for one whose topology was removed
   */
  async mapping(id: string): Promise<MappingFile> {
    return this.#json<MappingFile>(`${planPath(id)}/mapping`)
  }

  /**
   * Predicts the cost of a plan on a machine.
   *
   * @param options `machine`: as on the command line, with a profile; `bytes`: of every contribution
   * @throws ERR_NOT_FOUND, ERR_MACHINE, ERR_SIMULATION
   */
  async simulation(
    id: string,
    options: { readonly machine: string; readonly bytes: number },
  ): Promise<SimulationAnswer> {
    return this.#json<SimulationAnswer>(`${planPath(id)}/simulation${queryText(options)}`)
  }

  /** Returns a plan as a C program for MPI. @throws ERR_NOT_FOUND, ERR_EXPORT */
  async cProgram(id: string): Promise<string> {
    return this.#text(`${planPath(id)}/export${queryText({ as: 'c' })}`)
  }

  /** Returns a plan as GOAL text. @param bytes of every contribution @throws ERR_NOT_FOUND, ERR_EXPORT */
  async goalText(id: string, bytes: number): Promise<string> {
    return this.#text(`${planPath(id)}/export${queryText({ as: 'goal', bytes })}`)
  }

  /** Returns the data of a plan's pictures. @throws ERR_NOT_FOUND, ERR_MACHINE, ERR_RANK */
  async planView(id: string, options: ViewOptions = {}): Promise<PlanView> {
    return this.#json<PlanView>(`${planPath(id)}/view${queryText(options)}`)
  }

  /** Returns these pictures as one HTML file that loads nothing. @throws as {@link ServiceClient.planView} */
  async report(id: string, options: ViewOptions = {}): Promise<string> {
    return this.#text(`${planPath(id)}/report${queryText(options)}`)
  }

  /** The worlds of programs, which `rankweave join` joins. */
  get programWorlds(): ProgramWorlds {
    return new ProgramWorlds(this.#base, (path, init) => this.#json(path, init))
  }

  /** Lists the worlds of members that ask, and their communicators. To be one of them, see `WorldMember`. */
  async worlds(): Promise<readonly WorldInfo[]> {
    return (await this.#json<{ readonly worlds: readonly WorldInfo[] }>('worlds')).worlds
  }

  /** Reads all pages of a list. */
  async #pages<T, List extends { readonly next: string | null }>(
    path: string,
    itemsOf: (list: List) => readonly T[],
  ): Promise<readonly T[]> {
    const all: T[] = []
    for (let after: string | undefined; ; ) {
      const list: List = await this.#json<List>(`${path}${queryText({ limit: longestPage, after })}`)
      const items = itemsOf(list)
      for (const item of items) all.push(item)
      if (items.length === 0 || typeof list.next !== 'string') return all
      after = list.next
    }
  }

  async #json<T>(path: string, init: RequestInit = {}): Promise<T> {
    return parsed<T>(await this.#text(path, init))
  }

  async #text(path: string, init: RequestInit = {}): Promise<string> {
    const answer = await this.#ask(path, init)
    try {
      return await answer.text()
    } catch (cause) {
      throw interrupted(this.#signal, unreachable(this.#base.origin, cause))
    }
  }

  async #ask(path: string, init: RequestInit = {}): Promise<Response> {
    const authorization = this.#token === undefined ? {} : { authorization: `Bearer ${this.#token}` }
    const headers = { ...(init.headers as Record<string, string> | undefined), ...authorization }
    let answer: Response
    try {
      answer = await this.#fetch(new URL(path, this.#base), {
        ...init,
        headers,
        ...(this.#signal === undefined ? {} : { signal: this.#signal }),
      })
    } catch (cause) {
      throw interrupted(this.#signal, unreachable(this.#base.origin, cause))
    }
    if (answer.ok) return answer
    const { error } = Object(await answer.json().catch(() => null)) as Partial<ErrorAnswer>
    throw errorOf(Object(error), `the service answered ${answer.status}`)
  }
}

function planPath(id: string): string {
  return `plans/${idText('a plan', id)}`
}

/** @throws ERR_ARGUMENT */
function graphText(graph: UploadedGraph): string {
  try {
    return JSON.stringify(graph.export())
  } catch (cause) {
    const message = `upload: expected a graph that JSON can hold: ${causeText(cause)}`
    throw new RankweaveError('ERR_ARGUMENT', message, { cause })
  }
}

/** @throws ERR_PROTOCOL */
function parsed<T>(text: string): T {
  try {
    return JSON.parse(text) as T
  } catch (cause) {
    throw new RankweaveError('ERR_PROTOCOL', 'expected the answer of a service, which is JSON', { cause })
  }
}

/** A world that waits for its processes, and the data with which they join it. */
export interface OpenedProgramWorld extends OpenedWorld {
  /** The address for `rankweave join`, or for `join` from code. */
  readonly joinUrl: string
}

/** Sends a request below `/v1/` and returns its answer. */
type AskService = <T>(path: string, init?: RequestInit) => Promise<T>

const path = 'rendezvous/worlds'
const json = { 'content-type': 'application/json' }

/**
 * The worlds whose processes run programs of this library and meet at a service: `rankweave join`, or `join` from code,
 * brings each process into one. For worlds of members that ask, see `WorldMember`. Methods reject as those of
 * `ServiceClient`.
 */
export class ProgramWorlds {
  readonly #ask: AskService
  readonly #joinUrl: string

  /** @param base address of the service, up to `/v1/` */
  constructor(base: URL, ask: AskService) {
    this.#ask = ask
    const url = new URL('rendezvous', base)
    url.protocol = url.protocol === 'https:' ? 'wss:' : 'ws:'
    this.#joinUrl = url.href
  }

  /**
   * Opens a world, which waits for its processes until it is ended. Its token is shown here only, and any process that
   * has it can join.
   *
   * @throws ERR_BUSY for too many running worlds, ERR_LIMIT for too many ranks or processes, ERR_WORLD for numbers that
   *   do not agree, ERR_ARGUMENT
   */
  async open(request: MountedWorldRequest): Promise<OpenedProgramWorld> {
    const opened = await this.#ask<OpenedWorld>(path, {
      method: 'POST',
      body: JSON.stringify(request),
      headers: json,
    })
    return { ...opened, joinUrl: this.#joinUrl }
  }

  /** Lists the running worlds of this token, and the last that have ended. */
  async list(): Promise<readonly MountedWorldInfo[]> {
    return (await this.#ask<{ readonly worlds: readonly MountedWorldInfo[] }>(path)).worlds
  }

  /** @throws ERR_NOT_FOUND */
  async get(id: string): Promise<MountedWorldInfo> {
    return this.#ask<MountedWorldInfo>(`${path}/${idOf(id)}`)
  }

  /**
   * Ends a world for all its processes, which get ERR_WORLD_LOST; one that has ended stays unchanged.
   * @throws ERR_NOT_FOUND
   */
  async end(id: string): Promise<MountedWorldInfo> {
    return this.#ask<MountedWorldInfo>(`${path}/${idOf(id)}`, { method: 'DELETE' })
  }
}

/** @throws ERR_ARGUMENT for an id that would address something else */
function idOf(id: unknown): string {
  if (typeof id === 'string' && /^[0-9a-f]{16}$/.test(id)) return id
  throw new RankweaveError(
    'ERR_ARGUMENT',
    `expected the id of a world of programs, 16 hexadecimal digits, got ${shown(id)}`,
  )
}
