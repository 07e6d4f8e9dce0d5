import { seededRandom } from '../base/random.js'
import { type ErrorCode, isRankweaveError } from '../errors.js'
import { same } from './collective-oracles.js'

export { same }

/** @throws unless the promise rejects with one of the codes */
export async function refused(
  promise: Promise<unknown>,
  what: string,
  ...codes: ErrorCode[]
): Promise<ErrorCode> {
  try {
    await promise
  } catch (error) {
    if (isRankweaveError(error, ...codes)) return error.code
    throw new Error(`${what}: expected ${codes.join(' or ')}, got ${String(error)}`, { cause: error })
  }
  throw new Error(`${what}: expected ${codes.join(' or ')}, but it was accepted`)
}

/** Draws an integer below a bound; the same on all ranks for the same words. */
export type Draw = (below: number) => number

export function drawn(...words: readonly number[]): Draw {
  let seed = 0
  for (const word of words) seed = (Math.imul(seed ^ word, 0x9e3779b1) + 0x7f4a7c15) | 0
  const random = seededRandom(seed)
  return (below) => Math.floor(random() * below)
}

export function shuffled<T>(items: T[], draw: Draw): T[] {
  for (let i = items.length - 1; i > 0; i--) {
    const j = draw(i + 1)
    const held = items[i]!
    items[i] = items[j]!
    items[j] = held
  }
  return items
}
