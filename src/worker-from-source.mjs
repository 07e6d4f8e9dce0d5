// As source, the entry of a thread is TypeScript, which Node leaves to a compiler's hook. Not part of the
// package.
import { workerData } from 'node:worker_threads'
import { register } from 'tsx/esm/api'

register({ tsconfig: false })
await import(workerData?.entry ?? './worker.ts')
