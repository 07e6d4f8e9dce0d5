import { RankweaveError } from '../../errors.js'
import { countOf, rangesText, union } from './rank-ranges.js'
import type { RunningWorld } from './world.js'

/**
 * ERR_DEADLOCK for ranks that run although the event loop of their process has become empty: no rank here waits for a
 * message, and nothing else that could wake them is left.
 */
export function emptyLoop(world: RunningWorld): RankweaveError {
  const ranks = union(world.states().map((state) => state.running))
  return new RankweaveError(
    'ERR_DEADLOCK',
    `${rangesText(ranks)} cannot continue: nothing is left in this process to wake them, no message, no timer, no file, no socket`,
    { details: { blocked: countOf(ranks) } },
  )
}
