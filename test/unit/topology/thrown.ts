import { RankweaveError } from '../../../src/errors.js'

/** The RankweaveError that a call throws; anything else fails the test. */
export function thrown(call: () => unknown): RankweaveError {
  let result: unknown
  try {
    result = call()
  } catch (error) {
    if (error instanceof RankweaveError) return error
    throw error
  }
  throw new Error(`expected a RankweaveError, got ${JSON.stringify(result)}`)
}
