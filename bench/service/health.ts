import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as later } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { type Figure, median, ownFigure } from '../bench.js'
import { Asking } from './asking.js'
import { RunningService, withBareServer } from './running-service.js'
import { percentile } from './samples.js'

/**
 * Milliseconds between two questions, answered or not: what holds the service up is in as many samples as it
 * lasts.
 */
const betweenMs = 5
/** What an operator's health check must not notice. */
const mostMs = 50

/** Samples in milliseconds, of the service and of a bare server that is asked as often. */
interface Answers {
  readonly ours: number[]
  readonly bare: number[]
}

/**
 * How long `/healthz` takes while a plan is made, beside a bare server of the same framework in a process
 * that is idle.
 */
export async function* healthPlanning(quick: boolean): AsyncGenerator<Figure> {
  yield* await besideBareServer(async (ask, during) => {
    const ranks = quick ? '10,000' : '100,000'
    // As large as that a thread plans for 20 seconds.
    const topology = quick ? 'moore:100x100:r=2' : 'moore:400x250:r=4'
    const idle = await during(() => later(quick ? 1000 : 5000))
    const { id } = await ask.upload(topology)
    const job = await ask.plan({ topology: id, k: 4 })
    const planning = await during(() => ask.done(job))
    return [
      ...figuresOf('the service is idle', [idle], null, { quick }),
      ...figuresOf(`a plan of ${ranks} ranks is made`, [planning], mostMs, { topology, quick }),
    ]
  })
}

/** The same while large bodies travel, to and from a third process. */
export async function* healthTransfers(quick: boolean): AsyncGenerator<Figure> {
  const folder = mkdtempSync(join(tmpdir(), 'rankweave-bench-bodies-'))
  try {
    yield* await besideBareServer(async (ask, during, url) => {
      const { id } = await ask.upload(quick ? 'moore:100x100:r=2' : 'moore:400x250:r=2')
      const job = await ask.plan({ topology: id, k: 4 })
      await ask.done(job)
      const rounds = quick ? 1 : 3
      let bytes = 0
      const downloads: Answers[] = []
      const schedule = `${url}/v1/plans/${job.plan}/schedule`
      // The first reader waits until the file has been verified.
      await transferred(schedule)
      for (let round = 0; round < rounds; round++)
        downloads.push(
          await during(async () => {
            bytes = await transferred(schedule)
          }),
        )
      const file = join(folder, 'edges')
      const uploads: Answers[] = []
      for (let round = 0; round < rounds; round++) {
        writeFileSync(file, edgeList(quick ? 2 ** 22 : 2 ** 26, round))
        uploads.push(await during(() => transferred(`${url}/v1/topologies?format=edges`, file)))
      }
      const what = `a schedule of ${quick ? '10,000' : '100,000'} ranks, ${Math.round(bytes / 2 ** 20)} MiB, is downloaded`
      return [
        ...figuresOf(what, downloads, mostMs, { quick }),
        ...figuresOf(`a topology of ${quick ? 4 : 64} MiB is uploaded`, uploads, mostMs, { quick }),
      ]
    })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

type During = (work: () => Promise<unknown>) => Promise<Answers>

function besideBareServer(
  measure: (ask: Asking, during: During, url: string) => Promise<readonly Figure[]>,
): Promise<readonly Figure[]> {
  return withBareServer((bareUrl) =>
    RunningService.use(async ({ url }) => {
      const [ask, bare] = [new Asking(url), new Asking(bareUrl)]
      const during: During = (work) => asked(ask, bare, work)
      // The code is warm, as in a service that has run for a while.
      await during(() => later(1000))
      return measure(ask, during, url)
    }),
  )
}

/** @returns bytes of the answer */
function transferred(...words: string[]): Promise<number> {
  const program = fileURLToPath(new URL('transfer.mjs', import.meta.url))
  return new Promise((resolve, reject) => {
    execFile(process.execPath, [program, ...words], (error, stdout) => {
      if (error === null) resolve(Number(stdout))
      else reject(error)
    })
  })
}

function figuresOf(
  what: string,
  answers: readonly Answers[],
  target: number | null,
  more: { readonly [detail: string]: string | boolean },
): readonly Figure[] {
  const questions = answers.reduce((sum, { ours }) => sum + ours.length, 0)
  const seconds = Math.round((questions * betweenMs) / 1000)
  const details = { suite: 'health', questions, seconds, ...more }
  return [[0.99, 'p99'] as const, [1, 'longest'] as const].map(([share, name]) => {
    const samples = answers.map(({ ours }) => percentile(ours, share))
    const peer = median(answers.map(({ bare }) => percentile(bare, share)))
    const figure = ownFigure(
      `\`/healthz\` while ${what}, ${name}`,
      'ms',
      samples,
      share === 1 ? null : target,
      details,
    )
    return { ...figure, peer, ratio: figure.ours! / peer }
  })
}

/** Both servers are asked in each interval, as long as the work takes. */
async function asked(ask: Asking, bare: Asking, work: () => Promise<unknown>): Promise<Answers> {
  const answers: Answers = { ours: [], bare: [] }
  const pending: Promise<void>[] = []
  const question = async (of: Asking, due: number, into: number[]) => {
    await of.text('GET', '/healthz')
    into.push(performance.now() - due)
  }
  let isOver = false
  const worked = work().finally(() => {
    isOver = true
  })
  const begin = performance.now()
  for (let turn = 0; !isOver; turn++) {
    const due = begin + turn * betweenMs
    const wait = due - performance.now()
    if (wait > 0) await later(wait)
    const sides = [question(ask, due, answers.ours), question(bare, due, answers.bare)]
    pending.push(...(turn % 2 === 0 ? sides : sides.reverse()))
  }
  await Promise.all([worked, ...pending])
  return answers
}

/**
 * An edge list of at most so many bytes: every rank sends to those at certain distances. Each round another
 * one.
 */
function edgeList(bytes: number, round: number): Buffer {
  const ranks = 100_000
  const list = Buffer.alloc(bytes)
  let length = 0
  for (let distance = 1 + round; ; distance++)
    for (let rank = 0; rank < ranks; rank++) {
      const line = `${rank} ${(rank + distance) % ranks}\n`
      if (length + line.length > bytes) return list.subarray(0, length)
      length += list.write(line, length, 'latin1')
    }
}
