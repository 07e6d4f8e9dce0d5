import type { CallError } from '../../client/protocol/world-events.js'
import { isRankweaveError, RankweaveError, reasonText } from '../../errors.js'

/**
 * An error as it travels. One that is none of ours is contained: its text may name what is not for clients.
 */
export function toCallError(error: unknown): CallError {
  if (!isRankweaveError(error)) {
    return { code: 'ERR_PROTOCOL', message: 'the message could not be handled: see the log', details: {} }
  }
  const { code, message, details } = error
  return { code, message, details: { ...details } }
}

/** What ended a world, for those who were in it. */
export function endedError(error: unknown): RankweaveError {
  if (isRankweaveError(error)) return error
  return new RankweaveError('ERR_WORLD_ENDED', `the world has ended: ${reasonText(error)}`, { cause: error })
}
