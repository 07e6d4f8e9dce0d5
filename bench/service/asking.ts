import { Agent, type IncomingMessage, request } from 'node:http'
import type { JobInfo, PlanRequest, TopologyInfo } from '../../src/client/protocol/http.js'

/** Asks a service over connections that stay open. */
export class Asking {
  readonly #url: string
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 64 })

  constructor(url: string) {
    this.#url = url
  }

  async text(method: string, path: string, body?: string, type?: string): Promise<string> {
    const response = await this.#answer(method, path, body, type)
    let text = ''
    for await (const piece of response.setEncoding('utf8')) text += piece
    return text
  }

  async upload(spec: string): Promise<TopologyInfo> {
    return JSON.parse(
      await this.text('POST', '/v1/topologies?format=spec', spec, 'text/plain'),
    ) as TopologyInfo
  }

  async plan(of: PlanRequest): Promise<JobInfo> {
    return JSON.parse(await this.text('POST', '/v1/plans', JSON.stringify(of))) as JobInfo
  }

  /** Resolves when a job is done. */
  async done({ id }: JobInfo): Promise<void> {
    const events = (await this.text('GET', `/v1/jobs/${id}/events`)).trim().split('\n\n')
    const { state, error } = JSON.parse(events.at(-1)!.replace(/^data: /, '')) as JobInfo
    if (state !== 'done') throw new Error(`a plan is ${state}: ${error?.message}`)
  }

  /** The value of a metric. */
  async metric(name: string): Promise<number> {
    const found = new RegExp(`^rankweave_${name} (.*)$`, 'm').exec(await this.text('GET', '/metrics'))
    if (found === null) throw new Error(`there is no metric ${name}`)
    return Number(found[1])
  }

  #answer(method: string, path: string, body?: string, type = 'application/json'): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const headers = body === undefined ? {} : { 'content-type': type }
      const asked = request(this.#url + path, { method, headers, agent: this.#agent }, (response) => {
        if (response.statusCode! < 300) return resolve(response)
        response.resume()
        reject(new Error(`${method} ${path}: ${response.statusCode}`))
      })
      asked.on('error', reject)
      asked.end(body)
    })
  }
}
