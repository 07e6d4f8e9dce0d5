import { expect, it } from 'vitest'
import { calibrateLibrary } from '../../../src/measure/calibrate-library.js'
import type { MeasuringJob } from '../../../src/measure/measuring-job.js'
import { refusal } from '../../support/refusal.js'

/** Starts jobs on one node, which answer by their number and that of the order for messages, both from 0. */
function jobsOf(messages: (round: number, job: number) => string) {
  const started = { jobs: 0, ended: 0, rounds: [] as number[] }
  const start = async (): Promise<MeasuringJob> => {
    const job = started.jobs++
    started.rounds.push(0)
    const answers: Readonly<Record<string, (count: number) => string>> = {
      eager: () => '4000',
      messages: () => messages(started.rounds[job]++, job),
      memory: (count) => Array.from({ length: count }, () => '2 0.1 0.2').join(' '),
    }
    const ask = async (order: string) => {
      const words = order.split(' ')
      return `${words[0]} ${answers[words[0]](Number(words.at(-1)))}`
    }
    const stop = async () => void started.ended++
    return { ask, nodes: [0, 0], library: 'Open MPI', end: async () => {}, stop, failure: () => undefined }
  }
  return { started, start }
}

/** Runs of which some are quiet, 1 us a hop, and others beside work that only adds time. */
const runs = (quiet: number, factor = 1) =>
  Array.from({ length: 16 }, (_, run) =>
    [1000, 0.5, 400, 100, 150].map((ns) => ns * (run < quiet ? factor : 9)).join(' '),
  ).join(' ')
const clock = (mostMs = 100) => {
  let now = 0
  return { mostMs, nowMs: () => now++ }
}
const figure = (median: number, low = median, high = median) => ({ median, low, high })

it('calibrateLibrary takes what the quietest quarter of runs shows, beside other work', async () => {
  const { start, started } = jobsOf(() => runs(5))
  expect(await calibrateLibrary(start, clock())).toMatchObject({
    node: {
      ...{ latencyNs: figure(746), sendOverheadNs: figure(100) },
      ...{ receiveOverheadNs: figure(150), gapNs: figure(400) },
    },
    network: null,
    eagerLimitBytes: 4000,
    spread: 0,
  })
  expect(started).toEqual({ jobs: 3, ended: 3, rounds: [6, 6, 6] })
})

it('calibrateLibrary goes on with a job until both halves agree, or its time is over', async () => {
  const { start, started } = jobsOf((round) => runs(round < 4 ? 0 : 16))
  expect((await calibrateLibrary(start, clock())).node!.sendOverheadNs).toEqual(figure(100))
  expect(started.rounds).toEqual([12, 12, 12])
  const short = jobsOf((round) => runs(round < 4 ? 0 : 16))
  await calibrateLibrary(short.start, clock(0))
  expect(short.started.rounds).toEqual([6, 6, 6])
})

it('calibrateLibrary takes the median of jobs, more of them where they differ, and tells how much', async () => {
  const { start, started } = jobsOf((_, job) => runs(16, job === 1 ? 0.2 : 1))
  const { node, spread } = await calibrateLibrary(start, clock())
  expect([started.jobs, node!.sendOverheadNs]).toEqual([5, figure(100, 20, 100)])
  expect(spread).toBeCloseTo((100 - 20) / ((4 * 100 + 20) / 5))
})

it('calibrateLibrary refuses answers of other lengths, and ends the job', async () => {
  const { start, started } = jobsOf(() => '1 2 3')
  await expect(calibrateLibrary(start, clock())).rejects.toThrow(
    refusal('ERR_MEASUREMENT', /messages 1 16: expected 80 figures from the job/),
  )
  expect(started).toMatchObject({ jobs: 1, ended: 1 })
})
