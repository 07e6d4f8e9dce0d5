// Times programs on threads that share memory and wait with `Atomics`, without any package. Arguments: threads, programs.
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { type Team, timedLoops } from './program.js'
import { programs } from './whole-programs.js'

/** What a thread is started with. */
interface Member {
  readonly rank: number
  readonly size: number
  readonly names: readonly string[]
  readonly memory: SharedArrayBuffer
}

/** Memory for the arrays of all programs, and before them the counters of the barrier. */
const memoryBytes = 2 ** 28
const firstByte = 64

if (isMainThread) await startMembers()
else parentPort!.postMessage(await timesOf(workerData as Member))

async function startMembers(): Promise<void> {
  const [size, ...names] = process.argv.slice(2)
  const memory = new SharedArrayBuffer(memoryBytes)
  const workers = Array.from({ length: Number(size) }, (_, rank) => {
    const member: Member = { rank, size: Number(size), names, memory }
    return new Worker(new URL(import.meta.url), { workerData: member })
  })
  const figures = await Promise.all(
    workers.map(
      (worker) =>
        new Promise((resolve, reject) => {
          worker.once('message', resolve)
          worker.once('error', reject)
        }),
    ),
  )
  process.stdout.write(`${JSON.stringify(figures[0])}\n`)
}

async function timesOf({ rank, size, names, memory }: Member) {
  const figures: Record<string, number> = {}
  const [arrived, round] = [0, 1]
  const state = new Int32Array(memory, 0, 2)
  const barrier = () => {
    const now = Atomics.load(state, round)
    if (Atomics.add(state, arrived, 1) < size - 1) {
      Atomics.wait(state, round, now)
      return
    }
    Atomics.store(state, arrived, 0)
    Atomics.add(state, round, 1)
    Atomics.notify(state, round)
  }
  for (const name of names) {
    let used = firstByte
    const shared = (count: number) => {
      used += 8 * count
      return new Float64Array(memory, used - 8 * count, count)
    }
    const team: Team = { rank, size, barrier, shared }
    const compute = programs[name].onTeam!(team)
    figures[name] = await timedLoops(programs[name], () => {
      barrier() // Every thread has finished the loop before, and its check.
      return compute()
    })
    barrier()
  }
  return figures
}
