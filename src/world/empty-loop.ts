import { clearInterval, setImmediate, setInterval } from 'node:timers'
import { RankweaveError } from '../errors.js'
import { resumeKeepAlives, suspendKeepAlives } from '../fabric/own-handles.js'
import { countOf, rangesText, union } from './rank-ranges.js'
import type { RunningWorld, WorldOptions } from './world.js'

/**
 * ERR_DEADLOCK for ranks that run although the event loop of their process has become empty: no rank here
 * waits for a message, and nothing else that could wake them is left.
 */
function emptyLoop(world: RunningWorld): RankweaveError {
  const ranks = union(world.states().map((state) => state.running))
  const message = `${rangesText(ranks)} cannot continue: nothing is left in this process to wake them, no message, no timer, no file, no socket`
  return new RankweaveError('ERR_DEADLOCK', message, { details: { blocked: countOf(ranks) } })
}

/**
 * Hosts a part of a world whose other processes are elsewhere: it ends with ERR_DEADLOCK when the event loop
 * of this process is empty although a rank here runs.
 *
 * @param host with options that let the event loop be empty
 */
export async function hostUntilEmpty<T, A>(
  world: WorldOptions<A>,
  host: (world: WorldOptions<A>) => Promise<T[]>,
): Promise<T[]> {
  let running: RunningWorld | undefined
  const onEmpty = () => {
    if (running !== undefined) running.fail(emptyLoop(running))
  }
  process.on('beforeExit', onEmpty)
  try {
    return await host({
      ...world,
      mayRunEmpty: true,
      onStart: (started) => {
        running = started
        world.onStart?.(started)
      },
    })
  } finally {
    process.off('beforeExit', onEmpty)
  }
}

const probeMs = 250
/**
 * This many probes in a row (3 s) find the same state before the event loop is tried: timers of signals do
 * not keep it alive.
 */
const probesInDoubt = 12

interface Watched {
  readonly world: RunningWorld
  /** Its activity at the last probe, and how many probes found the same. */
  before: string
  same: number
}

/** The worlds of this thread whose processes are all hosted here, the last started last. */
const watched: Watched[] = []
let timer: NodeJS.Timeout | undefined

/**
 * Ends a world with ERR_DEADLOCK when a rank awaits something other than the library and nothing is left that
 * could settle it, also while other ranks wait for it: their waits are then not counted as what keeps the
 * event loop alive. For worlds whose processes are all hosted here, since a frame from elsewhere could wake a
 * rank.
 *
 * @returns stops watching
 */
export function watchEmptyLoop(world: RunningWorld): () => void {
  const own: Watched = { world, before: '', same: 0 }
  if (watched.push(own) === 1) {
    process.on('beforeExit', onEmpty)
    timer = setInterval(probe, probeMs)
    timer.unref()
  }
  return () => {
    watched.splice(watched.indexOf(own), 1)
    if (watched.length > 0) return
    process.off('beforeExit', onEmpty)
    clearInterval(timer)
    resumeKeepAlives()
  }
}

function probe(): void {
  resumeKeepAlives()
  let certain = true
  let suspect = false
  for (const own of watched) {
    const { awake, waits, withSignal, changes } = own.world.activity()
    const now = `${awake} ${waits} ${withSignal} ${changes}`
    own.same = now === own.before ? own.same + 1 : 0
    own.before = now
    if (own.same < probesInDoubt || withSignal > 0) certain = false
    if (awake > 0 && waits > 0) suspect = true
  }
  // In the last phase of this turn, so that nothing runs before Node sees whether the event loop is empty.
  if (certain && suspect) setImmediate(suspendKeepAlives)
}

/** The last started one first: others may wait for it. */
function onEmpty(): void {
  resumeKeepAlives()
  const stuck = watched.findLast(({ world }) => world.activity().awake > 0)
  stuck?.world.fail(emptyLoop(stuck.world))
}
