import { nodeProcess } from '../../base/node-process.js'

/** The part of HiGHS that this package uses. */
export interface Solver {
  /**
   * @param program in CPLEX LP format
   * @param onWait called about ten times a second while a thread solves; if it throws, the solver ends and the error is
   *   thrown
   */
  solve(program: string, onWait?: () => void): Solution
}

interface Solution {
  readonly Status: string
  readonly Columns: Readonly<Record<string, { readonly Primal?: number }>>
}

/** The used part of `node:worker_threads`; a page has neither the module nor its types. */
interface NodeThreads {
  readonly MessageChannel: new () => { readonly port1: Port; readonly port2: Port }
  readonly Worker: new (program: string, options: object) => Thread
  receiveMessageOnPort(port: Port): { readonly message: unknown } | undefined
}

interface Thread {
  unref(): void
  terminate(): Promise<unknown>
}

interface Port {
  postMessage(value: unknown): void
}

/** The used part of `node:module`. */
interface NodeModules {
  createRequire(from: string): { resolve(name: string): string }
}

/** The program of the thread that solves. The thread may run out of memory and die. */
const solvingProgram = `
const { parentPort, workerData: path } = require('node:worker_threads')
let loading
parentPort.on('message', async (program) => {
  try {
    loading ??= require(path)()
    parentPort.postMessage({ solution: (await loading).solve(program) })
  } catch (error) {
    parentPort.postMessage({ reason: String(error) })
  }
})
`

/**
 * The program of the thread that answers. It starts the solving thread and only passes messages on, so it survives when
 * that dies. Every program gets an answer, even if the package cannot be loaded. The answer is there before the number
 * changes.
 */
const answeringProgram = `
const { Worker, workerData } = require('node:worker_threads')
const { path, port, answers } = workerData
let solving = null
let isAsked = false
const answer = (message) => {
  if (!isAsked) return
  isAsked = false
  port.postMessage(message)
  Atomics.add(answers, 0, 1)
  Atomics.notify(answers, 0)
}
port.on('message', (program) => {
  isAsked = true
  if (solving === null) {
    let reason = 'its thread ended'
    solving = new Worker(${JSON.stringify(solvingProgram)}, { eval: true, execArgv: [], workerData: path })
    solving.on('message', answer)
    solving.on('error', (error) => { reason = String(error) })
    solving.on('exit', () => {
      solving = null
      answer({ reason })
    })
  }
  solving.postMessage(program)
})
`

const waitMs = 100

/**
 * Makes a solver by HiGHS in a thread, for callers that cannot wait until it is loaded, or want to follow it or end it.
 * `solve` blocks, and throws when the thread dies or is ended; the next program gets a new one. The thread does not
 * keep the process alive.
 *
 * @throws an error without a code if the package or the modules for threads are missing: in a page, and in Node before
 *   20.16
 */
export function solverInThread(): Solver {
  const load = nodeProcess?.getBuiltinModule
  if (load === undefined) throw new Error('a thread needs Node from 20.16 on')
  const threads = load('node:worker_threads') as NodeThreads
  const modules = load('node:module') as NodeModules
  const { MessageChannel, receiveMessageOnPort, Worker } = threads
  const path = modules.createRequire(import.meta.url).resolve('highs')
  const start = () => {
    const { port1: port, port2: theirs } = new MessageChannel()
    const answers = new Int32Array(new SharedArrayBuffer(4))
    const workerData = { path, port: theirs, answers }
    const options = { eval: true, execArgv: [], workerData, transferList: [theirs] }
    const thread = new Worker(answeringProgram, options)
    thread.unref()
    return { thread, port, answers }
  }
  let started: ReturnType<typeof start> | null = start()
  return {
    solve: (program, onWait) => {
      started ??= start()
      const { thread, port, answers } = started
      const before = Atomics.load(answers, 0)
      port.postMessage(program)
      try {
        while (Atomics.wait(answers, 0, before, onWait && waitMs) === 'timed-out') onWait?.()
      } catch (error) {
        // An answer that comes later has no reader: the channel ends with its thread.
        started = null
        void thread.terminate()
        throw error
      }
      const { message } = receiveMessageOnPort(port)!
      const { solution, reason } = message as { readonly solution?: Solution; readonly reason?: string }
      if (solution === undefined) throw new Error(`HiGHS: ${reason}`)
      return solution
    },
  }
}
