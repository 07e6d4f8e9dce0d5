import { laterTurn } from '../base/turn.js'
import type { Authority } from './authority.js'

/**
 * An authority whose decisions arrive after the losses that they tell of: a fabric reports a loss in a task
 * of its own, once what the lost process had sent is read, so a decision made after the loss may be here
 * before.
 *
 * @param areReported whether the sink has been told of every loss that this process has heard of
 */
export function afterLosses(authority: Authority, areReported: () => boolean): Authority {
  return {
    isHere: authority.isHere,
    decide: async (key, members, contribution) => {
      const decision = await authority.decide(key, members, contribution)
      while (!areReported()) await laterTurn()
      return decision
    },
  }
}
