import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import type { JobInfo, PlanInfo, PlanRequest, TopologyInfo } from '../../src/client/protocol/http.js'
import { type ServeOptions, type Service, serve } from '../../src/service/http/serve.js'

/** A service of its own on a free port, with its log, and its data in a folder that goes with it. */
export async function startService(options: Partial<ServeOptions> = {}) {
  const data = options.data ?? mkdtempSync(join(tmpdir(), 'rankweave-service-'))
  const lines: string[] = []
  const logger = pino({ level: 'info' }, { write: (line) => void lines.push(line) })
  const service = await serve({ data, logger, ...options })
  const end = async () => {
    await service.close()
    if (options.data === undefined) rmSync(data, { recursive: true, force: true })
  }
  return { service, data, lines, end }
}

/** What one tenant asks a service. */
export function asking({ url }: Pick<Service, 'url'>, token?: string) {
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const get = (path: string, init: RequestInit = {}) =>
    fetch(`${url}${path}`, { ...init, headers: { ...headers, ...init.headers } })
  const json = async <T>(path: string, init: RequestInit = {}) => {
    const response = await get(path, init)
    return { status: response.status, body: (await response.json()) as T }
  }
  const upload = (body: NonNullable<RequestInit['body']>, query: string) =>
    json<TopologyInfo>(`/v1/topologies?${query}`, { method: 'POST', body })
  const plan = (request: PlanRequest) =>
    json<JobInfo>('/v1/plans', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(request),
    })
  /** The states of a job until its end. */
  const events = async (job: string) => {
    const text = await (await get(`/v1/jobs/${job}/events`)).text()
    return text
      .split('\n\n')
      .filter((event) => event !== '')
      .map((event) => JSON.parse(event.replace(/^data: /, '')) as JobInfo)
  }
  const info = (plan: string) => json<PlanInfo>(`/v1/plans/${plan}`)
  return { get, json, upload, plan, events, info }
}
