import { flagOption, type OptionTable } from '../../base/option.js'

/** What a world counts and records of its message matching. */
export interface MatchingOptions {
  /**
   * True: lengths of both queues, searches and their time are counted for every rank and communicator. Every message
   * takes the general path then, and each search reads the clock twice. Default false: nothing is paid.
   */
  readonly count?: boolean
}

export const matchingOptions: OptionTable<MatchingOptions> = { count: flagOption() }
