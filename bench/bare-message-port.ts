// Half the round trip of a message between two workers by `postMessage`, without this library. Arguments: sizes in bytes.
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
else parentPort!.once('message', workerData === null ? answer : ask)

async function connect(): Promise<void> {
  const here = new URL(import.meta.url)
  const sizes = process.argv.slice(2).map(Number)
  const [asking, answering] = [
    new Worker(here, { workerData: sizes }),
    new Worker(here, { workerData: null }),
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
  port.on('message', (message) => port.postMessage(message))
}

async function ask(port: MessagePort): Promise<void> {
  let arrived: (message: Uint8Array) => void = () => {}
  port.on('message', (message: Uint8Array) => arrived(message))
  const figures: Record<string, number> = {}
  for (const sizeBytes of workerData as readonly number[]) {
    figures[sizeBytes] = await halfTripUs(sizeBytes, (out) => {
      const back = new Promise<Uint8Array>((resolve) => {
        arrived = resolve
      })
      port.postMessage(out)
      return back
    })
  }
  parentPort!.postMessage(figures)
}
