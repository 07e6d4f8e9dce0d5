import { expect, it } from 'vitest'
import { calibrateLibrary } from '../../../src/measure/calibrate-library.js'
import type { MeasuringJob } from '../../../src/measure/measuring-job.js'
import { refusal } from '../../support/refusal.js'

/** A job on one node that answers by the number of an order, from 0. */
function jobOf(messages: (round: number) => string): MeasuringJob {
  let rounds = 0
  const answers: Readonly<Record<string, (count: number) => string>> = {
    eager: () => '4000',
    messages: () => messages(rounds++),
    memory: (count) => Array.from({ length: count }, () => '2 0.1 0.2').join(' '),
  }
  const ask = async (order: string) => {
    const words = order.split(' ')
    return `${words[0]} ${answers[words[0]](Number(words.at(-1)))}`
  }
  return { ask, nodes: [0, 0], library: 'Open MPI' } as unknown as MeasuringJob
}

/** Runs of 1 us a hop; with other work, which only adds time. */
const quiet = '1000 0.5 400 100 150'
const busy = '9000 4.5 3600 900 1350'
const runs = (quietRuns: number) =>
  Array.from({ length: 16 }, (_, run) => (run < quietRuns ? quiet : busy)).join(' ')
const clock = () => {
  let now = 0
  return { mostMs: 100, nowMs: () => now++ }
}

it('calibrateLibrary takes what the quietest quarter of runs shows, beside other work', async () => {
  const calibration = await calibrateLibrary(
    jobOf(() => runs(5)),
    clock(),
  )
  const figure = (median: number) => ({ median, low: median, high: median })
  expect(calibration).toMatchObject({
    node: {
      latencyNs: figure(746),
      sendOverheadNs: figure(100),
      receiveOverheadNs: figure(150),
      gapNs: figure(400),
    },
    network: null,
    eagerLimitBytes: 4000,
    spread: 0,
  })
})

it('calibrateLibrary goes on until both halves agree, or tells how much they differ', async () => {
  // The first rounds are disturbed as a whole, then none is.
  const recovered = await calibrateLibrary(
    jobOf((round) => runs(round < 4 ? 0 : 16)),
    clock(),
  )
  expect(recovered).toMatchObject({
    spread: 0,
    node: { sendOverheadNs: { median: 100, low: 100, high: 100 } },
  })
  const slower = await calibrateLibrary(
    jobOf((round) => runs(round < 3 ? 16 : 0)),
    { ...clock(), mostMs: 0 },
  )
  expect(slower.spread).toBe(8)
  expect(slower.node!.sendOverheadNs).toEqual({ median: 100, low: 100, high: 900 })
})

it('calibrateLibrary refuses answers of other lengths', async () => {
  await expect(calibrateLibrary(jobOf(() => quiet))).rejects.toThrow(
    refusal('ERR_MEASUREMENT', /messages 1 16: expected 80 figures from the job/),
  )
})
