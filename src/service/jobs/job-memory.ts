import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { RankweaveError } from '../../errors.js'

const megabyte = 2 ** 20

/** The bytes of a rank: neighbors in both directions, places, and notes of planning. */
const rankBytes = 256
/**
 * The bytes of an edge: in both directions, its send and its receive in the schedule of direct sends, with which every
 * plan is compared, and their proof.
 */
const edgeBytes = 256

/** Returns the least bytes of arrays that planning takes, whatever the strategy: 256 per rank and 256 per edge. */
export function planningBytes(ranks: number, edges: number): number {
  return rankBytes * ranks + edgeBytes * edges
}

/**
 * Refuses a topology that cannot be planned within the bound, before anything is planned.
 *
 * @throws ERR_LIMIT
 */
export function requirePlannable(ranks: number, edges: number, arraysMb: number): void {
  const needed = Math.ceil(planningBytes(ranks, edges) / megabyte)
  if (needed > arraysMb)
    throw new RankweaveError(
      'ERR_LIMIT',
      `planning ${edges} edges of ${ranks} ranks takes about ${needed} MB of arrays: expected at most ${arraysMb} (jobArraysMb)`,
    )
}

/**
 * Returns the bytes of each list that grows while a strategy plans. Some 14 of them grow together with the moves of a
 * strategy (the columns of its moves, operations and entries). Each is copied once while it grows and once into the
 * schedule.
 */
export function mostListBytes(arraysMb: number): number {
  return (arraysMb * megabyte) / 32
}

/**
 * Bounds the memory of this thread's arrays; V8 bounds its heap only. Unused arrays, of an earlier job perhaps, do not
 * count: they are collected before a job is refused.
 *
 * @param usedBytes bytes of arrays that are in use or not collected yet
 * @throws ERR_LIMIT
 */
export function requireMemory(
  arraysMb: number,
  usedBytes = () => process.memoryUsage().arrayBuffers,
  collect = collectGarbage,
): void {
  const most = arraysMb * megabyte
  if (usedBytes() <= most) return
  collect()
  if (usedBytes() > most)
    throw new RankweaveError('ERR_LIMIT', `the job needs more than ${arraysMb} MB for arrays (jobArraysMb)`)
}

let gc: (() => void) | undefined

/** Collects twice: arrays of the first time are swept concurrently with the program, and the second waits for that. */
function collectGarbage(): void {
  if (gc === undefined) {
    setFlagsFromString('--expose-gc')
    gc = runInNewContext('gc') as () => void
  }
  gc()
  gc()
}
