import { isRankweaveError, type RankweaveError } from '../../../src/errors.js'

/** The error that a call throws. */
export function raised(call: () => unknown): RankweaveError {
  try {
    call()
  } catch (error) {
    if (isRankweaveError(error)) return error
    throw error
  }
  throw new Error('expected an error, got none')
}
