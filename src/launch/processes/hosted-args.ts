import { workerData } from 'node:worker_threads'
import type { ProcessData } from './process-protocol.js'

let ofProcess: { readonly args: unknown } | undefined

/** Called in a process of the operating system before it loads the program. */
export function setHostedArgs(args: unknown): void {
  ofProcess = { args }
}

/**
 * The arguments of the world whose process this thread or process hosts: for a program that needs them while
 * it loads.
 */
export function hostedArgs(): unknown {
  return ofProcess === undefined ? (workerData as ProcessData).world.args : ofProcess.args
}
