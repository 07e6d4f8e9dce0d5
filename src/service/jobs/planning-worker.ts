// This module is the entry of a worker thread of the service, which does one task after another, as the pool asks.
import { parentPort, workerData } from 'node:worker_threads'
import { boundGrowingArrays } from '../../base/growing-array.js'
import { RankweaveError } from '../../errors.js'
import { lowerTopologyLimits } from '../../topology/limits.js'
import { storeError } from '../store/storing.js'
import type { TaskKind, TaskProgress, WorkerSettings } from './task.js'
import { mostListBytes, work } from './tasks.js'
import type { FromWorker, ToWorker } from './worker-pool.js'

const settings = (workerData as { readonly settings: WorkerSettings }).settings
const port = parentPort!
/** The milliseconds between reports of progress, which is for people. */
const reportMs = 100
/** The most bytes of heap, garbage included, and of arrays that a thread may keep while it idles. */
const mostKeptBytes = 2 ** 27

lowerTopologyLimits(settings)
boundGrowingArrays(mostListBytes(settings.arraysMb), 'jobArraysMb')

port.on('message', (message: ToWorker) => void run(message.kind, message.input))

async function run(kind: TaskKind, input: never): Promise<void> {
  let saidMs = 0
  let step = ''
  const report = (progress: TaskProgress) => {
    const nowMs = performance.now()
    if (progress.step === step && nowMs - saidMs < reportMs) return
    saidMs = nowMs
    step = progress.step
    say({ progress })
  }
  try {
    const output = await work[kind](input, settings, report)
    say({ output, isGrown: isGrown() })
  } catch (cause) {
    // The disk may be full.
    const error = storeError(cause)
    const refused = error instanceof RankweaveError
    say(
      refused
        ? { error: error.toRecord(), isGrown: isGrown() }
        : { defect: error instanceof Error ? (error.stack ?? error.message) : String(error) },
    )
  }
}

function isGrown(): boolean {
  const { heapTotal, external } = process.memoryUsage()
  return heapTotal + external > mostKeptBytes
}

function say(message: FromWorker): void {
  port.postMessage(message)
}
