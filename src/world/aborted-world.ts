import { isRankweaveError, RankweaveError, reasonText } from '../errors.js'

// This file stays apart from the report of a world, which takes the command longer to load than it needs to fail.

export function abortedWorld(reason: unknown): RankweaveError {
  const message = `the world was aborted: ${reasonText(reason)}`
  return new RankweaveError('ERR_ABORTED', message, { details: { aborted: 'world' }, cause: reason })
}

/** Tells whether an error is that of a world ended through its signal, here or elsewhere; its reason is the cause. */
export function isAbortedWorld(error: unknown): error is RankweaveError {
  return isRankweaveError(error, 'ERR_ABORTED') && error.details['aborted'] === 'world'
}
