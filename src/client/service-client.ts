import { type ErrorCode, errorCodes, RankweaveError } from '../errors.js'
import type { PlanView } from '../report/plan-view.js'
import type { TopologyView } from '../report/topology-view.js'
import type {
  ErrorAnswer,
  JobInfo,
  PlanInfo,
  PlanList,
  PlanRequest,
  TopologyFormat,
  TopologyInfo,
  TopologyList,
} from '../service/protocol/http.js'

export interface ServiceClientOptions {
  /** Such as `http://127.0.0.1:7070`. */
  readonly url: string
  /** Of the service; travels in a header, never in an address. */
  readonly token?: string
  /** Default: the global `fetch`. */
  readonly fetch?: typeof fetch
}

/** What pictures are to show. */
export interface ViewOptions {
  readonly machine?: string
  readonly bytes?: number
  readonly rank?: number
}

/**
 * Asks a service (docs/service.md) for topologies and plans. Every method rejects with the code that the service answers, as a
 * `RankweaveError`; ERR_PROTOCOL for an answer that is none of a service.
 */
export class ServiceClient {
  readonly #base: string
  readonly #token: string | undefined
  readonly #fetch: typeof fetch

  constructor({ url, token, fetch: given }: ServiceClientOptions) {
    this.#base = new URL('/v1/', url).href
    this.#token = token
    this.#fetch = given ?? ((input, init) => fetch(input, init))
  }

  async topologies(): Promise<readonly TopologyInfo[]> {
    return (await this.#json<TopologyList>('topologies')).topologies
  }

  /** @param content a file as it is, or the text of a topology such as `moore:64x64:r=4` for format `spec` */
  upload(
    content: string | Blob | Uint8Array<ArrayBuffer>,
    options: { readonly format: TopologyFormat; readonly name?: string },
  ): Promise<TopologyInfo> {
    const { format, name } = options
    return this.#json<TopologyInfo>(`topologies${query({ format, name })}`, {
      method: 'POST',
      body: content,
      headers: { 'content-type': 'application/octet-stream' },
    })
  }

  topologyView(id: string, options: ViewOptions = {}): Promise<TopologyView> {
    return this.#json<TopologyView>(`topologies/${id}/view${query(options)}`)
  }

  /** Asks for a plan; its job may be done already. */
  requestPlan(request: PlanRequest): Promise<JobInfo> {
    return this.#json<JobInfo>('plans', {
      method: 'POST',
      body: JSON.stringify(request),
      headers: { 'content-type': 'application/json' },
    })
  }

  job(id: string): Promise<JobInfo> {
    return this.#json<JobInfo>(`jobs/${id}`)
  }

  cancel(id: string): Promise<JobInfo> {
    return this.#json<JobInfo>(`jobs/${id}`, { method: 'DELETE' })
  }

  /** Follows a job to its end. @param onChange told every state; slow readers miss some */
  async follow(id: string, onChange: (job: JobInfo) => void = () => {}): Promise<JobInfo> {
    const { body } = await this.#ask(`jobs/${id}/events`)
    let last: JobInfo | null = null
    let rest = ''
    const decoder = new TextDecoder()
    const reader = body!.getReader()
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      const events = (rest + decoder.decode(value, { stream: true })).split('\n\n')
      rest = events.pop()!
      for (const event of events) {
        last = JSON.parse(event.replace(/^data: /, '')) as JobInfo
        onChange(last)
      }
    }
    return last ?? this.job(id)
  }

  /**
   * Asks for a plan and waits for it.
   *
   * @throws the error of the job; ERR_CANCELLED where somebody cancelled it
   */
  async plan(request: PlanRequest, onChange: (job: JobInfo) => void = () => {}): Promise<PlanInfo> {
    const first = await this.requestPlan(request)
    onChange(first)
    const job = first.state === 'done' ? first : await this.follow(first.id, onChange)
    if (job.state === 'cancelled') throw new RankweaveError('ERR_CANCELLED', 'the job was cancelled')
    if (job.error !== null) throw errorOf(job.error.code, job.error.message)
    if (job.state !== 'done')
      throw new RankweaveError('ERR_PROTOCOL', `the service ended while the job was ${job.state}`)
    return this.planInfo(job.plan)
  }

  async plans(): Promise<readonly PlanInfo[]> {
    return (await this.#json<PlanList>('plans')).plans
  }

  planInfo(id: string): Promise<PlanInfo> {
    return this.#json<PlanInfo>(`plans/${id}`)
  }

  /** The schedule as JSON Lines, byte for byte what `rankweave plan -o` writes. */
  async schedule(id: string, version: 1 | 2 = 2): Promise<ReadableStream<Uint8Array>> {
    return (await this.#ask(`plans/${id}/schedule${query({ version })}`)).body!
  }

  planView(id: string, options: ViewOptions = {}): Promise<PlanView> {
    return this.#json<PlanView>(`plans/${id}/view${query(options)}`)
  }

  /** The report of a plan: one HTML file. */
  async report(id: string, options: ViewOptions = {}): Promise<string> {
    return (await this.#ask(`plans/${id}/report${query(options)}`)).text()
  }

  async #json<T>(path: string, init: RequestInit = {}): Promise<T> {
    const answer = await this.#ask(path, init)
    try {
      return (await answer.json()) as T
    } catch (cause) {
      throw new RankweaveError('ERR_PROTOCOL', `${path}: expected JSON`, { cause })
    }
  }

  async #ask(path: string, init: RequestInit = {}): Promise<Response> {
    const authorization = this.#token === undefined ? {} : { authorization: `Bearer ${this.#token}` }
    const headers = { ...(init.headers as Record<string, string> | undefined), ...authorization }
    const answer = await this.#fetch(new URL(path, this.#base), { ...init, headers })
    if (answer.ok) return answer
    const { error } = ((await answer.json().catch(() => ({}))) as Partial<ErrorAnswer>) ?? {}
    throw errorOf(error?.code, error?.message ?? `the service answered ${answer.status}`)
  }
}

function query(values: object): string {
  const words = new URLSearchParams()
  for (const [name, value] of Object.entries(values)) if (value !== undefined) words.set(name, String(value))
  return words.size === 0 ? '' : `?${words}`
}

function errorOf(code: string | undefined, message: string): RankweaveError {
  const known = (errorCodes as readonly string[]).includes(code ?? '')
  return new RankweaveError(known ? (code as ErrorCode) : 'ERR_PROTOCOL', message)
}
