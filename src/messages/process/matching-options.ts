import { flagOption, integerOption, type OptionTable, textOption, wordOption } from '../../base/option.js'
import { RankweaveError, wrongValue } from '../../errors.js'

/** The counts and records of message matching that a world makes. */
export interface MatchingOptions {
  /**
   * Whether lengths of both queues, searches and their time are counted for every rank and communicator. Every message
   * takes the general path then, and each search reads the clock twice. Default false, which costs nothing.
   */
  readonly count?: boolean
  /**
   * A directory, made if it is missing. Every rank records its receives, arrivals, probes and cancels, and a file
   * `rank-0.jsonl` has them when the world has ended. Every message takes the general path then. Only `run` on Node has
   * it. Default: nothing is recorded, at no cost (docs/message-matching.md).
   */
  readonly trace?: string
  /**
   * Whether the messages of collectives between processes are recorded, too. They are at the lowest rank of each
   * process, with the collective and the number of its call. Default false.
   */
  readonly traceCollectives?: boolean
  /**
   * The number of first operations that a rank records, 20 bytes each; all ranks of a process at most 2^24. Default
   * 1,000,000.
   */
  readonly traceOperations?: number
  /**
   * The design of both queues of every rank: which structure a search passes. Communicators inherit it, and a `dup` may
   * choose another one. Default `index`.
   */
  readonly design?: MailboxDesign
}

export const defaultTraceOperations = 1_000_000

/** The most ranks of a world that is traced: each has a file. */
const mostTracedRanks = 65_536

/** The design of mailboxes that name none. */
export const defaultMailboxDesign: MailboxDesign = 'index'

/**
 * The designs that mailboxes may have, by name. Some designs are left out: `clusters` and `partners-static` start from
 * the counts of an earlier run. `collectives` equals `partners-dynamic` for all that a mailbox gets.
 */
export const mailboxDesigns = [
  'index',
  'list',
  'source-lists',
  'bins',
  'partners-dynamic',
  'array-list',
  'vector-list',
] as const

export const matchingOptions: OptionTable<MatchingOptions> = {
  count: flagOption(),
  trace: textOption(),
  traceCollectives: flagOption(),
  traceOperations: integerOption({ least: 1, most: 2 ** 24 }),
  design: wordOption(mailboxDesigns, { default: defaultMailboxDesign }),
}

/** @throws ERR_ARGUMENT for a trace that could not be written, or a bound without one */
export function checkTraceOptions(
  where: string,
  { trace, traceCollectives, traceOperations }: MatchingOptions,
  ranks: number,
): void {
  if (trace === '')
    throw wrongValue('ERR_ARGUMENT', `${where}: expected matching.trace, the name of a directory`, trace)
  if (trace === undefined && traceOperations !== undefined)
    throw new RankweaveError('ERR_ARGUMENT', `${where}: matching.traceOperations is for matching.trace`)
  if (trace === undefined && traceCollectives === true)
    throw new RankweaveError('ERR_ARGUMENT', `${where}: matching.traceCollectives is for matching.trace`)
  if (trace !== undefined && ranks > mostTracedRanks)
    throw wrongValue(
      'ERR_ARGUMENT',
      `${where}: expected at most ${mostTracedRanks} ranks with matching.trace`,
      ranks,
    )
}

/**
 * Refuses traces for worlds whose processes are started elsewhere, because none of them writes files.
 *
 * @throws ERR_ARGUMENT
 */
export function refuseTrace(where: string, matching: MatchingOptions | undefined): void {
  const { trace, traceCollectives, traceOperations } = matching ?? {}
  if (trace === undefined && traceCollectives === undefined && traceOperations === undefined) return
  const expected = `${where}: expected matching without trace, traceCollectives and traceOperations, which only run on Node has`
  throw wrongValue('ERR_ARGUMENT', expected, matching)
}
export type MailboxDesign = (typeof mailboxDesigns)[number]
