import { isRankweaveError } from '../errors.js'
import type { Communicator } from '../handles/communicator.js'

export interface AlgorithmOptions {
  readonly algorithm: string
  readonly segments?: number
}

/** The data that a call moves; they encode the slot, the ranks and the element. */
export interface AlgorithmCase {
  readonly slot: number
  readonly length: number
  readonly root: number
}

/** Throws when a result is wrong. */
export type AlgorithmCheck = (
  comm: Communicator,
  options: AlgorithmOptions,
  given: AlgorithmCase,
) => Promise<void>

/** Returns undefined when the algorithm refuses the call, which it does alike on all ranks. */
export async function unlessRefused<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call
  } catch (error) {
    if (isRankweaveError(error) && error.code === 'ERR_ALGORITHM') return undefined
    throw error
  }
}
