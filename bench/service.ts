import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as later } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { seededRandom } from '../src/base/random.js'
import type { JobInfo, PlanRequest, TopologyInfo } from '../src/service/protocol/http.js'
import { type Bench, type Figure, ownFigure } from './bench.js'

const root = fileURLToPath(new URL('..', import.meta.url))

/** A service as published, in a process of its own with data of its own. */
async function withService<T>(use: (ask: Asking) => Promise<T>): Promise<T> {
  const data = mkdtempSync(join(tmpdir(), 'rankweave-bench-service-'))
  const words = ['serve', '--json', '--port', '0', '--data', data]
  const child = spawn(process.execPath, [`${root}dist/cli/main.js`, ...words], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  try {
    const ended = once(child, 'exit').then(() => {
      throw new Error('the service ended before it listened')
    })
    const [line] = (await Promise.race([once(createInterface({ input: child.stdout }), 'line'), ended])) as [
      string,
    ]
    return await use(new Asking((JSON.parse(line) as { url: string }).url))
  } finally {
    child.kill('SIGTERM')
    if (child.exitCode === null) await once(child, 'exit')
    rmSync(data, { recursive: true, force: true })
  }
}

/** Asks over connections that stay open. */
class Asking {
  readonly #url: string
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 64 })

  constructor(url: string) {
    this.#url = url
  }

  text(method: string, path: string, body?: string, type = 'application/json'): Promise<string> {
    return new Promise((resolve, reject) => {
      const headers = body === undefined ? {} : { 'content-type': type }
      const asked = request(this.#url + path, { method, headers, agent: this.#agent }, (response) => {
        let text = ''
        response.on('data', (piece) => {
          text += piece
        })
        response.on('end', () => {
          if (response.statusCode! < 300) resolve(text)
          else reject(new Error(`${method} ${path}: ${response.statusCode} ${text}`))
        })
      })
      asked.on('error', reject)
      asked.end(body)
    })
  }

  async upload(spec: string): Promise<string> {
    return (
      JSON.parse(await this.text('POST', '/v1/topologies?format=spec', spec, 'text/plain')) as TopologyInfo
    ).id
  }

  async plan(of: PlanRequest): Promise<JobInfo> {
    return JSON.parse(await this.text('POST', '/v1/plans', JSON.stringify(of))) as JobInfo
  }

  /** Resolves with the last state of a job. */
  async end({ id }: JobInfo): Promise<JobInfo> {
    const events = (await this.text('GET', `/v1/jobs/${id}/events`)).trim().split('\n\n')
    return JSON.parse(events.at(-1)!.replace(/^data: /, '')) as JobInfo
  }

  /** The value of a metric. */
  async metric(name: string): Promise<number> {
    const found = new RegExp(`^rankweave_${name} (.*)$`, 'm').exec(await this.text('GET', '/metrics'))
    if (found === null) throw new Error(`there is no metric ${name}`)
    return Number(found[1])
  }
}

function percentile(samples: readonly number[], share: number): number {
  const sorted = [...samples].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]!
}

/** One question after another, as long as a job takes. */
async function askedDuring(ask: Asking, job: JobInfo): Promise<readonly number[]> {
  const samples: number[] = []
  let last: JobInfo | undefined
  const ended = ask.end(job).then((info) => {
    last = info
  })
  while (last === undefined) {
    const began = performance.now()
    await ask.text('GET', '/healthz')
    samples.push(performance.now() - began)
  }
  await ended
  if (last.state !== 'done') throw new Error(`planning failed: ${last.error?.message}`)
  return samples
}

/** How long `/healthz` takes while a large plan is made: each round another plan. */
async function* duringPlanning(quick: boolean): AsyncGenerator<Figure> {
  const spec = quick ? 'moore:100x100:r=2' : 'moore:400x250:r=2'
  const rounds = quick ? [2] : [2, 4, 8]
  const [p99s, medians, longest, counts]: number[][] = [[], [], [], []]
  await withService(async (ask) => {
    const topology = await ask.upload(spec)
    for (const k of rounds) {
      const samples = await askedDuring(ask, await ask.plan({ topology, k }))
      p99s!.push(percentile(samples, 0.99))
      medians!.push(percentile(samples, 0.5))
      longest!.push(Math.max(...samples))
      counts!.push(samples.length)
    }
  })
  const details = { suite: 'planning', topology: spec, requests: Math.min(...counts!), quick }
  const ranks = quick ? '10,000' : '100,000'
  yield ownFigure(
    `/healthz while a plan of ${ranks} ranks is made, p99`,
    'ms',
    p99s!,
    quick ? null : 50,
    details,
  )
  yield ownFigure(`/healthz while a plan of ${ranks} ranks is made, median`, 'ms', medians!, null, details)
  yield ownFigure(`/healthz while a plan of ${ranks} ranks is made, longest`, 'ms', longest!, null, details)
}

