import { setTimeout as later } from 'node:timers/promises'
import { seededRandom } from '../../src/base/random.js'
import { type Figure, ownFigure } from '../bench.js'
import { Asking } from './asking.js'
import { RunningService } from './running-service.js'
import { percentile } from './samples.js'

const clients = 32

/** Requests for plans of which half are equal, and answers about a plan that is there. */
export async function* plans(quick: boolean): AsyncGenerator<Figure> {
  yield* await RunningService.use(async ({ url }) => {
    const ask = new Asking(url)
    return [...(await requested(ask, quick)), ...(await read(ask, quick))]
  })
}

/** Each distinct plan is made once. */
async function requested(ask: Asking, quick: boolean): Promise<readonly Figure[]> {
  const requests = quick ? 100 : 1000
  const distinct = requests / 2
  const { id: topology } = await ask.upload('moore:12x12:r=1')
  const labels = shuffled(Array.from({ length: requests }, (_, n) => n % distinct))
  const began = performance.now()
  const samples = await inTurns(requests, (n) => ask.plan({ topology, k: 4, labels: labels[n] }))
  const accepted = (performance.now() - began) / 1000
  while ((await ask.metric('jobs_queued')) + (await ask.metric('jobs_running')) > 0) await later(20)
  const seconds = (performance.now() - began) / 1000
  const { plans } = JSON.parse(await ask.text('GET', '/v1/plans')) as { plans: unknown[] }
  const failed = (await ask.metric('jobs_failed')) + (await ask.metric('jobs_cancelled'))
  if (failed > 0) throw new Error(`${failed} jobs failed`)
  const made = await ask.metric('jobs_done')
  const details = { suite: 'plans', clients, requests, distinct, quick }
  const figure = (name: string, unit: string, value: number, target: number | null = null) =>
    ownFigure(name, unit, [value], target, details)
  const once = figure(`plans made for ${requests} requests, of which half are equal`, 'plans', made, distinct)
  return [
    { ...once, targetIs: 'exactly', met: made === distinct && plans.length === distinct },
    figure(`requests for plans, ${clients} clients`, 'requests/s', requests / accepted),
    figure(`requests for plans, ${clients} clients, p99`, 'ms', percentile(samples, 0.99)),
    figure(`requests for plans, ${clients} clients, longest`, 'ms', percentile(samples, 1)),
    figure('distinct plans of 144 ranks, made and stored', 'plans/s', distinct / seconds),
  ]
}

/** Clients that ask again as soon as they have an answer. */
async function read(ask: Asking, quick: boolean): Promise<readonly Figure[]> {
  const answers = quick ? 2_000 : 16_000
  const { id: topology } = await ask.upload('moore:16x16:r=2')
  const job = await ask.plan({ topology, k: 4 })
  await ask.done(job)
  const paths = {
    'answers what is known of a plan': `/v1/plans/${job.plan}`,
    'answers the program of a rank': `/v1/plans/${job.plan}/ranks/7`,
    'answers `/healthz`, for comparison': '/healthz',
  }
  const figures: Figure[] = []
  for (const [what, path] of Object.entries(paths)) {
    const rates: number[] = []
    const p99s: number[] = []
    for (let round = 0; round < (quick ? 1 : 3); round++) {
      const began = performance.now()
      const samples = await inTurns(answers, () => ask.text('GET', path))
      rates.push((1000 * answers) / (performance.now() - began))
      p99s.push(percentile(samples, 0.99))
    }
    const details = { suite: 'plans', clients, answers, quick }
    figures.push(ownFigure(`${what}, ${clients} clients`, 'answers/s', rates, null, details))
    figures.push(ownFigure(`${what}, ${clients} clients, p99`, 'ms', p99s, null, details))
  }
  return figures
}

/** Each client takes the next of so many questions. @returns milliseconds of every one */
async function inTurns(count: number, question: (n: number) => Promise<unknown>): Promise<readonly number[]> {
  const samples: number[] = []
  let next = 0
  const client = async () => {
    while (next < count) {
      const began = performance.now()
      await question(next++)
      samples.push(performance.now() - began)
    }
  }
  await Promise.all(Array.from({ length: clients }, client))
  return samples
}

function shuffled(list: readonly number[]): readonly number[] {
  const random = seededRandom(1)
  const mixed = [...list]
  for (let last = mixed.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1))
    const item = mixed[last]
    mixed[last] = mixed[other]
    mixed[other] = item
  }
  return mixed
}
