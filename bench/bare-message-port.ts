// Half the round trip of a message between two workers by `postMessage`, without this library. Arguments:
// how many messages are answered by one, then sizes in bytes.
import {
  isMainThread,
  MessageChannel,
  type MessagePort,
  parentPort,
  Worker,
  workerData,
} from 'node:worker_threads'
import { halfTripUs } from './programs/round-trips.js'

if (isMainThread) await connect()
else parentPort!.once('message', (workerData as Side).sizes === undefined ? answer : ask)

/** What a worker is started with; the one that answers has no sizes. */
interface Side {
  readonly window: number
  readonly sizes?: readonly number[]
}

async function connect(): Promise<void> {
  const here = new URL(import.meta.url)
  const [window, ...sizes] = process.argv.slice(2).map(Number)
  const [asking, answering] = [
    new Worker(here, { workerData: { window, sizes } }),
    new Worker(here, { workerData: { window } }),
  ]
  const { port1, port2 } = new MessageChannel()
  asking.postMessage(port1, [port1])
  answering.postMessage(port2, [port2])
  const figures = await new Promise((resolve, reject) => {
    asking.once('message', resolve)
    for (const worker of [asking, answering]) worker.once('error', reject)
  })
  process.stdout.write(`${JSON.stringify(figures)}\n`)
  await Promise.all([asking.terminate(), answering.terminate()])
}

function answer(port: MessagePort): void {
  const { window } = workerData as Side
  let messages = 0
  port.on('message', (message) => {
    if (++messages % window === 0) port.postMessage(message)
  })
}

async function ask(port: MessagePort): Promise<void> {
  let arrived: (message: Uint8Array) => void = () => {}
  port.on('message', (message: Uint8Array) => arrived(message))
  const figures: Record<string, number> = {}
  const { window, sizes } = workerData as Side
  for (const sizeBytes of sizes!) {
    figures[sizeBytes] = await halfTripUs(sizeBytes, (out) => {
      const back = new Promise<Uint8Array>((resolve) => {
        arrived = resolve
      })
      for (let i = 0; i < window; i++) port.postMessage(out)
      return back
    })
  }
  parentPort!.postMessage(figures)
}
