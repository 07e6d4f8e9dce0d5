// A worker thread of the pools whose users write the worker: workerpool, comlink, and plain `postMessage`.
import { parentPort, workerData } from 'node:worker_threads'
import * as tasks from './tasks.js'

const functions = tasks as unknown as Readonly<Record<string, (argument: unknown) => unknown>>
const packageOf: Readonly<Record<string, string>> = {
  workerpool: 'workerpool',
  comlink: 'comlink/dist/esm/comlink.mjs',
}

if (workerData === 'workerpool') {
  const { default: workerpool } = (await import(packageOf['workerpool'])) as {
    readonly default: { worker(methods: object): void }
  }
  workerpool.worker({ ...functions })
} else if (workerData === 'comlink') {
  const { expose } = (await import(packageOf['comlink'])) as {
    expose(object: object, endpoint: unknown): void
  }
  const adapter: string = 'comlink/dist/esm/node-adapter.mjs'
  const { default: nodeEndpoint } = (await import(adapter)) as { default(port: unknown): unknown }
  expose({ ...functions }, nodeEndpoint(parentPort))
} else {
  parentPort!.on('message', ({ id, task, argument }) =>
    parentPort!.postMessage({ id, result: functions[task](argument) }),
  )
}