/** Answers per second to clients that ask again as soon as they have an answer. */
async function* throughput(quick: boolean): AsyncGenerator<Figure> {
  const clients = 16
  const each = quick ? 200 : 2000
  const rounds = quick ? 1 : 5
  const figures = await withService(async (ask) => {
    const topology = await ask.upload('moore:16x16:r=2')
    const { plan } = await ask.end(await ask.plan({ topology, k: 4 }))
    const paths = {
      'what is known of a plan': `/v1/plans/${plan}`,
      'the program of a rank': `/v1/plans/${plan}/ranks/7`,
    }
    const all: Figure[] = []
    for (const [what, path] of Object.entries(paths)) {
      const rates: number[] = []
      const p99s: number[] = []
      for (let round = 0; round < rounds; round++) {
        const samples: number[] = []
        const began = performance.now()
        await Promise.all(
          Array.from({ length: clients }, async () => {
            for (let n = 0; n < each; n++) {
              const asked = performance.now()
              await ask.text('GET', path)
              samples.push(performance.now() - asked)
            }
          }),
        )
        rates.push((1000 * clients * each) / (performance.now() - began))
        p99s.push(percentile(samples, 0.99))
      }
      const details = { suite: 'throughput', clients, requests: clients * each, quick }
      all.push(ownFigure(`${what}, ${clients} clients`, 'answers/s', rates, null, details))
      all.push(ownFigure(`${what}, ${clients} clients, p99`, 'ms', p99s, null, details))
    }
    return all
  })
  yield* figures
}

/** Requests for plans of which half are equal: each distinct plan is made once. */
async function* coalescing(quick: boolean): AsyncGenerator<Figure> {
  const requests = quick ? 100 : 1000
  const distinct = requests / 2
  const { made, seconds, stored } = await withService(async (ask) => {
    const topology = await ask.upload('moore:12x12:r=1')
    const labels = shuffled(Array.from({ length: requests }, (_, n) => n % distinct))
    const began = performance.now()
    await Promise.all(
      Array.from({ length: 32 }, async (_, client) => {
        for (let n = client; n < requests; n += 32) await ask.plan({ topology, k: 4, labels: labels[n]! })
      }),
    )
    while ((await ask.metric('jobs_queued')) + (await ask.metric('jobs_running')) > 0) await later(20)
    const seconds = (performance.now() - began) / 1000
    const { plans } = JSON.parse(await ask.text('GET', '/v1/plans')) as { plans: unknown[] }
    const failed = (await ask.metric('jobs_failed')) + (await ask.metric('jobs_cancelled'))
    if (failed > 0) throw new Error(`${failed} jobs failed`)
    return { made: await ask.metric('jobs_done'), seconds, stored: plans.length }
  })
  const details = { suite: 'coalescing', requests, distinct, quick }
  const figure = ownFigure(
    `plans made for ${requests} requests, of which half are equal`,
    'plans',
    [made],
    distinct,
    details,
  )
  yield { ...figure, met: made === distinct && stored === distinct }
  yield ownFigure(
    `distinct plans of 144 ranks, made and stored`,
    'plans/s',
    [distinct / seconds],
    null,
    details,
  )
}

function shuffled(list: readonly number[]): readonly number[] {
  const random = seededRandom(1)
  const mixed = [...list]
  for (let last = mixed.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1))
    const item = mixed[last]!
    mixed[last] = mixed[other]!
    mixed[other] = item
  }
  return mixed
}

const suites = { planning: duringPlanning, throughput, coalescing }

/** The service as its clients see it. */
export const serviceBench: Bench = {
  name: 'service',
  question:
    'Does the service answer while it plans, how much does it answer, and is each distinct plan made once?',
  async *measure({ quick = false, only = '' } = {}) {
    execFileSync(process.execPath, ['scripts/build.mjs'], {
      cwd: root,
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    for (const [name, measure] of Object.entries(suites)) if (name.startsWith(only)) yield* measure(quick)
  },
}
