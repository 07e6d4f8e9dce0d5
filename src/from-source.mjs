// As source, the entries of threads and processes are TypeScript, which Node leaves to a compiler's hook. Not
// part of the package.
import { isMainThread, workerData } from 'node:worker_threads'
import { register } from 'tsx/esm/api'

register({ tsconfig: false })
await import(workerData?.entry ?? (isMainThread ? './child.ts' : './worker.ts'))
