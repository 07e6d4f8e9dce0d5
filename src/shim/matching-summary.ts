import { traceLines } from '../messages/matching-queues/matching-trace.js'
import { MatchingReplay, type QueueReport } from '../messages/matching-queues/replay.js'
import type { RecordedProcess } from './recorded-matching.js'

/** The counts of a trace of a recorded process. */
export interface MatchingSummary {
  readonly operations: number
  readonly receives: number
  /** The number of messages, all with an inferred time of arrival. */
  readonly arrivals: number
  readonly posted: QueueReport
  readonly unexpected: QueueReport
  /** The number of receives that get another message in the trace than in the program: several could have matched. */
  readonly otherMatches: number
}

/** The lines of a trace, and a summary of those that have been taken. */
export interface SummarizedTrace {
  /** The lines with their ends; to be taken once. */
  readonly lines: Iterable<string>
  summary(): MatchingSummary
}

/**
 * Makes the trace of a process. Memory grows with the queues, and with the receives by the messages that they get.
 *
 * @param isBounded whether traces end before the program does, which the last line says
 */
export function summarizedTrace(
  { header, operations, partners }: RecordedProcess,
  isBounded: boolean,
): SummarizedTrace {
  const replay = new MatchingReplay({ name: 'index' }, header)
  const messageOf = new Map<number, number>()
  let [receives, arrivals] = [0, 0]
  const replayed = function* () {
    for (const operation of operations) {
      const match = replay.apply(operation)
      if (operation.kind === 'post') {
        if (match >= 0) messageOf.set(receives, match)
        receives++
      } else if (operation.kind === 'arrive') {
        if (match >= 0) messageOf.set(match, arrivals)
        arrivals++
      }
      yield operation
    }
  }
  const lines = function* () {
    for (const line of traceLines(header, replayed(), { bounded: isBounded })) yield `${line}\n`
  }
  return {
    lines: { [Symbol.iterator]: lines },
    summary: () => {
      let otherMatches = 0
      for (const [receive, message] of partners) if (messageOf.get(receive) !== message) otherMatches++
      return {
        ...{ operations: replay.operations, receives, arrivals, otherMatches },
        posted: replay.report('posted'),
        unexpected: replay.report('unexpected'),
      }
    },
  }
}
