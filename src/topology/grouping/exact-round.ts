import { addToList } from '../../base/maps.js'
import { nodeProcess } from '../../base/node-process.js'
import { RankweaveError } from '../../errors.js'
import {
  type GroupingEngine,
  type GroupingSettings,
  ProgressMeter,
  strategyError,
} from '../friends/grouping-options.js'
import type { ActiveNeighbors, FormedGroup } from './grouping-rounds.js'

/** The most groups that the solver may choose from. */
const mostGroups = 20_000

/** The solver in this thread. It reports nothing, and nothing can end it. */
let solver: Solver | null = null
/** The solver in another thread. */
let watchedSolver: Solver | null = null

/**
 * Loads what an engine needs before it can plan: the HiGHS solver for `exact`, nothing for the others. Callers that can
 * wait do so: otherwise {@link preparedSolver} starts a thread.
 *
 * @throws ERR_STRATEGY when the optional package `highs` is not installed
 */
export async function prepareEngine(engine: GroupingEngine = 'greedy'): Promise<void> {
  if (engine !== 'exact' || solver !== null) return
  // Node reports no compilation of WebAssembly as active: without a timer, ranks that wait for it would seem
  // stuck.
  const active = setInterval(() => {}, 1_000)
  try {
    // Its types describe the CommonJS build.
    const { default: load } = (await import('highs')) as unknown as { default(): Promise<Solver> }
    solver = await load()
  } catch (cause) {
    throw withoutSolver(cause)
  } finally {
    clearInterval(active)
  }
}

/**
 * Returns the solver that was loaded before, else one in a thread, for which the caller blocks. A watched search gets
 * the thread where one can be started: only a solver in a thread can be followed and ended.
 *
 * @throws ERR_STRATEGY when the optional package `highs` is not installed
 */
export function preparedSolver(isWatched = false): Solver {
  if (solver !== null && !isWatched) return solver
  try {
    watchedSolver ??= solverInThread()
    return watchedSolver
  } catch (cause) {
    if (solver !== null) return solver
    throw withoutSolver(cause)
  }
}

function withoutSolver(cause: unknown): RankweaveError {
  const message = `engine exact: the solver of the package highs cannot be loaded: ${cause}`
  return new RankweaveError('ERR_STRATEGY', message, { cause })
}

/**
 * Finds the heaviest grouping of a round: every possible group is a variable, every rank in at most one group (integer
 * programming by HiGHS).
 *
 * @throws ERR_STRATEGY when there are more groups than the solver is given; the errors of `onProgress`
 */
export function exactRound(
  highs: Solver,
  active: ActiveNeighbors,
  settings: GroupingSettings,
  meter = new ProgressMeter(),
): readonly FormedGroup[] {
  const groups = allGroups(active, settings, meter)
  if (groups.length === 0) return []
  meter.activity = 'solving'
  const { Status, Columns } = highs.solve(programOf(groups, settings), () => meter.report())
  if (Status !== 'Optimal') throw new Error(`HiGHS: expected an optimal grouping, got ${Status}`)
  const chosen = groups.filter((_, g) => Math.round(Columns[`x${g}`].Primal ?? 0) === 1)
  meter.groups += chosen.length
  return chosen
}

/** Returns the program in CPLEX LP format, with the short lines that it demands. */
function programOf(groups: readonly FormedGroup[], { k, nodeOf }: GroupingSettings): string {
  const ofRank = new Map<number, number[]>()
  const ofNode = new Map<number, number[]>()
  const nodeOfRank = (p: number) => nodeOf?.[p] ?? 0
  for (const [g, { members }] of groups.entries()) {
    for (const p of members) addToList(ofRank, p, g)
    addToList(ofNode, nodeOfRank(members[0]), g)
  }
  const objective = groups.map(({ common }, g) => `${common.length} x${g}`).join('\n+ ')
  const atMost = (list: readonly number[], most: number) =>
    `${list.map((g) => `x${g}`).join('\n+ ')} <= ${most}`
  const rows = [...ofRank].map(([p, list]) => `r${p}: ${atMost(list, 1)}`)
  // These rows bound the whole groups on a node. The others imply them, but they spare the solver most fractional
  // groups.
  for (const [node, list] of ofNode) {
    const ranks = [...ofRank.keys()].filter((p) => nodeOfRank(p) === node).length
    rows.push(`n${node}: ${atMost(list, Math.floor(ranks / k))}`)
  }
  const names = groups.map((_, g) => `x${g}`).join('\n')
  return `Maximize\nobj: ${objective}\nSubject To\n${rows.join('\n')}\nBinary\n${names}\nEnd\n`
}

function allGroups(
  active: ActiveNeighbors,
  { k, theta, nodeOf }: GroupingSettings,
  meter: ProgressMeter,
): FormedGroup[] {
  const { start, end, rank } = active
  const groups: FormedGroup[] = []
  const members: number[] = []
  meter.activity = 'listing'
  meter.possible = 0
  const extend = (from: number, common: Int32Array): void => {
    if (members.length === k) {
      if (groups.length === mostGroups)
        throw strategyError(
          `engine exact is for small topologies: expected at most ${mostGroups} groups, got more`,
        )
      meter.possible = groups.push({ members: Int32Array.from(members), common })
      return
    }
    for (let p = from; p < end.length; p++) {
      if (end[p] - start[p] <= theta) continue
      if (nodeOf !== null && members.length > 0 && nodeOf[p] !== nodeOf[members[0]]) continue
      const own = rank.slice(start[p], end[p])
      meter.work(own.length * (1 + common.length))
      const shared = members.length === 0 ? own : common.filter((q) => own.includes(q))
      if (shared.length <= theta) continue
      members.push(p)
      extend(p + 1, shared)
      members.pop()
    }
  }
  extend(0, new Int32Array(0))
  return groups
}

/** The part of HiGHS that this package uses. */
interface Solver {
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
