import { clearInterval, setImmediate, setInterval } from 'node:timers'
import { holdListener } from '../base/held-listener.js'
import { RankweaveError } from '../errors.js'
import { resumeKeepAlives, suspendKeepAlives } from '../fabric/own-handles.js'
import { countOf, rangesText, union } from './diagnosis.js'
import type { RunningWorld, WorldOptions } from './world.js'

/**
 * Returns ERR_DEADLOCK for ranks that run although the event loop of their process has become empty. No rank here waits
 * for a message, and nothing else is left that could wake them.
 */
function emptyLoop(world: RunningWorld): RankweaveError {
  const ranks = union(world.states().map((state) => state.running))
  const blocked = countOf(ranks)
  const message = `${rangesText(ranks)} cannot continue: nothing is left in this process to wake ${blocked === 1 ? 'it' : 'them'}, no message, no timer, no file, no socket`
  return new RankweaveError('ERR_DEADLOCK', message, { details: { blocked } })
}

/**
 * Hosts a part of a world whose other processes are elsewhere. The part ends with ERR_DEADLOCK if the event loop of
 * this process is empty although a rank here runs.
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
  const release = holdListener('beforeExit', onEmpty)
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
    release()
  }
}

const probeMs = 250
/**
 * The number of probes in a row (3 s) that must find the same state before the event loop is tested. Timers of signals
 * do not keep it alive.
 */
const probesInDoubt = 12

interface Watched {
  readonly world: RunningWorld
  /** The activity at the last probe; `same` counts the probes that found it unchanged. */
  before: string
  same: number
}

/** The worlds of this thread whose processes are all hosted here, the last started last. */
const watched: Watched[] = []
let timer: NodeJS.Timeout | undefined
let stopListening: (() => void) | undefined

/**
 * Ends a world with ERR_DEADLOCK when a rank awaits something other than the library and nothing is left that could
 * settle it. Other ranks may wait for that rank; their waits then do not count as what keeps the event loop alive.
 * Serves worlds whose processes are all hosted here, since a frame from elsewhere could wake a rank.
 *
 * @returns a function that stops watching
 */
export function watchEmptyLoop(world: RunningWorld): () => void {
  const own: Watched = { world, before: '', same: 0 }
  if (watched.push(own) === 1) {
    stopListening = holdListener('beforeExit', onEmpty)
    timer = setInterval(probe, probeMs)
    timer.unref()
  }
  return () => {
    watched.splice(watched.indexOf(own), 1)
    if (watched.length > 0) return
    stopListening?.()
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
  // This runs in the last phase of the turn, so that nothing runs before Node sees whether the event loop is empty.
  if (certain && suspect) setImmediate(suspendKeepAlives)
}

/** Fails the world that was started last, because others may wait for it. */
function onEmpty(): void {
  resumeKeepAlives()
  const stuck = watched.findLast(({ world }) => world.activity().awake > 0)
  stuck?.world.fail(emptyLoop(stuck.world))
}
